/** A webhook, signed according to Standard Webhooks 1.0 (https://www.standardwebhooks.com). */

import { createHmac } from 'node:crypto'
import type { Notice, NoticeReceiver } from '../operator-ports.ts'
import type { Clock } from '../ports.ts'
import { describeConnectionError, parseHttpAddress } from './bounded-calls.ts'

/** The address that receives notices, and the key that signs them. */
export type Webhook = { readonly url: string; readonly key: Uint8Array }

const TIMEOUT_MS = 15_000

/**
 * Opens the webhook. A notice counts as delivered only if the response has a status of 2xx; the rest of the response is
 * not read.
 */
export function openWebhook({ url, key }: Webhook, { now }: Pick<Clock, 'now'>): NoticeReceiver {
  const address = parseHttpAddress(url)
  return {
    host: address.host,
    async send({ id, type, at, data }, signal) {
      const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data } satisfies WebhookBody)
      const seconds = Math.floor(now() / 1000)
      const headers = {
        ...address.headers,
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': computeSignature(key, id, seconds, body),
      }
      try {
        const response = await fetch(address.url, {
          method: 'POST',
          headers,
          body,
          redirect: 'manual',
          signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        })
        void response.body?.cancel().catch(() => {})
        return response.ok ? null : `it returned status ${response.status}`
      } catch (error) {
        return describeConnectionError(error) ?? 'it did not respond in time'
      }
    },
  }
}

/** The body of a notice. */
export type WebhookBody = Pick<Notice, 'type' | 'data'> & { readonly timestamp: string }

/** The header `webhook-signature`: HMAC-SHA256 of id, time and body. */
export function computeSignature(key: Uint8Array, id: string, seconds: number, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
}

/** A wall's typed client: Eden takes the types of bodies and queries from the routes themselves. */

import { treaty } from '@elysiajs/eden'
import type { App } from '../../../server/app.ts'

type Input = string | URL | Request

const toUrl = (input: Input) => (typeof input === 'string' ? input : 'url' in input ? input.url : input.href)

type Send = (address: string, init?: RequestInit) => Promise<Response>

/** The client of a wall at an address; `send` replaces `fetch`. */
export const createClient = ({ url }: { readonly url: string }, send: Send = fetch) =>
  treaty<App>(url, {
    parseDate: false,
    fetcher: Object.assign((input: Input, init?: RequestInit) => send(toUrl(input), init), {
      preconnect: fetch.preconnect,
    }),
  })

/** Eden's form of a response. */
type Answer<Body> = { readonly data: Body | null; readonly status: number; readonly response: Response }

/** The body of a response with status 200; throws for any other response. */
export async function readBody<Body>(asking: Promise<Answer<Body>>): Promise<Body> {
  const { data, status, response } = await asking
  if (data === null || status !== 200) throw new Error(`${response.url} answered ${status}`)
  return data
}

/** The health of a wall. */
export const fetchHealth = (wall: { readonly url: string }) => readBody(createClient(wall).api.health.get())

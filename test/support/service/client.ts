/** A wall's typed client: Eden takes the types of bodies and queries from the routes themselves. */

import { treaty } from '@elysiajs/eden'
import type { App } from '../../../server/app.ts'

type Input = string | URL | Request

const addressOf = (input: Input) => (typeof input === 'string' ? input : 'url' in input ? input.url : input.href)

type Send = (address: string, init?: RequestInit) => Promise<Response>

/** The client of a wall at an address; `send` stands in for `fetch`. */
export const clientOf = ({ url }: { readonly url: string }, send: Send = fetch) =>
  treaty<App>(url, {
    parseDate: false,
    fetcher: Object.assign((input: Input, init?: RequestInit) => send(addressOf(input), init), {
      preconnect: fetch.preconnect,
    }),
  })

/** What Eden makes of an answer. */
type Answer<Body> = { readonly data: Body | null; readonly status: number; readonly response: Response }

/** The body of a 200; anything else fails the test that asked. */
export async function bodyOf<Body>(asking: Promise<Answer<Body>>): Promise<Body> {
  const { data, status, response } = await asking
  if (data === null || status !== 200) throw new Error(`${response.url} answered ${status}`)
  return data
}

/** What a wall says of its health. */
export const healthOf = (wall: { readonly url: string }) => bodyOf(clientOf(wall).api.health.get())

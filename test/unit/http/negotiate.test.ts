import { expect, test } from 'bun:test'
import { prefersHtml } from '../../../server/http/request/negotiate.ts'

const accepts: ReadonlyArray<readonly [accept: string | null, html: boolean]> = [
  [null, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['application/json, text/html', false],
  ['text/html, */*', false],
  ['application/json;q=0.9, text/html;q=0.1', false],
  ['text/html;q=0', false],
  ['text/html;q=nonsense, */*;q=0.1', false],
  ['text/html', true],
  ['TEXT/HTML', true],
  ['text/*', true],
  ['text/html;charset=utf-8;q=0.5, application/json;q=0.4', true],
  ['text/html, application/json;q=0.9', true],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
]

test.each(accepts)('for the Accept header %p, prefersHtml returns %p', (accept, html) => {
  expect(prefersHtml(accept)).toBe(html)
})

/** An unobtrusive form with which a visitor reports an artwork to the operator. */

import type { ReportBody, ReportReason } from '../../../shared/contract/report.ts'
import type { ErrorBody } from '../../../shared/contract/service.ts'
import { type BlockIndex, formatCoord } from '../../../shared/wall.ts'
import { createButton, createElement } from '../dom.ts'

const REASONS: Readonly<Record<ReportReason, string>> = {
  illegal: 'Illegal content',
  sexual: 'Sexual content',
  hate: 'Hate',
  violence: 'Violence',
  scam: 'Scam or deceptive link',
  copyright: 'Copyright or trademark',
  privacy: 'Private information',
  other: 'Something else',
}

// The same value as in the contract. It is repeated, because an import would load the service's schemas into the page.
const NOTE_MAX = 200

/** A button that turns into a form for reporting the artwork that a block is part of. */
export function createReportForm(block: BlockIndex): HTMLElement {
  const place = createElement(
    'div.acts',
    createButton('', ['Report this artwork'], () => {
      const form = createForm(block)
      place.replaceWith(form)
      form.querySelector('select')?.focus()
      form.scrollIntoView({ block: 'nearest' })
    }),
  )
  return place
}

function createForm(block: BlockIndex): HTMLFormElement {
  const reason = createElement(
    'select',
    ...Object.entries(REASONS).map(([value, text]) => Object.assign(createElement('option', text), { value })),
  )
  reason.ariaLabel = 'Reason'
  const note = Object.assign(createElement('input'), { type: 'text', maxLength: NOTE_MAX, placeholder: 'One sentence' })
  note.ariaLabel = 'What is wrong, in a sentence (optional)'
  const status = createElement('p.facts')
  status.role = 'status'
  const form = createElement(
    'form.report',
    reason,
    note,
    createButton('', ['Send report'], () => form.requestSubmit()),
    status,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const body = { block: formatCoord(block), reason: reason.value as ReportReason, ...trimNote(note.value) }
    status.textContent = 'Sending…'
    void sendReport(body).then((trouble) => {
      if (trouble === undefined) form.replaceChildren(status)
      status.textContent = trouble ?? 'Thank you. Only the operator sees your report and decides on it.'
    })
  })
  return form
}

const trimNote = (note: string) => (note.trim() === '' ? {} : { note: note.trim() })

/** Sends a report; returns why it was not accepted, or `undefined` if it was. */
async function sendReport(report: ReportBody): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch('/api/reports', { method: 'POST', headers, body: JSON.stringify(report) })
    if (response.ok) return undefined
    const { message }: ErrorBody = await response.json()
    return message
  } catch {
    return 'Your report may not have arrived. Check your connection, then send it again.'
  }
}

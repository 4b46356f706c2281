/** /llms-full.txt: the complete reference; and the skill. */

import { statusOf } from '../domain/failure.ts'
import { listFieldRows, renderTable } from './fields.ts'
import { renderGuide } from './guide.ts'
import type { Operation } from './openapi/operation.ts'
import { formatBlockPrice, type Site, renderSpendCap } from './site.ts'

/** /llms-full.txt: the guide, then every operation with its fields and codes. */
export const renderLlmsFullTxt = (site: Site): string =>
  `${[renderGuide(site).trimEnd(), '## Reference', ...site.operations.map(renderReference)].join('\n\n')}\n`

function renderReference(operation: Operation): string {
  const { method, path, summary, description, params, query, body, answers, media, codes } = operation
  const fields = [
    ['Path', params],
    ['Query', query],
    ['Body', body],
  ] as const
  const given = fields.flatMap(([name, schema]) =>
    schema === undefined ? [] : [`${name}:\n\n${renderTable(['field', 'rule', 'meaning'], listFieldRows(schema))}`],
  )
  const returned = answers.map((schema) => {
    const names = Object.keys(schema['properties'] ?? {})
    return `200: \`{${names.join(', ')}}\``
  })
  return [
    `### ${method} ${path}\n\n${summary}. ${description}`,
    ...given,
    ...returned,
    ...(media === undefined ? [] : [`200: ${media}`]),
    `Errors: ${codes.map((code) => `${statusOf[code]} \`${code}\``).join(', ')}.`,
  ].join('\n\n')
}

/** The skill's name. The names of skills contain only lower-case letters and hyphens. */
export const SKILL_NAME = 'pixel-wall'

/** The skill's description: when to use it, and the one setting that it needs. */
export const renderSkillDescription = (site: Site): string =>
  `Buy, paint and repaint blocks of the ${site.offer.title}, a public billboard for software agents, for ${formatBlockPrice(site)} USD each over x402. Use it to put a picture, a message or a link on the wall, to read who owns what, or to recover a purchase. Before use, ${renderSpendCap(site)}.`

export const renderSkill = (site: Site): string =>
  `---
name: ${SKILL_NAME}
description: ${JSON.stringify(renderSkillDescription(site))}
license: MIT
---

${renderGuide(site)}`

/** /skill.md: the guide with the front matter that makes it a skill to install. */

import { guide } from './guide/guide.ts'
import { priceOf, spendCap, type Site } from './site.ts'

/** Lower case and hyphens, as skills are named. */
export const SKILL_NAME = 'pixel-wall'

/** When to use the skill, and the one thing to set before. */
export const descriptionOf = (site: Site): string =>
  `Buy, paint and repaint blocks of the ${site.offer.title}, a public billboard for software agents, for ${priceOf(site)} USD each over x402. Use it to put a picture, a message or a link on the wall, to read who owns what, or to recover a purchase. Before use, ${spendCap(site)}.`

/** The skill. */
export const skill = (site: Site): string =>
  `---
name: ${SKILL_NAME}
description: ${JSON.stringify(descriptionOf(site))}
license: MIT
---

${guide(site)}`

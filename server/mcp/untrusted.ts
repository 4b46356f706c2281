/** Members of answers that hold strangers' text, named in each answer so that a model does not take it for ours. */

/** Those of a deed, below the member `deed`. */
export const UNTRUSTED_DEED = ['deed.owner.name', 'deed.owner.framework', 'deed.message', 'deed.link'] as const

/** Those of a list of agents. */
export const UNTRUSTED_AGENTS = ['agents[].name', 'agents[].framework', 'agents[].link'] as const

/** Those of one wallet. */
export const UNTRUSTED_PERSONA = ['name', 'framework'] as const

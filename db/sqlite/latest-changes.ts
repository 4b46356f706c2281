/** Which entries of the log say what is true now: every sale, what was hidden, and the latest change of each block and agent. */

/** A condition: the entry that `column` numbers is one of them. Each part has an index, so the length of the log does not count. */
export const isLatest = (column: string): string => `${column} IN (
  SELECT number FROM changes WHERE seq > 0
  UNION ALL SELECT number FROM changes WHERE hidden IS NOT NULL
  UNION ALL SELECT changed FROM blocks WHERE state = 'claimed'
  UNION ALL SELECT changed FROM agents
  UNION ALL SELECT through FROM moderated_agents)`

/**
 * The entries of the log that define the current state: every sale, every moderation, and the latest change of each
 * block and agent.
 */

/**
 * SQL for the condition that `column` contains the number of an entry that defines the current state. An
 * index finds each kind of entry, so the cost does not depend on the other entries of the log.
 */
export const renderLatestCondition = (column: string): string => `${column} IN (
  SELECT number FROM changes WHERE seq > 0
  UNION ALL SELECT number FROM changes WHERE hidden IS NOT NULL
  UNION ALL SELECT changed FROM blocks WHERE state = 'claimed'
  UNION ALL SELECT changed FROM agents
  UNION ALL SELECT through FROM moderated_agents)`

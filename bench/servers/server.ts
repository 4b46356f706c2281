/** What is measured. */

/** A process that listens on loopback. */
export type Server = { readonly port: number; readonly pid: number }

/** Which processor servers run on; those who ask them run on the first. */
export const SERVERS_ON = 1

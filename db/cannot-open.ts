/** The database cannot be opened; the message gives the operator the reason. */
export class CannotOpen extends Error {
  override name = 'CannotOpen'
}

/** Throws `CannotOpen` if the database belongs to a network (CAIP-2) other than `network`. */
export function ensureSameNetwork(owner: string | undefined, network: string): void {
  if (owner !== undefined && owner !== network)
    throw new CannotOpen(`the database belongs to network ${owner}, not ${network}`)
}

/** The database contains no wall yet; the first start creates it. */
export class NoWallYet extends CannotOpen {}

/**
 * The database cannot be opened yet: it is unreachable, in use, or its disk has a problem. A later start may succeed.
 */
export class CannotOpenYet extends CannotOpen {}

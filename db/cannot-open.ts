/** The database cannot be opened, for a reason that only an operator can mend; the message says which. */
export class CannotOpen extends Error {
  override name = 'CannotOpen'
}

/** The database cannot be opened yet: it is away, in use, or its disk is in trouble. A later start may find it well. */
export class CannotOpenYet extends CannotOpen {}

/** The database cannot be opened, for a reason that only an operator can mend; the message says which. */
export class CannotOpen extends Error {
  override name = 'CannotOpen'
}

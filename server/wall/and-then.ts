/** Going on at once where nothing has to be waited for: a promise costs as much as all the rest of a short answer. */

/** What comes of a value, now if it is there, else as soon as it is. */
export function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

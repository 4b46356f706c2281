/** Values that are there at once more often than not. Going on without a promise spares a deed or a demand for payment a tenth of its time. */

/** A value, or a promise of it. */
export type MaybeAsync<Value> = Value | Promise<Value>

/** Goes on with a value: at once where it is there, else when it comes. */
export function proceed<Value, Next>(
  value: MaybeAsync<Value>,
  next: (value: Value) => MaybeAsync<Next>,
): MaybeAsync<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

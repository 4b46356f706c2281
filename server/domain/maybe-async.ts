/**
 * Values that are usually available synchronously. Avoiding a promise saves a tenth of the time of a deed or a demand
 * for payment.
 */

/** A value, or a promise of it. */
export type MaybeAsync<Value> = Value | Promise<Value>

/** Continues with a value: immediately if it is available, otherwise when it arrives. */
export function proceed<Value, Next>(
  value: MaybeAsync<Value>,
  next: (value: Value) => MaybeAsync<Next>,
): MaybeAsync<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Values that several tests share: a test that changes one for later tests throws. */

/** Returns the same value, deeply frozen: changes throw. Bytes can still be changed. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

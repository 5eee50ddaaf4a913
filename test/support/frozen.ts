/** What several tests are given: a test that changed it for those after it throws. */

/** The same value, which throws where anything in it is changed. Bytes alone can still be changed. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

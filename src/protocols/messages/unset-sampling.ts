/**
 * LangChain for JavaScript before 1.0 always sends `top_p` and `top_k`, as -1 if they are not set. Earlier models of Claude accepted that,
 * today's refuse it. TXT-22.
 */
import type { JsonObject } from "../canonical/request.ts";

/** Returns the body without such members; the same body if it has none. */
export function withoutUnset(body: JsonObject): JsonObject {
  if (body["top_p"] !== -1 && body["top_k"] !== -1) return body;
  const set = { ...body };
  for (const name of ["top_p", "top_k"]) if (set[name] === -1) delete set[name];
  return set;
}

/** A call's body on its way to the upstream: a large one is written in turns, so that nobody waits until all of it is. */
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonSource } from "../base/json-source.ts";
import { jsonSlices, writePartsInTurns, type JsonPieces } from "../base/json-write.ts";
import type { JsonObject } from "../protocols/index.ts";

/** A call that holds no more than this is written at once, within some 40 ms whatever it says. */
const atOnceBytes = 4 * 2 ** 20;

/** What the caller sent, where its bytes are sent on, and what the call holds of the budget. */
interface Written {
  readonly source?: JsonSource | undefined;
  readonly lease: ByteLease;
}

/** A body as it is sent. */
export function writeBody(
  body: JsonObject,
  { source, lease }: Written,
): JsonPieces | Promise<JsonPieces> {
  if (lease.bytes <= atOnceBytes) return source ? source.write(body) : JSON.stringify(body);
  return writePartsInTurns(source ? source.parts(body) : jsonSlices(body), () => lease.turn());
}

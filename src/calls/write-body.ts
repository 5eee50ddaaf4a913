/** A call's body on its way to the upstream: a large one is written in turns, so that nobody waits until all of it is. */
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonSource } from "../base/json-source.ts";
import { jsonSlices, writePartsInTurns, type JsonPieces } from "../base/json-write.ts";
import type { Note } from "../base/notes.ts";
import type { CallBody } from "./call-body.ts";
import type { JsonObject } from "../protocols/index.ts";

/** A call that holds no more than this is read or written at once, within some 40 ms whatever it says. */
const atOnceBytes = 4 * 2 ** 20;

/** Longer texts wait as bytes for their turn to be sent: the collector of garbage does not move those. */
const textMax = 16 * 1024;

const isAtOnce = ({ bytes }: ByteLease): boolean => bytes <= atOnceBytes;

/**
 * Whether a call waits as the bytes of its request: what was parsed from them is freed, and parsed again where it is asked for. Not what is
 * so short that it is nothing to keep, nor what is so large that others would wait while it is read again.
 */
export const waitsAsBytes = ({ body, lease }: { body: CallBody; lease: ByteLease }): boolean =>
  body.source.bytes.length > textMax && isAtOnce(lease);

/** A request as it is sent to one provider. */
export interface WrittenRequest {
  readonly body: JsonPieces | Promise<JsonPieces>;
  /** What was dropped or rewritten for it. */
  readonly notes: readonly Note[];
}

/** What the caller sent, where its bytes are sent on, and what the call holds of the budget. */
interface Written {
  readonly source?: JsonSource | undefined;
  readonly lease: ByteLease;
}

export function writeBody(
  body: JsonObject,
  { source, lease }: Written,
): JsonPieces | Promise<JsonPieces> {
  if (isAtOnce(lease)) return source ? source.write(body) : written(body);
  return writePartsInTurns(source ? source.parts(body) : jsonSlices(body), () => lease.turn());
}

function written(body: JsonObject): JsonPieces {
  const text = JSON.stringify(body);
  return text.length > textMax ? [Buffer.from(text)] : text;
}

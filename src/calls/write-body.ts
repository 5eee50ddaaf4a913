/** Writes a call's body for the upstream. A large body is written in turns, so that it does not block other calls. */
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonSource } from "../base/json-source.ts";
import { jsonSlices, writePartsInTurns, type JsonPieces } from "../base/json-write.ts";
import type { Note } from "../base/notes.ts";
import type { CallBody } from "./call-body.ts";
import type { JsonObject } from "../protocols/index.ts";

/** A call that holds no more bytes is read or written at once, within some 40 ms whatever its content. */
const atOnceBytes = 4 * 2 ** 20;

/** Longer texts wait as bytes to be sent: the garbage collector does not move those. */
const textMax = 16 * 1024;

const isAtOnce = ({ bytes }: ByteLease): boolean => bytes <= atOnceBytes;

/**
 * True if a call waits as the bytes of its request: parsed values are freed, and parsed again on the next access. False for requests
 * too short to matter, and for those so large that parsing them again would block other calls.
 */
export const waitsAsBytes = ({ body, lease }: { body: CallBody; lease: ByteLease }): boolean =>
  body.source.bytes.length > textMax && isAtOnce(lease);

/** A request as it is sent to one provider. */
export interface WrittenRequest {
  readonly body: JsonPieces | Promise<JsonPieces>;
  /** Parameters dropped or rewritten for it. */
  readonly notes: readonly Note[];
}

/** The caller's request if its bytes are forwarded, and the call's lease of the budget. */
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

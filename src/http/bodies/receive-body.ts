/** Reads the body of a request. First checks the announced type, encoding and length, then reads within its limit and the byte budget. */
import type { ByteLease } from "../../base/byte-budget.ts";
import { GatewayError } from "../../base/errors.ts";
import { ChunkBuffer } from "../../base/chunk-buffer.ts";
import { bodyTooLarge, incompleteBodyError, type BodyLimit } from "./body-limits.ts";
import { decodeBody, encodingOf, refuseEncoded } from "./content-encoding.ts";
import type { BodyStream, RequestBody, RequestHead } from "../exchange.ts";
import { isLate } from "./late.ts";
import { pace } from "./paced.ts";

export interface BodyBounds {
  readonly limit: BodyLimit;
  /** Counts the bytes; its creator releases it. */
  readonly lease: ByteLease;
}

const isJsonType = (type: string): boolean => /^application\/([\w.+-]+\+)?json\b/i.test(type);

/** Refuses a Content-Type that is not JSON; a body without one is read as JSON. @throws GatewayError `unsupported_media_type` */
function checkJsonType(type = "application/json"): void {
  if (isJsonType(type)) return;
  const message = `The Content-Type is ${type.slice(0, 80)}; send application/json.`;
  throw new GatewayError("unsupported_media_type", message);
}

/**
 * Returns the bytes of a request's JSON body, decompressed; undefined if there is none. A body announced as too large is not read.
 * @throws GatewayError `unsupported_media_type`, `unsupported_content_encoding`, `request_too_large`, `overloaded`, or rejects with one
 * of them, or with `malformed_request` where the body breaks off or is not in its encoding.
 */
export function readBytes(
  { headers }: RequestHead,
  source: RequestBody,
  bounds: BodyBounds,
): Buffer | undefined | Promise<Buffer> {
  const length = headers["content-length"];
  const type = headers["content-type"];
  // Without a body, ignore the Content-Type: curl sends a form's for `-d ''`.
  if (headers["transfer-encoding"] === undefined && (type === undefined || !isJsonType(type))) {
    if (length === undefined || length === "0") return undefined;
  }
  checkJsonType(type);
  if (bounds.limit.plain) refuseEncoded(headers["content-encoding"]);
  const encoding = encodingOf(headers["content-encoding"]);
  const announced = Number(length ?? 0);
  if (announced > bounds.limit.bytesMax) throw bodyTooLarge(bounds.limit);
  bounds.lease.check(announced);
  if (Buffer.isBuffer(source)) {
    bounds.lease.take(source.length);
    return encoding === undefined ? source : decodeBody(source, encoding, bounds);
  }
  const bytes = collect(source, bounds);
  return encoding === undefined ? bytes : bytes.then((all) => decodeBody(all, encoding, bounds));
}

const stalledBodyError = (): GatewayError =>
  new GatewayError(
    "request_timeout",
    "The body stalled for ten seconds while other requests needed its memory. Send it again.",
  );

/** A body's first bytes, which are read without pacing. */
const unpacedBytes = 65_536;

function collect(request: BodyStream, { limit, lease }: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The listeners live as long as the request: `settle` clears the state that they share, so that the body does not live as long.
    let asking: { resolve: typeof resolve; reject: typeof reject } | undefined = {
      resolve,
      reject,
    };
    let pieces = new ChunkBuffer();
    let length = 0;
    let refused = false;
    const settle = (): typeof asking => {
      lease.arrived();
      const settled = asking;
      asking = undefined;
      pieces = new ChunkBuffer();
      return settled;
    };
    // Reads and discards the rest: a client that is still sending would not read our answer.
    const refuse = (error: unknown): void => {
      refused = true;
      lease.give(length);
      settle()?.reject(error);
    };
    // The client left before we listened: no `error` event will follow.
    if (request.destroyed) return reject(incompleteBodyError());
    lease.arrives(() => refuse(stalledBodyError()));
    request.on("data", (chunk: Buffer) => {
      if (refused || length > unpacedBytes) pace(request, chunk.length);
      if (refused) return;
      try {
        lease.take(chunk.length);
      } catch (error) {
        return refuse(error);
      }
      length += chunk.length;
      if (length > limit.bytesMax) refuse(bodyTooLarge(limit));
      else pieces.add(chunk);
    });
    request.on("end", () => {
      const bytes = pieces.join();
      if (isLate(request)) settle()?.reject(incompleteBodyError());
      else settle()?.resolve(bytes);
    });
    request.on("error", () => settle()?.reject(incompleteBodyError()));
  });
}

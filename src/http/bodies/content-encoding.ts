/**
 * Decompresses request bodies: gzip, br and zstd. Decoding starts when the whole body has arrived, so that a slow sender holds no
 * decoder. A few bodies are decoded at once, and never beyond the limit of the path. RFC 9110, section 8.4.
 */
import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import type { ByteLease } from "../../base/byte-budget.ts";
import { GatewayError } from "../../base/errors.ts";
import { limitConcurrency } from "../../base/concurrency-limit.ts";
import { bodyTooLarge, type BodyLimit } from "./body-limits.ts";

const chunkSize = 65_536;

/**
 * The largest zstd window that RFC 9659 allows for a content encoding, 8 MB. The decoder allocates the window that the sender
 * announces.
 */
const zstdOptions = { chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize }),
  // The older name of gzip (RFC 9110, section 8.4.1.3).
  "x-gzip": () => createGunzip({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
  zstd: () => createZstdDecompress(zstdOptions),
};

/** The `Accept-Encoding` header of a 415 (RFC 9110, section 12.5.3). */
const accepted = "gzip, br, zstd";

/**
 * Returns the name of the decoder for a `Content-Encoding`, or undefined if the body is not encoded.
 * @throws GatewayError 415 `unsupported_content_encoding`
 */
export function encodingOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const name = header.trim().toLowerCase();
  if (name === "" || name === "identity") return undefined;
  if (Object.hasOwn(decoders, name)) return name;
  throw new GatewayError(
    "unsupported_content_encoding",
    `The Content-Encoding is ${JSON.stringify(header.slice(0, 40))}; send ${accepted}, or none.`,
    { headers: { "accept-encoding": accepted } },
  );
}

/** Refuses every encoding, for routes that do not decompress bodies. @throws GatewayError 415 `unsupported_content_encoding` */
export function refuseEncoded(header: string | undefined): void {
  if (header === undefined || encodingOf(header) === undefined) return;
  throw new GatewayError(
    "unsupported_content_encoding",
    "A body is not decompressed here; send it without a Content-Encoding.",
    { headers: { "accept-encoding": "identity" } },
  );
}

/** At most two decoders work at once: each takes a thread of the pool and up to 16 MB for its window. */
const decoding = limitConcurrency(2);

/**
 * Decodes a whole body. In the lease, the decoded bytes replace the compressed ones.
 * @throws GatewayError `request_too_large` above the limit, `overloaded`, or `malformed_request` for bytes that are not in this
 * encoding
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string,
  { limit, lease }: { readonly limit: BodyLimit; readonly lease: ByteLease },
): Promise<Buffer> {
  try {
    const decoded = await decoding(() =>
      collect(decoders[encoding]!().end(bytes), { limit, lease }),
    );
    lease.give(bytes.length);
    return decoded;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("malformed_request", `The body is not valid ${encoding}.`);
  }
}

/** Collects the decoded bytes. Leaving the loop, also by an error, destroys the decoder: nothing is decoded beyond the limit. */
async function collect(
  decoder: Transform,
  { limit, lease }: { readonly limit: BodyLimit; readonly lease: ByteLease },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decoder as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit.bytesMax) throw bodyTooLarge(limit);
    lease.take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

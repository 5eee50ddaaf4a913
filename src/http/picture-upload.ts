/**
 * One uploaded picture on its way to storage: measured and hashed as it passes, and refused by what its first bytes say before
 * the rest is read. Spec: "POST /v1/images/edits" (`image`, `mask`); LIM rows.
 */
import { createHash } from "node:crypto";
import { GatewayError } from "../base/errors.ts";
import { readImageHeader, type HeaderReading, type ImageHeader } from "../base/image-header.ts";
import type { Upload } from "../media/index.ts";
import type { Part } from "./multipart.ts";
import type { UploadStore } from "./upload-store.ts";

export interface PictureLimits {
  /** Of one picture. */
  readonly fileBytes: number;
  /** Of a picture's longer side, and of its area: what it declares, before anything is decoded. */
  readonly sidePixels: number;
  readonly areaPixels: number;
}

/** A file that was read to its end. */
export interface Received<Result> {
  readonly result: Result;
  readonly sha256: string;
}

/** Passes a file on to `use`, hashing it. @throws GatewayError `image_too_large` as soon as it is. */
export async function receive<Result>(
  { name, content }: Part,
  bytesMax: number,
  use: (content: AsyncGenerator<Buffer>) => Promise<Result>,
): Promise<Received<Result>> {
  const hash = createHash("sha256");
  async function* measured(): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > bytesMax) {
        const mebibytes = Math.floor(bytesMax / 1_048_576);
        throw refusal("image_too_large", name, `the file is larger than ${mebibytes} MiB`);
      }
      hash.update(piece);
      yield piece;
    }
  }
  const result = await use(measured());
  return { result, sha256: hash.digest("hex") };
}

/**
 * Stores a picture; undefined where the part is empty.
 * @throws GatewayError `invalid_image_file`, `image_too_large`
 */
export async function storePicture(
  name: string,
  content: AsyncGenerator<Buffer>,
  { store, limits }: { readonly store: UploadStore; readonly limits: PictureLimits },
): Promise<Upload | undefined> {
  const { head, reading } = await readHead(content);
  if (head.length === 0) return undefined;
  const header = checked(name, reading, limits);
  const stored = await store.put(joined(head, content), header.mediaType);
  return { ...stored, ...header };
}

/** Metadata in front of a picture's data may be long, but not without end. */
const headBytesMax = 1_048_576;

/** Reads on until the header is there. It is tried again only when there is twice as much: tiny pieces must not cost more. */
async function readHead(
  content: AsyncGenerator<Buffer>,
): Promise<{ head: Buffer; reading: HeaderReading }> {
  const pieces: Buffer[] = [];
  let length = 0;
  let next = 64;
  for (;;) {
    const { done, value } = await content.next();
    if (done !== true) {
      pieces.push(value);
      length += value.length;
      if (length < next && length <= headBytesMax) continue;
      next = length * 2;
    }
    const head = Buffer.concat(pieces);
    const reading = readImageHeader(head);
    const isLast = done === true || length > headBytesMax;
    if (reading !== "incomplete" || isLast) return { head, reading };
  }
}

async function* joined(
  head: Buffer,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield head;
  yield* rest;
}

function checked(name: string, reading: HeaderReading, limits: PictureLimits): ImageHeader {
  if (typeof reading === "string")
    throw refusal("invalid_image_file", name, "the file is no PNG, JPEG or WebP picture");
  const { width, height } = reading;
  if (Math.max(width, height) > limits.sidePixels || width * height > limits.areaPixels)
    throw refusal("image_too_large", name, `the picture has ${width}x${height} pixels`);
  return reading;
}

const refusal = (
  code: "invalid_image_file" | "image_too_large",
  name: string,
  why: string,
): GatewayError => new GatewayError(code, `${name}: ${why}.`, { param: name });

/**
 * Streams one uploaded picture to storage: measures and hashes it on the way, and refuses it by its first bytes, before the rest is
 * read. Requirements: EDIT1, EDIT2 (`image`, `mask`); LIM rows.
 */
import { createHash } from "node:crypto";
import { refusal } from "../../base/errors.ts";
import {
  imageTypeOf,
  ImageHeaderReader,
  type HeaderReading,
  type ImageHeader,
} from "../../base/image-header.ts";
import { ChunkBuffer } from "../../base/chunk-buffer.ts";
import { shortText } from "../../base/text.ts";
import type { FileDrafts } from "../../files/index.ts";
import type { Upload } from "../../media/index.ts";
import type { Part } from "./multipart.ts";

export interface PictureLimits {
  /** Limit of one picture. */
  readonly fileBytes: number;
  /** Limits of a picture's longer side and of its area, as its header declares them, before anything is decoded. */
  readonly sidePixels: number;
  readonly areaPixels: number;
}

/** The result of a file that was read to its end. */
export interface HashedFile<Result> {
  readonly result: Result;
  readonly sha256: string;
}

/** Shortens a name from the caller for a message. */
export const shown = (name: string): string => shortText(name, 60);

/** Passes a file on to `use`, hashing it. @throws GatewayError `image_too_large` as soon as the limit is passed. */
export async function receiveHashed<Result>(
  { name, content }: Part,
  bytesMax: number,
  use: (content: AsyncGenerator<Buffer>) => Promise<Result>,
): Promise<HashedFile<Result>> {
  const hash = createHash("sha256");
  async function* measured(): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > bytesMax) {
        const mebibytes = Math.floor(bytesMax / 1_048_576);
        throw refusal("image_too_large", shown(name), `the file is larger than ${mebibytes} MiB`);
      }
      hash.update(piece);
      yield piece;
    }
  }
  const result = await use(measured());
  return { result, sha256: hash.digest("hex") };
}

/** Bytes of a picture that are held back until its header is read. Metadata before the header may be longer. */
const heldBytesMax = 65_536;

/**
 * Stores a picture; returns undefined if the part is empty. If long metadata precedes the header, storing begins before the header is
 * read. The stored bytes are removed if no picture follows.
 * @throws GatewayError `invalid_image_file`, `image_too_large`
 */
export async function storePicture(
  name: string,
  content: AsyncGenerator<Buffer>,
  { store, limits }: { readonly store: FileDrafts; readonly limits: PictureLimits },
): Promise<Upload | undefined> {
  const reader = new ImageHeaderReader();
  const head = new ChunkBuffer();
  let reading: HeaderReading = "incomplete";
  while (reading === "incomplete" && head.length < heldBytesMax) {
    const { done, value } = await content.next();
    if (done === true) break;
    head.add(value);
    reading = reader.push(value);
  }
  if (head.length === 0) return undefined;
  const isLong = reading === "incomplete" && head.length >= heldBytesMax;
  const first = head.join();
  const found = { header: isLong ? undefined : checkHeader(name, reading, limits) };
  async function* bytes(): AsyncGenerator<Buffer, void, undefined> {
    yield first;
    for await (const piece of content) {
      if (found.header === undefined) {
        const now = reader.push(piece);
        if (now !== "incomplete") found.header = checkHeader(name, now, limits);
      }
      yield piece;
    }
    found.header ??= checkHeader(name, "incomplete", limits);
  }
  const mediaType = found.header?.mediaType ?? imageTypeOf(first);
  const { fileBytes: bytesMax } = limits;
  const draft = { purpose: "input", mediaType, source: bytes(), bytesMax } as const;
  const stored = await store.put(draft);
  return { name: stored.name, bytes: stored.bytes, ...found.header! };
}

function checkHeader(name: string, reading: HeaderReading, limits: PictureLimits): ImageHeader {
  if (typeof reading === "string")
    throw refusal("invalid_image_file", name, "the file must be a PNG, JPEG or WebP picture");
  const { width, height } = reading;
  const { sidePixels, areaPixels } = limits;
  if (Math.max(width, height) > sidePixels || width * height > areaPixels) {
    const most = `at most ${sidePixels} on a side, and ${areaPixels} in all`;
    throw refusal("image_too_large", name, `the picture has ${width}x${height} pixels; ${most}`);
  }
  return reading;
}

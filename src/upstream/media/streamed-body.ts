/**
 * Request bodies with uploaded pictures: alternating text and files, opened when they are sent and never whole in memory. Their length is
 * known in advance from the files' sizes, so they are sent with a Content-Length.
 */
import { Readable } from "node:stream";
import { isObject } from "../../base/json.ts";
import type { KeptFile, Material } from "../../media/index.ts";
import type { MediaBody, MediaJob } from "./types.ts";
import { chunksOfUpload } from "./upload-error.ts";

/** A file inside a body: its raw bytes, or in base64. */
export interface FilePart {
  readonly upload: KeptFile;
  readonly as: "bytes" | "base64";
}

export type BodyPart = string | FilePart;

/** Returns a body of these parts; one string if there is no file. `open` opens a file's bytes. */
export function streamedBody(parts: readonly BodyPart[], open: MediaJob["open"]): MediaBody {
  if (parts.every((part) => typeof part === "string")) return parts.join("");
  return {
    contentLength: parts.reduce((total, part) => total + lengthOf(part), 0),
    open: () => Readable.from(chunksOf(parts, open), { objectMode: false }),
  };
}

function lengthOf(part: BodyPart): number {
  if (typeof part === "string") return Buffer.byteLength(part);
  const { bytes } = part.upload;
  return part.as === "bytes" ? bytes : Math.ceil(bytes / 3) * 4;
}

async function* chunksOf(
  parts: readonly BodyPart[],
  open: MediaJob["open"],
): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (typeof part === "string") yield Buffer.from(part);
    else {
      const chunks = chunksOfUpload(open(part.upload), part.upload.bytes);
      yield* part.as === "bytes" ? chunks : base64Of(chunks);
    }
  }
}

/** Encodes a stream in base64, three bytes at a time: the rest of a chunk is put before the next one. */
async function* base64Of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    if (whole > 0) yield Buffer.from(bytes.toString("base64", 0, whole), "latin1");
  }
  if (rest.length > 0) yield Buffer.from(rest.toString("base64"), "latin1");
}

/** A picture in a JSON value, written as a `data:` URL. */
export class DataUrl {
  readonly upload: KeptFile;

  constructor(upload: KeptFile) {
    this.upload = upload;
  }
}

/** Returns a piece of material for a JSON value. */
export const materialUrl = (material: Material): string | DataUrl =>
  typeof material === "string" ? material : new DataUrl(material);

/** Writes JSON as the parts of a body: `DataUrl`s become files in base64, all else is as in JSON.stringify. */
export function jsonParts(value: unknown): BodyPart[] {
  if (value instanceof DataUrl) {
    const { upload } = value;
    return [`"data:${upload.mediaType};base64,`, { upload, as: "base64" }, '"'];
  }
  if (Array.isArray(value)) return joined("[", value.map(jsonParts), "]");
  if (!isObject(value)) return [JSON.stringify(value)];
  const members = Object.entries(value).map(([name, member]) => [
    `${JSON.stringify(name)}:`,
    ...jsonParts(member),
  ]);
  return joined("{", members, "}");
}

function joined(open: string, lists: readonly (readonly BodyPart[])[], close: string): BodyPart[] {
  const inside = lists.flatMap((list, index) => (index === 0 ? list : [",", ...list]));
  return [open, ...inside, close];
}

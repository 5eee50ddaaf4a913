/**
 * Reads a multipart form (RFC 7578) as it arrives: fields into memory, files onto the disk, so that sixteen pictures of
 * 25 MB cost no memory. Written for the sandbox alone: a fake must not share the gateway's reader.
 */
import { createHash } from "node:crypto";
import type { WriteStream } from "node:fs";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** A file of a form, kept until its request is answered. */
export interface FormFile {
  /** Of the field. */
  readonly name: string;
  readonly filename: string;
  /** As the client says; "" where it says nothing. */
  readonly type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly path: string;
}

export interface Form {
  /** In the order they came. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly files: readonly FormFile[];
}

/** The body is not a form, or not a whole one. */
export class BrokenForm extends Error {}

const headBytesMax = 16 * 1024;
const fieldBytesMax = 1024 * 1024;

/** The boundary in a content type; undefined for other types. */
export function boundaryOf(contentType: string): string | undefined {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) return undefined;
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return found?.[1] ?? found?.[2];
}

/**
 * Reads the form; its files go into `folder`.
 * @throws BrokenForm when it is none.
 */
export async function readForm(
  body: AsyncIterable<Buffer>,
  boundary: string,
  folder: string,
): Promise<Form> {
  const fields: [string, string][] = [];
  const files: FormFile[] = [];
  const source = new Source(body);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter has no line end before it; with one put there it is like all the others.
  await source.skipTo(delimiter);
  for (let count = 0; ; count += 1) {
    const after = (await source.take(2)).toString("latin1");
    if (after === "--") break;
    if (after !== "\r\n") throw new BrokenForm("a boundary is not alone on its line");
    const part = readHead(await source.head());
    if (part.filename === undefined) {
      fields.push([part.name, await readField(source.until(delimiter))]);
    } else {
      const path = join(folder, String(count));
      const { bytes, sha256 } = await writeFile(source.until(delimiter), createWriteStream(path));
      files.push({
        name: part.name,
        filename: part.filename,
        type: part.type,
        bytes,
        sha256,
        path,
      });
    }
  }
  await source.drain();
  return { fields, files };
}

interface Head {
  readonly name: string;
  /** Files have one. */
  readonly filename: string | undefined;
  readonly type: string;
}

function readHead(text: string): Head {
  const header = (name: string) =>
    text
      .split("\r\n")
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const disposition = header("content-disposition") ?? "";
  const value = (name: string) => {
    const found = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, "i").exec(disposition)?.[1];
    return found?.replace(/\\(.)/g, "$1").replaceAll("%22", '"');
  };
  const name = value("name");
  if (!/^form-data\s*;/i.test(disposition) || name === undefined) {
    throw new BrokenForm("a part without a name");
  }
  return { name, filename: value("filename"), type: header("content-type") ?? "" };
}

async function readField(pieces: AsyncIterable<Buffer>): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > fieldBytesMax) throw new BrokenForm("a field is too long");
    kept.push(piece);
  }
  return Buffer.concat(kept).toString();
}

async function writeFile(
  pieces: AsyncIterable<Buffer>,
  file: WriteStream,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await pipeline(counted(), file);
  return { bytes, sha256: hash.digest("hex") };
}

/** Bytes as they arrive, taken by what they are known to hold. */
class Source {
  readonly #pieces: AsyncIterator<Buffer>;
  #waiting: Buffer = Buffer.from("\r\n");

  constructor(body: AsyncIterable<Buffer>) {
    this.#pieces = body[Symbol.asyncIterator]();
  }

  async #more(): Promise<void> {
    const next = await this.#pieces.next();
    if (next.done) throw new BrokenForm("the form ends in its middle");
    this.#waiting = Buffer.concat([this.#waiting, next.value]);
  }

  async take(count: number): Promise<Buffer> {
    while (this.#waiting.length < count) await this.#more();
    const taken = this.#waiting.subarray(0, count);
    this.#waiting = this.#waiting.subarray(count);
    return taken;
  }

  /** A part's headers, up to the empty line. */
  async head(): Promise<string> {
    for (;;) {
      const end = this.#waiting.indexOf("\r\n\r\n");
      if (end > headBytesMax || (end === -1 && this.#waiting.length > headBytesMax + 4)) {
        throw new BrokenForm("a part has too many headers");
      }
      if (end === -1) {
        await this.#more();
        continue;
      }
      return (await this.take(end + 4)).toString("utf8", 0, end);
    }
  }

  /** What stands before the delimiter, piece by piece; the delimiter itself is taken too. */
  async *until(delimiter: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#waiting.indexOf(delimiter);
      const safe = at === -1 ? this.#waiting.length - delimiter.length + 1 : at;
      if (safe > 0) yield await this.take(safe);
      if (at !== -1) {
        await this.take(delimiter.length);
        return;
      }
      await this.#more();
    }
  }

  async skipTo(delimiter: Buffer): Promise<void> {
    const skipped = this.until(delimiter);
    while (!(await skipped.next()).done);
  }

  /** Reads what comes after the form, which means nothing. */
  async drain(): Promise<void> {
    while (!(await this.#pieces.next()).done);
  }
}

/**
 * The container format of a backup: a first line in plain text, then frames. A frame is its kind, its length and that many bytes of
 * zstd. The last frame holds the SHA-256 of everything before it, so that a truncated or changed file is detected.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { isObject } from "../base/json.ts";

const firstLine = Buffer.from("TOLLGATE BACKUP 1\n");
const headBytes = 5;
const mebibyte = 2 ** 20;
/** Largest payload of each kind, in bytes. A frame has about a megabyte of rows, or one larger row; files are split into frames. */
const payloadBytesMax: Readonly<Record<FrameKind, number>> = {
  H: 4 * mebibyte,
  T: mebibyte,
  R: 256 * mebibyte,
  F: mebibyte,
  D: 16 * mebibyte,
  Z: 4 * mebibyte,
};
const lastKind = "Z";
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** H: header; T: start of a table; R: its rows; F: start of a file; D: its bytes; Z: the end. */
export type FrameKind = "H" | "T" | "R" | "F" | "D" | "Z";

export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Buffer;
}

/** The file is not a whole backup, or cannot be restored here. */
export class BackupError extends Error {
  override name = "BackupError";
}

export interface FrameWriter {
  /** Resolves when the next frame can be written. */
  write(kind: FrameKind, payload: Buffer | string): Promise<void>;
  /** Writes the last frame: `end` and the digest of all before it. Resolves when the destination has received everything. */
  end(end: object): Promise<void>;
  /** Aborts: destroys the destination. */
  destroy(): void;
}

/** Writes frames to `destination`, and ends it after the last frame. */
export function createFrameWriter(destination: Writable): FrameWriter {
  const hash = createHash("sha256");
  // A reader that disconnects closes the stream without an error, and then `drain` never comes.
  const ended = new AbortController();
  const over = finished(destination, { readable: false }).finally(() => ended.abort());
  over.catch(() => undefined);
  destination.write(firstLine);

  async function write(kind: FrameKind, payload: Buffer | string): Promise<void> {
    const body = await compress(payload, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    const head = Buffer.alloc(headBytes);
    head.write(kind, "latin1");
    head.writeUInt32BE(body.length, 1);
    const bytes = Buffer.concat([head, body]);
    hash.update(bytes);
    if (!destination.write(bytes)) await drained();
  }

  /** Resolves when more can be written. Takes its listeners off again: a race with `over` would keep one for each frame until the end. */
  async function drained(): Promise<void> {
    try {
      await once(destination, "drain", { signal: ended.signal });
    } catch (error) {
      await over;
      throw error;
    }
  }

  return {
    write,
    async end(end) {
      await write(lastKind, JSON.stringify({ ...end, sha256: hash.copy().digest("hex") }));
      destination.end();
      await over;
    },
    destroy: () => void destination.destroy(),
  };
}

const cut = (): BackupError => new BackupError("the backup is cut off");
const changed = (): BackupError => new BackupError("the backup was changed or is damaged");

/** Returns a function that reads the next `count` bytes of a stream; fewer at its end. */
function createByteReader(source: Readable) {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  return async function take(count: number): Promise<Buffer> {
    const parts = [rest];
    let length = rest.length;
    while (length < count) {
      const { value, done } = await chunks.next();
      if (done === true) break;
      parts.push(value);
      length += value.length;
    }
    const all = parts.length === 1 ? rest : Buffer.concat(parts);
    rest = all.subarray(count);
    return all.subarray(0, count);
  };
}

function checkFirstLine(line: Buffer): void {
  if (line.equals(firstLine)) return;
  if (line.length > 0 && firstLine.subarray(0, line.length).equals(line)) throw cut();
  const isOurs = line.toString("latin1").startsWith("TOLLGATE BACKUP ");
  throw new BackupError(
    isOurs ? "the backup is of a newer version of Tollgate" : "this is not a backup of Tollgate",
  );
}

/**
 * Yields the frames of a backup, the last one included. Once the last frame has come, the backup is whole.
 * @throws BackupError for a file that is no backup, is cut off, or was changed; any error of the source
 */
export async function* readFrames(source: Readable): AsyncGenerator<Frame, void, undefined> {
  const take = createByteReader(source);
  const hash = createHash("sha256");
  try {
    checkFirstLine(await take(firstLine.length));
    for (;;) {
      const head = await take(headBytes);
      if (head.length < headBytes) throw cut();
      const kind = head.toString("latin1", 0, 1);
      if (!isKind(kind)) throw changed();
      const length = head.readUInt32BE(1);
      const maxOutputLength = payloadBytesMax[kind];
      if (length > maxOutputLength) throw changed();
      const body = await take(length);
      if (body.length < length) throw cut();
      const payload = await decompress(body, { maxOutputLength }).catch(() => {
        throw changed();
      });
      if (kind === lastKind) {
        checkDigest(payload, hash.digest("hex"));
        if ((await take(1)).length > 0) throw changed();
      } else hash.update(head).update(body);
      yield { kind, payload };
      if (kind === lastKind) return;
    }
  } finally {
    source.destroy();
  }
}

const isKind = (text: string): text is FrameKind => Object.hasOwn(payloadBytesMax, text);

/** Checks only the digest. The caller reads the other fields of the end frame after this check. */
function checkDigest(payload: Buffer, digest: string): void {
  let end: unknown;
  try {
    end = JSON.parse(payload.toString());
  } catch {
    throw changed();
  }
  if (!isObject(end) || end["sha256"] !== digest) throw changed();
}

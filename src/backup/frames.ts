/**
 * The container of a backup: a first line in plain text, then frames: kind, length, and so many bytes of zstd. The last frame
 * tells the SHA-256 of all before it, so that a file that was cut or changed is known as such.
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
/** A frame has a megabyte of rows, and of a larger row one; the others are written in pieces. */
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

/** H: header; T: a table begins; R: rows of it; F: a file begins; D: bytes of it; Z: the end. */
export type FrameKind = "H" | "T" | "R" | "F" | "D" | "Z";

export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Buffer;
}

/** The file is not a whole backup, or does not fit here. */
export class BackupError extends Error {
  override name = "BackupError";
}

export interface FrameWriter {
  /** Resolves when there is room for the next one. */
  write(kind: FrameKind, payload: Buffer | string): Promise<void>;
  /** Writes the last frame: `end` and the digest of all before it. Resolves when everything is handed over. */
  end(end: object): Promise<void>;
  /** Gives up. */
  destroy(): void;
}

/** Writes frames to `destination`, which is ended with the last one. */
export function createFrameWriter(destination: Writable): FrameWriter {
  const hash = createHash("sha256");
  // A reader that leaves closes it without an error: no `drain` would ever come.
  const over = finished(destination, { readable: false });
  over.catch(() => undefined);
  destination.write(firstLine);

  async function write(kind: FrameKind, payload: Buffer | string): Promise<void> {
    const body = await compress(payload, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    const head = Buffer.alloc(headBytes);
    head.write(kind, "latin1");
    head.writeUInt32BE(body.length, 1);
    const bytes = Buffer.concat([head, body]);
    hash.update(bytes);
    if (!destination.write(bytes)) await Promise.race([once(destination, "drain"), over]);
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

/** Bytes of a stream by number. */
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
 * The frames of a backup, the last one included: once that has come, everything is known to be whole.
 * @throws BackupError for a file that is none, is cut off, or was changed; whatever the source fails with
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

/** What else the end says is read as soon as it is known to be whole. */
function checkDigest(payload: Buffer, digest: string): void {
  let end: unknown;
  try {
    end = JSON.parse(payload.toString());
  } catch {
    throw changed();
  }
  if (!isObject(end) || end["sha256"] !== digest) throw changed();
}

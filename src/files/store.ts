/**
 * The storage of files: results for callers, and uploads until their task has ended. A local directory or an S3 bucket, behind one
 * interface that one suite of tests runs against. Requirements: STORE; docs/data.md.
 */
import { randomBytes } from "node:crypto";
import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";

/** The bytes of one file, or of the range that was asked for. */
export interface OpenFile {
  /** The caller must destroy it if it does not read it to its end. */
  readonly stream: Readable;
  /** The number of bytes in the stream. */
  readonly bytes: number;
}

/** Bytes of a file by position, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Bytes of a file: all at once, or in chunks. */
export type FileSource = Uint8Array | AsyncIterable<Uint8Array>;

export interface FileStore {
  /** The most bytes in memory for each file that is being put, if that is much; otherwise 0. */
  readonly heldBytes: number;
  /**
   * Streams into storage, in bounded memory; resolves once the file is durable. Overwrites. A failed file leaves nothing. When `ended`
   * aborts, a bucket that does not answer is not waited for.
   * @throws FileTooLargeError above `bytesMax`; whatever the source throws; what the disk or the bucket fails with
   */
  put(
    name: string,
    source: FileSource,
    options: {
      readonly mediaType: string;
      readonly bytesMax: number;
      readonly ended?: AbortSignal | undefined;
    },
  ): Promise<{ readonly bytes: number }>;
  /**
   * Opens a file, or the existing bytes of a range of it; undefined if there is no such file.
   * @throws RangeError for a range that begins after the file's end
   */
  open(name: string, range?: ByteRange): Promise<OpenFile | undefined>;
  /** Returns the size of a file in bytes, without opening a stream; undefined if there is no such file. */
  size(name: string): Promise<number | undefined>;
  /** Removes a file; a missing file is no error. */
  remove(name: string): Promise<void>;
  /** Checks without writing that a file could be put. @throws Error of the system where not. Absent: only a `put` can tell. */
  look?(): Promise<void>;
  close(): Promise<void>;
}

/** The place of files. The configuration's `storage` has this type. */
export interface FileStoreOptions {
  readonly kind: "local" | "s3";
  /** For a local store: another directory than `files` of the data directory. */
  readonly directory?: string | undefined;
  readonly bucket?: string | undefined;
  /** The prefix of the objects' names. */
  readonly prefix?: string | undefined;
  /** Absent: Amazon's own. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** Absent: the credentials of the environment (AWS_*, an instance's role). */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  /** Agents for connections to the bucket and to the source of its credentials; the client's own if absent. */
  readonly agents?: Agents | undefined;
}

/** Agents: the opener of the store makes them, and the store destroys them. */
export interface Agents {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

/** A file has more bytes than it may have. */
export class FileTooLargeError extends Error {
  override name = "FileTooLargeError";

  constructor(bytesMax: number) {
    super(`the file is larger than ${bytesMax} bytes`);
  }
}

const extensions: Readonly<Record<string, string>> = {
  "video/mp4": ".mp4",
  "video/webm": ".webm",
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/webp": ".webp",
  "application/json": ".json",
};

/** Returns a name that cannot be guessed: 128 random bits, and the extension of its media type. */
export function newFileName(mediaType: string): string {
  return randomBytes(16).toString("hex") + (extensions[mediaType] ?? "");
}

/** True if a text can be a file's name: no separators, no leading dot, so that no name leads out of the store. */
export function isFileName(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,127}$/i.test(text);
}

/** @throws Error for an invalid name: our own mistake, since callers' names are looked up in the table first. */
export function checkFileName(name: string): void {
  if (!isFileName(name)) throw new Error(`not a file name: ${JSON.stringify(name.slice(0, 200))}`);
}

/** Passes chunks on and counts them. @throws FileTooLargeError once there are more than `bytesMax`. */
export async function* countBytes(
  source: FileSource,
  bytesMax: number,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of source instanceof Uint8Array ? [source] : source) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new FileTooLargeError(bytesMax);
    onBytes(bytes);
    yield chunk;
  }
}

/**
 * Where files are kept: results for callers, and uploads until their task ended. A local directory or an S3 bucket, behind
 * one interface that one suite of tests runs against. Requirements: STORE; docs/operate.md.
 */
import { randomBytes } from "node:crypto";
import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";

/** The bytes of one file: all of it, or the range that was asked for. */
export interface OpenFile {
  /** Destroy it where it is not read to its end. */
  readonly stream: Readable;
  /** How many bytes the stream gives. */
  readonly bytes: number;
}

/** Bytes of a file by position, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Bytes of a file: all at once, or as they come. */
export type FileSource = Uint8Array | AsyncIterable<Uint8Array>;

export interface FileStore {
  /** How many bytes of each file that is being put are in memory at most, where that is much; 0 where it is not. */
  readonly heldBytes: number;
  /**
   * Streams into storage, in bounded memory; returns once the file is safe. Overwrites. Nothing stays of a file that fails.
   * @throws FileTooLargeError above `bytesMax`; whatever the source throws; what the disk or the bucket fails with
   */
  put(
    name: string,
    source: FileSource,
    options: { readonly mediaType: string; readonly bytesMax: number },
  ): Promise<{ readonly bytes: number }>;
  /**
   * Opens a file, or what there is of a range of it; undefined where there is none.
   * @throws RangeError for a range that begins after the file's end
   */
  open(name: string, range?: ByteRange): Promise<OpenFile | undefined>;
  /** How many bytes a file has, without opening it; undefined where there is none. */
  size(name: string): Promise<number | undefined>;
  /** Removes a file; one that is not there is no error. */
  remove(name: string): Promise<void>;
  /** Looks without writing whether a file could be put. @throws Error of the system where not. Absent: only a `put` tells. */
  look?(): Promise<void>;
  close(): Promise<void>;
}

/** Where files go. The configuration's `storage` fits. */
export interface FileStoreOptions {
  readonly kind: "local" | "s3";
  /** Of a local store: another directory than `files` of the data directory. */
  readonly directory?: string | undefined;
  readonly bucket?: string | undefined;
  /** What the names of objects begin with. */
  readonly prefix?: string | undefined;
  /** Absent: Amazon's own. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** Absent: what the environment of the process offers (AWS_*, an instance's role). */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  /** Make the connections to a bucket, and to whoever gives credentials for it; the client's own if absent. */
  readonly agents?: Agents | undefined;
}

/** Agents that whoever opens the store makes, and the store destroys. */
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

/** A name nobody can guess: 128 random bits, and the extension of its media type. */
export function newFileName(mediaType: string): string {
  return randomBytes(16).toString("hex") + (extensions[mediaType] ?? "");
}

/** Whether a text can be a file's name: no separators, no leading dot, so that no name leads out of the store. */
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

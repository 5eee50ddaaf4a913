/**
 * Small copies of produced pictures: made at the first request, stored as files beside their pictures, and removed with them. Every client
 * with the name of a picture may request one, so the work is bounded: pixels, memory, seconds, number at once. Rows STORE.
 */
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { Metadata } from "sharp";
import { memoryPerByte, type ByteBudget, type ByteLease } from "../base/byte-budget.ts";
import { GatewayError, overloaded } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import { limitConcurrency } from "../base/concurrency-limit.ts";
import { getOrCreate } from "../base/memoize.ts";
import { Slots } from "../base/slots.ts";
import type { Database } from "../storage/index.ts";
import { FileDrafts } from "./drafts.ts";
import type { FileStore, OpenFile } from "./store.ts";
import { findFile, type FileRow } from "./table.ts";

/** The available widths, in pixels. A narrower picture keeps its own. */
export const thumbnailWidths = [160, 320, 640] as const;
export type ThumbnailWidth = (typeof thumbnailWidths)[number];

/** A picture above this is an attack (decompression bomb). */
const pixelsMax = 64_000_000;
/** The most memory for decoding one: two are made at once, in a process that also serves calls. */
const decodedBytesMax = 128 * 2 ** 20;
const secondsMax = 10;
/** Milliseconds for reading a picture: a slow read blocks all others. */
const readMsMax = 30_000;
/** Milliseconds that a request waits for its copy. */
const waitMsMax = 60_000;
const bytesMax = 64 * 2 ** 20;
const quality = 78;
const mediaType = "image/webp";
/** Two are made at once; as many wait as a gallery may show. */
const atOnceMax = 2;
const waitingMax = 200;

export interface Thumbnails {
  /**
   * Returns the small copy of a picture.
   * @throws GatewayError `invalid_value` (width) where it is no picture, or none that can be made smaller; `overloaded`; what the store
   * fails with
   */
  of(row: FileRow, width: ThumbnailWidth): Promise<FileRow>;
}

interface ThumbnailOptions {
  /** A picture counts in it as a body, while it is made smaller. */
  readonly budget: ByteBudget;
  readonly database: Database;
  readonly files: FileStore;
  /** Opens the original picture. @throws GatewayError `not_found` where it is another now, or none */
  readonly openWhole: (row: FileRow) => Promise<OpenFile>;
  readonly clock: Clock;
  /** Milliseconds that reading a picture may take; 30,000 if absent. */
  readonly readMs?: number | undefined;
  /** Milliseconds that a request waits for its copy; 60,000 if absent. */
  readonly waitMs?: number | undefined;
}

/** Returns the same name in every gateway. It cannot be guessed without the picture's name. */
const nameOf = (name: string, width: number): string =>
  `${createHash("sha256").update(`${name} ${width}`).digest("hex").slice(0, 32)}.webp`;

/** The error for a file that is not kept. */
export const missingFile = (): GatewayError =>
  new GatewayError("not_found", "There is no such file, or it is no longer kept.");

const refusal = (message: string, cause?: unknown): GatewayError =>
  new GatewayError("invalid_value", message, { param: "width", cause });

/** Creates the thumbnails of one process. */
export function createThumbnails(options: ThumbnailOptions): Thumbnails {
  const underWay = new Map<string, Promise<FileRow>>();
  const places = new Slots(atOnceMax + waitingMax);
  const inTurn = limitConcurrency(atOnceMax);
  return {
    async of(row, width) {
      const most = Math.min(bytesMax, options.budget.largestBytes);
      if (!row.mediaType.startsWith("image/") || row.bytes > most)
        throw refusal(
          `\`width\` works for pictures of up to ${Math.floor(most / 2 ** 20)} MiB only. Leave it out for the file itself.`,
        );
      const name = nameOf(row.name, width);
      const { database, clock } = options;
      const known = await findFile(database, name, new Date(clock.now()));
      if (known !== undefined && known.bytes > 0) return known;
      const made = getOrCreate(underWay, name, () => {
        if (!places.take()) throw tooMany();
        return inTurn(() => make(options, row, { name, width })).finally(() => {
          underWay.delete(name);
          places.give();
        });
      });
      return inTime(made, options.waitMs ?? waitMsMax);
    },
  };
}

const tooMany = () => overloaded("Too many thumbnails are being made now. Retry in a moment.");

/**
 * Gives up waiting, but not the work: libvips has been seen to hang (lovell/sharp issue 4486), and then its thread, and so its turn, are
 * lost. @throws GatewayError `overloaded` when the time is over
 */
async function inTime<Made>(made: Promise<Made>, waitMs: number): Promise<Made> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooMany()), waitMs);
  return Promise.race([made, over]).finally(() => clearTimeout(timer));
}

interface Wanted {
  readonly name: string;
  readonly width: number;
}

async function make(options: ThumbnailOptions, row: FileRow, wanted: Wanted): Promise<FileRow> {
  const source = await small(options, row, wanted.width);
  const { workspaceId, taskId } = row;
  const waitMs = row.expiresAt.getTime() - options.clock.now();
  const drafts = new FileDrafts(options, { workspaceId, taskId, waitMs });
  const made = await drafts.put({ name: wanted.name, purpose: "thumbnail", mediaType, source });
  // If the picture was deleted meanwhile, its copies were deleted before this one was there.
  const { database, clock } = options;
  if ((await findFile(database, row.name, new Date(clock.now()))) !== undefined) return made;
  await drafts.discard();
  throw missingFile();
}

/** @throws GatewayError `overloaded` where the picture has no room beside what is under way; as `read` and `resized` */
async function small(options: ThumbnailOptions, row: FileRow, width: number): Promise<Buffer> {
  const lease = options.budget.lease();
  try {
    lease.take(row.bytes);
    const room = (options.budget.largestBytes - row.bytes) * memoryPerByte;
    const picture = await read(options, row);
    return await resized(picture, width, { lease, decodedMax: Math.min(decodedBytesMax, room) });
  } finally {
    lease.release();
  }
}

/** Returns the whole picture. @throws GatewayError `not_found`; what the store fails with, also where it falls silent */
async function read({ openWhole, readMs = readMsMax }: ThumbnailOptions, row: FileRow) {
  const file = await openWhole(row);
  const late = setTimeout(
    () => file.stream.destroy(new Error(`a picture was not read within ${readMs} ms`)),
    readMs,
  );
  try {
    return await buffer(file.stream);
  } finally {
    clearTimeout(late);
    file.stream.destroy();
  }
}

/**
 * Returns the memory for decoding a picture. Most are decoded line by line. But of these kinds all pixels are in memory at once, and of a
 * progressive JPEG its coefficients, of two bytes each. (64 million pixels, measured: PNG 290 MB, with 16 bits 569 MB, JPEG 373 MB,
 * lossless WebP 247 MB.)
 */
function decodedBytes(
  picture: Buffer,
  { format, width, height, depth, isProgressive }: Metadata,
): number {
  // Marks the data of a lossless picture; in a lossy one these bytes occur only by chance.
  const isLossless = format === "webp" && picture.includes("VP8L", 0, "latin1");
  if (!isProgressive && !isLossless) return 0;
  return width * height * (format === "jpeg" ? 6 : depth === "ushort" ? 8 : 4);
}

interface Decoding {
  readonly lease: ByteLease;
  /** The most bytes that decoding may take. */
  readonly decodedMax: number;
}

async function resized(
  picture: Buffer,
  width: number,
  { lease, decodedMax }: Decoding,
): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  sharp.concurrency(1);
  // Not from a stream: a failing stream would end the process, and the wait for one that closes early would never end.
  const small = sharp(picture, { limitInputPixels: pixelsMax })
    .autoOrient()
    .resize({ width, withoutEnlargement: true })
    .webp({ quality, effort: 2 })
    .timeout({ seconds: secondsMax });
  try {
    const decoded = decodedBytes(picture, await small.metadata());
    if (decoded > decodedMax) throw new Error("decoding it would take too much memory");
    lease.take(Math.ceil(decoded / memoryPerByte));
    return await small.toBuffer();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw refusal(
      "No thumbnail can be made of this picture. Leave `width` out for the file itself.",
      error,
    );
  }
}

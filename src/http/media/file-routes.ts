/**
 * `GET /files/{name}`: produced files, whole or by range. No key is needed: the name is 128 random bits, and a browser's player sends
 * no headers. Expired files and uploads are not found. Rows STORE-01, STORE-03; RFC 9110 section 14.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { throttleCounter } from "../../base/throttle-counter.ts";
import { counted } from "../../base/counted.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import {
  createThumbnails,
  findFile,
  isFileName,
  missingFile,
  thumbnailWidths,
  type ByteRange,
  type FileRow,
  type OpenFile,
  type Thumbnails,
  type ThumbnailWidth,
} from "../../files/index.ts";
import { handle } from "../handle.ts";
import type { HttpServices } from "../services.ts";

/** Adds the route of produced files. */
export function registerFiles(app: FastifyInstance, services: HttpServices): void {
  const { database, files, images, bodies } = services;
  const troubles = createFileReporter(services);
  const thumbnails = createThumbnails({
    budget: bodies.budget,
    database,
    files,
    openWhole: (row) => openWhole({ files, troubles }, row, undefined),
    clock: images.clock,
  });
  const send: RouteHandlerMethod = (request, reply) =>
    sendFile({ ...services, thumbnails, troubles }, request, reply);
  handle(app, "GET /files/*", send, ["HEAD"]);
}

type FileServices = HttpServices & {
  readonly thumbnails: Thumbnails;
  readonly troubles: FileReporter;
};

interface FileReporter {
  /** Reports a file with `found` bytes instead of `wanted`; undefined: it is not in the store. @returns the caller's error */
  report(row: FileRow, found: number | undefined, wanted: number): GatewayError;
}

const reportEveryMs = 600_000;
const restoreFix =
  "put the file back from a copy: it was cut or replaced in the directory or bucket";

/** Logs each kind of trouble for the operator once in ten minutes: a page or a player may request the same files again and again. */
function createFileReporter({ log }: HttpServices): FileReporter {
  const [missed, cut] = [throttleCounter(reportEveryMs), throttleCounter(reportEveryMs)];
  const logProblem = (file: string, found: number | undefined, wanted: number): void => {
    if ((found === undefined ? missed : cut)() === undefined) return;
    if (found === undefined) {
      log.warn({ file }, "a file is in the database and not in this gateway's storage");
      return;
    }
    const fields = { file, found, wanted, fix: restoreFix };
    log.error(fields, "a file in the storage is not the one that was kept: it is not sent");
  };
  return {
    report({ name }, found, wanted) {
      logProblem(name, found, wanted);
      return missingFile();
    },
  };
}

async function sendFile(
  services: FileServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const whole = await findResult(services, request);
  const width = widthOf(request);
  const row = width === undefined ? whole : await services.thumbnails.of(whole, width);
  reply.headers(headersOf(row, services.images.clock.now()));
  if (listsEtag(request.headers["if-none-match"], etagOf(row))) return reply.code(304).send();
  const range = rangeFor(request, row);
  if (range === "unsatisfiable") {
    // Set on the raw response: an error drops the reply's own headers.
    reply.raw.setHeader("content-range", `bytes */${row.bytes}`);
    throw new GatewayError("range_not_satisfiable", `The file has ${counted(row.bytes, "byte")}.`);
  }
  if (range !== undefined) {
    reply.code(206);
    reply.header("content-range", `bytes ${range.start}-${range.end}/${row.bytes}`);
  }
  reply.header("content-length", range ? range.end - range.start + 1 : row.bytes);
  if (request.method === "HEAD") {
    await checkSize(services, row);
    return reply.send();
  }
  const file = await openWhole(services, row, range);
  // Fastify ends the stream if the client leaves, and waits if the client is slow.
  return reply.send(file.stream);
}

/** Opens a file and checks its size. The bytes of a file that was cut or replaced would not fill the announced length, or exceed it. */
async function openWhole(
  { files, troubles }: Pick<FileServices, "files" | "troubles">,
  row: FileRow,
  range: ByteRange | undefined,
): Promise<OpenFile> {
  const wanted = range ? range.end - range.start + 1 : row.bytes;
  const file = await files.open(row.name, range).catch((error: unknown) => {
    // The range fits the file that was stored, so this file was cut.
    if (error instanceof RangeError) return { bytes: 0, stream: undefined };
    throw error;
  });
  if (file?.bytes === wanted && file.stream !== undefined) return file;
  file?.stream?.destroy();
  throw troubles.report(row, file?.bytes, wanted);
}

/** Checks a file's size without opening it: opening a bucket's file would fetch all its bytes. */
async function checkSize(
  { files, troubles }: Pick<FileServices, "files" | "troubles">,
  row: FileRow,
): Promise<void> {
  const found = await files.size(row.name);
  if (found !== row.bytes) throw troubles.report(row, found, row.bytes);
}

async function findResult(services: HttpServices, request: FastifyRequest): Promise<FileRow> {
  const name = (request.params as { "*": string })["*"];
  if (!isFileName(name)) throw missingFile();
  const row = await findFile(services.database, name, new Date(services.images.clock.now()));
  // A row without bytes belongs to a file that is still being stored.
  if (row === undefined || row.purpose !== "result" || row.bytes === 0) throw missingFile();
  return row;
}

/** The width of the requested thumbnail; undefined for the file itself. */
function widthOf({ query }: FastifyRequest): ThumbnailWidth | undefined {
  const text = (query as Record<string, unknown>)["width"];
  if (text === undefined) return undefined;
  const width = thumbnailWidths.find((one) => String(one) === text);
  if (width !== undefined) return width;
  throw invalidValue("width", "must be 160, 320 or 640");
}

function headersOf(row: FileRow, nowMs: number): Record<string, string> {
  const secondsLeft = Math.max(0, Math.floor((row.expiresAt.getTime() - nowMs) / 1000));
  return {
    "content-type": row.mediaType,
    "accept-ranges": "bytes",
    etag: etagOf(row),
    "last-modified": row.createdAt.toUTCString(),
    "cache-control": `private, max-age=${secondsLeft}, immutable`,
    "x-content-type-options": "nosniff",
    "content-disposition": `inline; filename="${row.name}"`,
  };
}

/** The name is the tag, because a name always has the same bytes. */
const etagOf = (row: FileRow): string => `"${row.name}"`;

const listsEtag = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === tag);

/** Returns the requested range. Undefined means the whole file, also for several ranges and for other units. */
function rangeFor(request: FastifyRequest, row: FileRow): ByteRange | "unsatisfiable" | undefined {
  if (!isCurrent(request.headers["if-range"], row)) return undefined;
  const match = /^bytes=(\d*)-(\d*)$/i.exec(request.headers.range?.trim() ?? "");
  if (!match) return undefined;
  const [, first = "", last = ""] = match;
  const end = row.bytes - 1;
  if (first === "") {
    if (last === "") return undefined;
    const count = Number(last);
    return count === 0 ? "unsatisfiable" : { start: Math.max(0, row.bytes - count), end };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start > end) return "unsatisfiable";
  return { start, end: last === "" ? end : Math.min(Number(last), end) };
}

/** True if the caller's part is of this file, by its tag or its creation time. */
function isCurrent(ifRange: string | string[] | undefined, row: FileRow): boolean {
  return (
    ifRange === undefined || ifRange === etagOf(row) || ifRange === row.createdAt.toUTCString()
  );
}

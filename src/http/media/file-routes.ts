/**
 * `GET /files/{name}`: produced files, in whole or by range. No key is asked: the name is 128 random bits, and a browser's
 * player sends no headers. What has expired, and what was uploaded, is not there. Rows STORE-01, STORE-03; RFC 9110 section 14.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { counted } from "../../base/counted.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import {
  createThumbnails,
  findFile,
  isFileName,
  thumbnailWidths,
  type ByteRange,
  type FileRow,
  type Thumbnails,
  type ThumbnailWidth,
} from "../../files/index.ts";
import { handle } from "../handle.ts";
import type { HttpServices } from "../services.ts";

/** Adds the route of produced files. */
export function registerFiles(app: FastifyInstance, services: HttpServices): void {
  const { database, files, images } = services;
  const thumbnails = createThumbnails({ database, files, clock: images.clock });
  const notHere = notHereWarning(services);
  const send: RouteHandlerMethod = (request, reply) =>
    sendFile({ ...services, thumbnails, notHere }, request, reply);
  handle(app, "GET /files/*", send, ["HEAD"]);
}

type FileServices = HttpServices & {
  readonly thumbnails: Thumbnails;
  readonly notHere: (row: FileRow) => void;
};

const warnedEveryMs = 600_000;

/** Tells an operator, once in ten minutes, that a file which the database names is not in the store. */
function notHereWarning({ log, images: { clock } }: HttpServices): (row: FileRow) => void {
  let warnedMs = -Infinity;
  return ({ name }) => {
    const nowMs = clock.now();
    if (nowMs - warnedMs < warnedEveryMs) return;
    warnedMs = nowMs;
    log.warn({ file: name }, "a file is in the database and not in this gateway's storage");
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
  reply.header("x-request-id", request.id);
  if (listsTag(request.headers["if-none-match"], tagOf(row))) return reply.code(304).send();
  const range = rangeFor(request, row);
  if (range === "unsatisfiable") {
    // On the response itself: of the reply's own headers an error keeps none.
    reply.raw.setHeader("content-range", `bytes */${row.bytes}`);
    throw new GatewayError("range_not_satisfiable", `The file has ${counted(row.bytes, "byte")}.`);
  }
  if (range !== undefined) {
    reply.code(206);
    reply.header("content-range", `bytes ${range.start}-${range.end}/${row.bytes}`);
  }
  reply.header("content-length", range ? range.end - range.start + 1 : row.bytes);
  if (request.method === "HEAD") return reply.send();
  const file = await services.files.open(row.name, range);
  if (file === undefined) {
    services.notHere(row);
    throw missing();
  }
  // Fastify ends the stream where the client leaves, and waits where it is slow.
  return reply.send(file.stream);
}

async function findResult(services: HttpServices, request: FastifyRequest): Promise<FileRow> {
  const name = (request.params as { "*": string })["*"];
  if (!isFileName(name)) throw missing();
  const row = await findFile(services.database, name, new Date(services.images.clock.now()));
  // A row without bytes is of a file that is still on its way.
  if (row === undefined || row.purpose !== "result" || row.bytes === 0) throw missing();
  return row;
}

/** Of a picture a small copy may be asked for. */
function widthOf({ query }: FastifyRequest): ThumbnailWidth | undefined {
  const text = (query as Record<string, unknown>)["width"];
  if (text === undefined) return undefined;
  const width = thumbnailWidths.find((one) => String(one) === text);
  if (width !== undefined) return width;
  throw invalidValue("width", "is 160, 320 or 640");
}

const missing = (): GatewayError =>
  new GatewayError("not_found", "There is no such file, or it is no longer kept.");

function headersOf(row: FileRow, nowMs: number): Record<string, string> {
  const secondsLeft = Math.max(0, Math.floor((row.expiresAt.getTime() - nowMs) / 1000));
  return {
    "content-type": row.mediaType,
    "accept-ranges": "bytes",
    etag: tagOf(row),
    "last-modified": row.createdAt.toUTCString(),
    "cache-control": `private, max-age=${secondsLeft}, immutable`,
    "x-content-type-options": "nosniff",
    "content-disposition": `inline; filename="${row.name}"`,
  };
}

/** A name never leads to other bytes. */
const tagOf = (row: FileRow): string => `"${row.name}"`;

const listsTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === tag);

/** The range that is asked for; undefined for the whole file, which also answers several ranges and other units. */
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

/** Whether the part that the caller has is of this file: its tag, or the moment it was made. */
function isCurrent(ifRange: string | string[] | undefined, row: FileRow): boolean {
  return ifRange === undefined || ifRange === tagOf(row) || ifRange === row.createdAt.toUTCString();
}

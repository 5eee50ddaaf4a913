/**
 * The files that vendors make, behind addresses like those of their storage: signed, without a key, for a day.
 * What a script wants to go wrong with the download goes wrong here.
 */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { cut, untilGone } from "./reply.ts";
import type { ArtifactScript } from "./script-fields.ts";

export interface Artifact {
  /** Media type, as `video/mp4`. */
  readonly type: string;
  /** Without a dot. */
  readonly extension: string;
  /** The bytes, made anew for each download; the same each time. */
  make(): Buffer;
  /** Bytes that are kept in memory for it; none by default. */
  readonly weight?: number;
}

export interface Artifacts {
  /** Keeps a file and returns its path below the sandbox's address. */
  publish(vendor: string, artifact: Artifact, script: ArtifactScript | undefined): string;
  /** Answers a request for one of the files; the reply's body on errors is XML, as of the vendors' storage. */
  serve(download: Download): Promise<void>;
}

export interface Download {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Fires when the client is gone. */
  readonly left: AbortSignal;
}

interface Kept {
  readonly artifact: Artifact;
  readonly script: ArtifactScript;
  readonly expiresSeconds: number;
  downloads: number;
}

const filesRemembered = 20_000;
const bytesRemembered = 256 * 1024 * 1024;
const validSeconds = 24 * 60 * 60;

export function createArtifacts(): Artifacts {
  const files = new Map<string, Kept>();
  let weight = 0;
  const secret = randomBytes(32);
  const signature = (path: string, expires: string) =>
    createHmac("sha256", secret).update(`${path} ${expires}`).digest("base64url");

  /** The file a request asks for; what is wrong with the request otherwise. */
  function find({ request, url }: Download): Kept | StorageError {
    const { searchParams } = url;
    // The vendors' storage takes one proof only. Whoever sends the key along leaks it to another host.
    if (request.headers.authorization !== undefined) {
      return { status: 400, code: "InvalidArgument" };
    }
    const expires = searchParams.get("Expires") ?? "";
    if (searchParams.get("Signature") !== signature(url.pathname, expires)) {
      return { status: 403, code: "SignatureDoesNotMatch" };
    }
    const kept = files.get(url.pathname);
    if (!kept) return { status: 404, code: "NoSuchKey" };
    const isOver = Date.now() / 1000 > kept.expiresSeconds;
    return isOver ? { status: 403, code: "AccessDenied" } : kept;
  }

  return {
    publish(vendor, artifact, script = {}) {
      const path = `/${vendor}/files/${randomUUID()}.${artifact.extension}`;
      const expiresSeconds = Math.floor(Date.now() / 1000) + validSeconds;
      files.set(path, { artifact, script, expiresSeconds, downloads: 0 });
      weight += artifact.weight ?? 0;
      while (files.size > filesRemembered || (weight > bytesRemembered && files.size > 1)) {
        const [oldest, { artifact: dropped }] = files.entries().next().value!;
        files.delete(oldest);
        weight -= dropped.weight ?? 0;
      }
      const expires = String(expiresSeconds);
      return `${path}?Expires=${expires}&Signature=${signature(path, expires)}`;
    },
    async serve(download) {
      const found = find(download);
      if ("code" in found) return sendError(download.response, found);
      found.downloads += 1;
      const { times } = found.script;
      const isCalm = times !== undefined && found.downloads > times;
      await send(download, found.artifact, isCalm ? {} : found.script);
    },
  };
}

interface StorageError {
  readonly status: number;
  readonly code: string;
}

function sendError(response: ServerResponse, { status, code }: StorageError): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/xml");
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>The sandbox's storage refuses.</Message></Error>`,
  );
}

async function send(download: Download, artifact: Artifact, script: ArtifactScript): Promise<void> {
  const { request, response, left } = download;
  if (script.delay_ms !== undefined) await sleep(script.delay_ms, undefined, { signal: left });
  if (script.hang) return untilGone(left);
  if (script.redirect !== undefined) {
    response.statusCode = 302;
    response.setHeader("location", script.redirect);
    response.end();
    return;
  }
  if (script.status !== undefined) {
    return sendError(response, { status: script.status, code: "InternalError" });
  }
  const file = artifact.make();
  const length = script.flood ? Infinity : Math.max(file.length, script.padded_bytes ?? 0);
  response.setHeader("content-type", script.content_type ?? artifact.type);
  if (length !== Infinity) response.setHeader("content-length", length);
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  await sendBytes(download, { file, length, script });
}

interface Content {
  readonly file: Buffer;
  /** Beyond the file come zeros. */
  readonly length: number;
  readonly script: ArtifactScript;
}

const nothing = Buffer.alloc(64 * 1024);

/** The content up to where the script breaks it off, no faster than the client reads. */
async function sendBytes({ response, left }: Download, content: Content): Promise<void> {
  const { file, length, script } = content;
  const breakAt = script.cut_after_bytes ?? script.hang_after_bytes ?? Infinity;
  const end = Math.min(length, breakAt);
  let sent = 0;
  while (sent < end && !left.aborted) {
    const source = sent < file.length ? file.subarray(sent) : nothing;
    const piece = source.subarray(0, Math.min(source.length, nothing.length, end - sent));
    sent += piece.length;
    if (!response.write(piece)) await once(response, "drain", { signal: left });
  }
  if (sent < length && breakAt <= sent) {
    response.flushHeaders();
    await new Promise((resolve) => response.write("", resolve));
    if (script.cut_after_bytes !== undefined) cut(response);
    else await untilGone(left);
    return;
  }
  response.end();
}

/**
 * Downloads a file that a vendor has made into our own storage. The address is checked and pinned at every redirect. Size and time are
 * bounded, the type comes from the bytes, and a cut is detected. The file is never whole in memory. docs/tasks.md; trap T77.
 */
import type { Client, Dispatcher } from "undici";
import { GatewayError } from "../base/errors.ts";
import type { Provider } from "../catalog/index.ts";
import type { DialRoute, DialRouteResolver } from "./dial/dial-route.ts";
import { ExchangeError, isUnreached, toExchangeError } from "./exchange-error.ts";
import {
  pinnedClient,
  resolveToConnect,
  type CheckedUrl,
  type Resolve,
} from "./guarded-address.ts";
import { isPage, mediaTypeBytes, mediaTypeOf } from "../base/media-type.ts";

export interface DownloadRequest {
  readonly url: string;
  readonly kind: "image" | "video";
  readonly bytesMax: number;
  /** Timeout, in ms, of each connection, each head, and each pause in the body. */
  readonly idleMs: number;
  /** Timeout of the whole download, in ms. */
  readonly totalMs: number;
  /** Aborts the download. */
  readonly signal?: AbortSignal | undefined;
  /** The provider's base URL: its host and port may be private, because the operator set them. */
  readonly providerUrl: string | undefined;
  /** The provider of the file; for `dialRoutes`. */
  readonly provider?: Provider | undefined;
  /** The routes to hosts: through the provider's proxy, and with its TLS settings on its own host. Directly if absent. */
  readonly dialRoutes?: DialRouteResolver | undefined;
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve | undefined;
}

/** Stores the bytes, for example with `FileStore.put`; must read them to the end or fail. */
export type DownloadSink<Kept> = (
  body: AsyncIterable<Uint8Array>,
  mediaType: string,
) => Promise<Kept>;

/** The reason why a download failed. */
export type DownloadFailure =
  | "address"
  | "redirects"
  | "status"
  | "media_type"
  | "too_large"
  | "connect"
  | "timeout"
  | "cut";

/** The file could not be fetched, or is not of the expected kind. The message never contains the address, which may hold a signature. */
export class DownloadError extends Error {
  override name = "DownloadError";
  readonly failure: DownloadFailure;
  /** True if a retry may succeed. */
  readonly retryable: boolean;
  /** True if the server says that the file is not there, or not for us: it may come within seconds, or never. */
  readonly isMissing: boolean;

  constructor(failure: DownloadFailure, message: string, extra: DownloadErrorExtra = {}) {
    super(message, { cause: extra.cause });
    this.failure = failure;
    this.retryable = extra.retryable ?? ["connect", "timeout", "cut"].includes(failure);
    this.isMissing = extra.isMissing ?? false;
  }
}

interface DownloadErrorExtra {
  readonly retryable?: boolean;
  readonly isMissing?: boolean;
  readonly cause?: unknown;
}

const redirectsMax = 3;
/** An address signed with temporary credentials contains their token of some thousand characters. */
const addressCharactersMax = 8192;

/**
 * Downloads a file into `sink`, and returns the sink's result.
 * @throws DownloadError; the sink's errors
 */
export async function download<Kept>(
  request: DownloadRequest,
  sink: DownloadSink<Kept>,
): Promise<Kept> {
  const deadline = new AbortController();
  const timer = setTimeout(
    () =>
      deadline.abort(
        new ExchangeError("total_timeout", `the file was not here after ${request.totalMs} ms`),
      ),
    request.totalMs,
  );
  const signal = AbortSignal.any([deadline.signal, request.signal ?? deadline.signal]);
  let client: Client | undefined;
  try {
    let url = addressOf(request);
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      const checked = await check(url, request);
      client = pinnedClient(checked, request.idleMs, dialRouteTo(checked.url, request));
      const answer = await open(client, checked, { request, signal });
      const next = redirectTarget(answer, checked.url);
      if (next === undefined) return await receive(answer, request, sink);
      await client.destroy();
      url = next;
    }
    throw new DownloadError("redirects", `there were more than ${redirectsMax} redirects`);
  } finally {
    clearTimeout(timer);
    await client?.destroy();
  }
}

/** The whole address: local servers, such as SGLang, give only its path on their host. */
const addressOf = ({ url, provider }: DownloadRequest): string =>
  provider && url.startsWith("/") && URL.canParse(url, provider.baseUrl)
    ? new URL(url, provider.baseUrl).href
    : url;

async function check(text: string, request: DownloadRequest): Promise<CheckedUrl> {
  const isOwn = URL.canParse(text) && isOfProvider(text, request);
  try {
    return await resolveToConnect(text, {
      https: false,
      allowPrivate: request.allowPrivate || isOwn,
      param: "the file's address",
      charactersMax: addressCharactersMax,
      byVendor: true,
      owner: request.provider?.id,
      resolve: request.resolve,
    });
  } catch (error) {
    if (error instanceof GatewayError)
      // As in all other failures, the reason ends the sentence of its reader.
      throw new DownloadError("address", error.message.replace(/\.$/, ""), { cause: error });
    throw toDownloadError(error);
  }
}

const isOfProvider = (text: string, { providerUrl: own }: DownloadRequest): boolean =>
  own !== undefined && serverOf(text) === serverOf(own);

/** The provider's certificate authorities and client certificate are only for its own server. */
function dialRouteTo({ href, origin }: URL, request: DownloadRequest): DialRoute | undefined {
  const dialRoute = request.dialRoutes?.dialRoute(origin, request.provider);
  return dialRoute && (isOfProvider(href, request) ? dialRoute : { ...dialRoute, tls: undefined });
}

/** Returns host and port: another port of the same host is another server, which the operator did not name. */
function serverOf(text: string): string {
  const { protocol, hostname, port } = new URL(text);
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

interface OpenContext {
  readonly request: DownloadRequest;
  readonly signal: AbortSignal;
}

async function open(
  client: Client,
  { url }: CheckedUrl,
  { request, signal }: OpenContext,
): Promise<Dispatcher.ResponseData> {
  try {
    return await client.request({
      method: "GET",
      path: url.pathname + url.search,
      headers: { "user-agent": "tollgate", accept: "*/*", "accept-encoding": "identity" },
      signal,
      headersTimeout: request.idleMs,
      bodyTimeout: request.idleMs,
    });
  } catch (error) {
    throw toDownloadError(error);
  }
}

function redirectTarget(answer: Dispatcher.ResponseData, base: URL): string | undefined {
  if (![301, 302, 303, 307, 308].includes(answer.statusCode)) return undefined;
  const location = answer.headers["location"];
  if (typeof location !== "string" || !URL.canParse(location, base.href))
    throw new DownloadError("redirects", "a redirect named no address");
  return new URL(location, base.href).href;
}

async function receive<Kept>(
  answer: Dispatcher.ResponseData,
  request: DownloadRequest,
  sink: DownloadSink<Kept>,
): Promise<Kept> {
  checkHead(answer, request.bytesMax);
  const source = read(answer.body, request.bytesMax);
  const { head, mediaType } = await readHead(source);
  // The file may still be on its way, or a failing server may answer 200 with an error page: retry. Another type of file is final.
  if (head.length === 0)
    throw new DownloadError("media_type", "the file is empty", { retryable: true });
  if (mediaType === undefined || !mediaType.startsWith(`${request.kind}/`)) {
    const retryable = mediaType === undefined && isPage(head, answer.headers["content-type"]);
    const found = retryable ? "a page" : mediaType;
    const message = `the file is no ${request.kind}${found === undefined ? "" : `, but ${found}`}`;
    throw new DownloadError("media_type", message, { retryable });
  }
  const failures: unknown[] = [];
  try {
    return await sink(joined(head, source, failures), mediaType);
  } catch (error) {
    // The error that broke the body is the reason, whatever error the sink makes of it.
    throw failures[0] ?? error;
  }
}

/**
 * Retryable statuses besides 5xx. Object stores may miss a new file for some seconds: they answer 404, or 403 if listing is not allowed. An
 * expired signature is 403 too; its vendor signs a new address when polled again.
 */
const mayBeHereLater: ReadonlySet<number> = new Set([403, 404, 408, 425, 429]);

function checkHead({ statusCode, headers }: Dispatcher.ResponseData, bytesMax: number): void {
  if (statusCode !== 200)
    throw new DownloadError("status", `the file's server answered ${statusCode}`, {
      retryable: statusCode >= 500 || mayBeHereLater.has(statusCode),
      isMissing: statusCode === 403 || statusCode === 404,
    });
  const length = headers["content-length"];
  if (Number(length) > bytesMax) throw tooLarge(bytesMax);
  // A body without a length ends with the connection: a cut would look like its end.
  if (length === undefined && headers["transfer-encoding"] === undefined)
    throw new DownloadError("cut", "the file's server did not tell where the file ends");
}

const tooLarge = (bytesMax: number): DownloadError =>
  new DownloadError("too_large", `the file is larger than ${bytesMax} bytes`);

/** Yields the body's chunks and bounds their sum; errors of the body become a DownloadError. */
async function* read(
  body: Dispatcher.ResponseData["body"],
  bytesMax: number,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      yield chunk;
    }
  } catch (error) {
    throw toDownloadError(error);
  }
}

async function readHead(
  source: AsyncGenerator<Buffer, void, undefined>,
): Promise<{ head: Buffer; mediaType: string | undefined }> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < mediaTypeBytes) {
    const next = await source.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, mediaType: mediaTypeOf(head) };
}

async function* joined(
  head: Buffer,
  source: AsyncIterable<Buffer>,
  failures: unknown[],
): AsyncGenerator<Buffer, void, undefined> {
  yield head;
  const chunks = source[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => {
      failures.push(error);
      throw error;
    });
    if (next.done === true) return;
    yield next.value;
  }
}

function toDownloadError(error: unknown): DownloadError {
  if (error instanceof DownloadError) return error;
  const known = toExchangeError(
    error instanceof Error ? error : new Error(String(error)),
    "file's server",
  );
  const failure: DownloadFailure = isUnreached(known)
    ? "connect"
    : known.failure.endsWith("timeout")
      ? "timeout"
      : "cut";
  return new DownloadError(failure, known.message, { cause: known });
}

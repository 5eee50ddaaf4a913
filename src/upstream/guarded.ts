/**
 * One HTTP request to an untrusted address, such as a callback: checked and pinned, without redirects, and with an answer that is bounded
 * in time and size. Rows HOOK-07, HOOK-08; trap T77.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { ChunkBuffer } from "../base/chunk-buffer.ts";
import type { DialRouteResolver } from "./dial/dial-route.ts";
import { pinnedClient, resolveToConnect, type CheckRule } from "./guarded-address.ts";
import { ExchangeError, toExchangeError } from "./exchange-error.ts";

export interface GuardedRequest extends CheckRule {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Milliseconds for all of resolving, connecting, sending, and the answer's head. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body to keep; the rest is not read. */
  readonly responseBytesMax: number;
  /** The route to the host; directly if absent. */
  readonly dialRoutes?: DialRouteResolver | undefined;
  /** Called at the last moment before bytes are sent; false cancels the request. */
  readonly maySend?: (() => boolean) | undefined;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The part of the body that arrived within the time and the size. */
  readonly body: Buffer;
  /** False if there was more. */
  readonly whole: boolean;
}

/** Nothing was sent, because `maySend` returned false. */
export class NotSentError extends Error {
  override name = "NotSentError";
}

/**
 * Sends a request and returns the answer, also a redirect. Once the head has arrived, it counts as an answer, whatever the body does.
 * @throws GatewayError `invalid_value` for an address that is refused; NotSentError; ExchangeError if there was no answer
 */
export async function guardedRequest(request: GuardedRequest): Promise<GuardedAnswer> {
  const ending = new AbortController();
  const timer = setTimeout(
    () => ending.abort(new ExchangeError("total_timeout", noAnswer(request.timeoutMs))),
    request.timeoutMs,
  );
  // Not AbortSignal.any: its signal, with all listeners, would live as long as the caller's signal.
  const stop = () => ending.abort(request.signal?.reason);
  request.signal?.addEventListener("abort", stop, { once: true });
  if (request.signal?.aborted === true) stop();
  try {
    return await exchange(request, ending.signal);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", stop);
  }
}

const noAnswer = (timeoutMs: number): string => `no answer within ${timeoutMs} ms`;

async function exchange(request: GuardedRequest, signal: AbortSignal): Promise<GuardedAnswer> {
  const checked = await orAborted(resolveToConnect(request.url, request), signal);
  let isLate = false;
  const maySend = () => !(isLate = request.maySend?.() === false);
  const dialRoute = request.dialRoutes?.dialRoute(checked.url.origin);
  const client = pinnedClient(checked, request.timeoutMs, dialRoute, maySend);
  try {
    const answer = await client.request({
      method: request.method,
      path: checked.url.pathname + checked.url.search,
      headers: { ...request.headers },
      body: request.body ?? null,
      signal,
      // Covered by `timeoutMs`.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const body = await readSome(answer.body, request.responseBytesMax);
    return { status: answer.statusCode, headers: answer.headers, ...body };
  } catch (error) {
    if (isLate) throw new NotSentError("it might not be sent any more", { cause: error });
    throw toExchangeError(error instanceof Error ? error : new Error(String(error)), "receiver");
  } finally {
    await client.destroy();
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
    ),
  ]);
}

async function readSome(
  body: Dispatcher.ResponseData["body"],
  bytesMax: number,
): Promise<{ body: Buffer; whole: boolean }> {
  const pieces = new ChunkBuffer();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      pieces.add(chunk);
      if (pieces.length > bytesMax)
        return { body: pieces.join().subarray(0, bytesMax), whole: false };
    }
  } catch {
    return { body: pieces.join(), whole: false };
  }
  return { body: pieces.join(), whole: true };
}

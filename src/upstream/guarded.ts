/**
 * One HTTP request to an address that a stranger named, such as a callback: checked, pinned, redirects not followed, answer
 * bounded in time and size. Rows HOOK-07, HOOK-08; trap T77.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { Pieces } from "../base/pieces.ts";
import type { WaysTo } from "./dial/way.ts";
import { pinnedClient, resolveToConnect, type CheckRule } from "./guarded-address.ts";
import { ExchangeError, toExchangeError } from "./exchange-error.ts";

export interface GuardedRequest extends CheckRule {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** For all of it: resolving, connecting, sending, and the answer's head. */
  readonly timeoutMs: number;
  /** How much of the answer's body is kept; the rest is not read. */
  readonly responseBytesMax: number;
  /** How its host is reached; directly if absent. */
  readonly ways?: WaysTo | undefined;
  /** Asked at the last moment before bytes leave. */
  readonly mayLeave?: (() => boolean) | undefined;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What of the body arrived within the time and the bound. */
  readonly body: Buffer;
  /** False where there was more of it. */
  readonly whole: boolean;
}

/** Nothing was sent: by the time it could be, `mayLeave` said no. */
export class NotSentError extends Error {
  override name = "NotSentError";
}

/**
 * Sends a request and returns the answer, a redirect too. Once its head is here it is an answer, however its body goes on.
 * @throws GatewayError `invalid_value` for an address that is refused; NotSentError; ExchangeError where no answer came
 */
export async function guardedRequest(request: GuardedRequest): Promise<GuardedAnswer> {
  const ending = new AbortController();
  const timer = setTimeout(
    () => ending.abort(new ExchangeError("total_timeout", noAnswer(request.timeoutMs))),
    request.timeoutMs,
  );
  // Not AbortSignal.any: while the caller's signal lives, a signal that is made of it stays, with whoever listens to it.
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
  const mayLeave = () => !(isLate = request.mayLeave?.() === false);
  const way = request.ways?.way(checked.url.origin);
  const client = pinnedClient(checked, request.timeoutMs, way, mayLeave);
  try {
    const answer = await client.request({
      method: request.method,
      path: checked.url.pathname + checked.url.search,
      headers: { ...request.headers },
      body: request.body ?? null,
      signal,
      // The one deadline covers them.
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
  const pieces = new Pieces();
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

/** A hook at a URL of the operator: one signed POST per event, over kept connections. docs/hooks.md. */
import type { Clock } from "../base/clock.ts";
import { reasonOf } from "../base/errors.ts";
import { signedHeaders } from "../base/signature.ts";
import { ExchangeError, openExchange, type Pools } from "../upstream/index.ts";
import { HookFailedError } from "./answer.ts";
import type { HookTransport, HookRequest } from "./transport.ts";

interface HttpHookOptions {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly name: string;
  /** A hook before a call changes nothing, so it may be asked twice; one after a call hears each call once. */
  readonly at: "before" | "after";
  readonly pools: Pools;
  readonly clock: Clock;
}

/** Asks a hook by HTTP. The URL is the operator's own, like a provider's, so it may be private. Redirects are failures. */
export function httpHook(options: HttpHookOptions): HookTransport {
  const { url, secret, at, pools, clock } = options;
  const { origin, pathname, search } = new URL(url);
  return {
    async ask({ id, text, timeoutMs, answerBytesMax }: HookRequest) {
      const eventId = eventIdOf(options.name, id);
      const open = (attempt: number) =>
        openExchange(pools.get(origin, timeoutMs), {
          path: pathname + search,
          headers: signedHeaders({ eventId, text, attempt, nowMs: clock.now() }, [secret]),
          body: text,
          firstByteMs: timeoutMs,
          idleMs: timeoutMs,
          totalMs: timeoutMs,
        });
      let exchange = open(1);
      // The timeout includes the time to connect.
      const timer = setTimeout(() => exchange.abort(), timeoutMs);
      try {
        const answer = await exchange.answer.catch((error: unknown) => {
          if (at === "after" || !isCut(error)) throw error;
          exchange = open(2);
          return exchange.answer;
        });
        if (answer.status < 200 || answer.status > 299) {
          answer.abort();
          throw new HookFailedError(`it answered with status ${answer.status}`);
        }
        return await answer.readAll(answerBytesMax);
      } catch (error) {
        if (error instanceof HookFailedError) throw error;
        const why = isLate(error) ? `no answer within ${timeoutMs} ms` : reasonOf(error);
        throw new HookFailedError(why, { cause: error });
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => Promise.resolve(),
  };
}

/**
 * Returns an id for the call's event at this hook: two hooks at one receiver get different ones, because it drops an id that it knows. It
 * has no dot, because Standard Webhooks separates signed parts by dots; names have no tilde.
 */
const eventIdOf = (name: string, callId: string): string =>
  `${callId}_${name.replaceAll(".", "~")}`;

/** The server closed the connection before it answered, perhaps because it had been idle when the request was sent. */
const isCut = (error: unknown): boolean =>
  error instanceof ExchangeError && error.failure === "broken";

/** Only the timeout aborts an exchange here; its own limits are of the same length. */
const isLate = (error: unknown): boolean =>
  error instanceof ExchangeError && /^aborted$|timeout$/.test(error.failure);

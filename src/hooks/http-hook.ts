/** A hook behind an address of the operator's: one signed POST a question, over connections that are kept. docs/hooks.md. */
import type { Clock } from "../base/clock.ts";
import { signedHeaders } from "../base/signature.ts";
import { openExchange, type Pools } from "../upstream/index.ts";
import { HookFailedError } from "./answer.ts";
import type { Asker, Question } from "./asker.ts";

interface HttpHookOptions {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly pools: Pools;
  readonly clock: Clock;
}

/** Asks by HTTP. The address is the operator's own, as a provider's is: it may be a private one. Redirects are failures. */
export function httpHook({ url, secret, pools, clock }: HttpHookOptions): Asker {
  const { origin, pathname, search } = new URL(url);
  return {
    async ask({ id: eventId, text, timeoutMs, answerBytesMax }: Question) {
      const headers = signedHeaders({ eventId, text, attempt: 1, nowMs: clock.now() }, [secret]);
      const exchange = openExchange(pools.get(origin, timeoutMs), {
        path: pathname + search,
        headers,
        body: text,
        firstByteMs: timeoutMs,
        idleMs: timeoutMs,
        totalMs: timeoutMs,
      });
      // Also the time in which a connection is made counts.
      const timer = setTimeout(() => exchange.abort(), timeoutMs);
      try {
        const answer = await exchange.answer;
        if (answer.status < 200 || answer.status > 299) {
          answer.abort();
          throw new HookFailedError(`it answered with status ${answer.status}`);
        }
        return await answer.readAll(answerBytesMax);
      } catch (error) {
        if (error instanceof HookFailedError) throw error;
        throw new HookFailedError(messageOf(error), { cause: error });
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => Promise.resolve(),
  };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : "it failed";

/**
 * The limits of a key: requests and tokens a minute. Off unless the key has some; then every answer tells what is left, under
 * the names that OpenAI's clients read. Each process counts its own calls. LIM-17; docs/decisions.md "Rate limits".
 */
import { GatewayError } from "../base/errors.ts";
import type { Usage } from "../base/usage.ts";
import type { Caller, RateLimits } from "../tenancy/index.ts";
import { MinuteWindow } from "./rate-limit-window.ts";

type LimitedCaller = Pick<Caller, "keyId" | "rateLimits">;
type Tell = (headers: Readonly<Record<string, string>>) => void;

/** One request of a key with limits. */
export interface RateUse {
  /** Takes the tokens that the request will surely use. @throws GatewayError `rate_limit_exceeded` */
  takeTokens(inputEstimate: number): void;
  /** Puts what was used in place of what was taken: nothing where the call failed. */
  settle(usage: Usage | undefined): void;
}

export interface RateLimiter {
  /**
   * Counts a request, where the key has limits. `tell` is called with the headers of its answer, a refusal's too, and again
   * when they change. @throws GatewayError `rate_limit_exceeded`
   */
  admit(caller: LimitedCaller, tell: Tell): RateUse | undefined;
  /** Calls `listener` with each use that is counted here, for the gateway's other processes. */
  onUse(listener: (use: KeyUse) => void): void;
  /** Counts what keys used in the gateway's other processes. */
  usedElsewhere(uses: readonly KeyUse[]): void;
}

/** What a key used at once; tokens may be negative, as a correction. */
export interface KeyUse {
  readonly keyId: string;
  readonly requests: number;
  readonly tokens: number;
}

/** What a key has used. */
interface Windows {
  readonly requests: MinuteWindow;
  readonly tokens: MinuteWindow;
}

/** Keys with limits that are remembered; above it those are forgotten that have used nothing lately. */
const keysMax = 10_000;

/** A limiter that has seen nothing. `nowMs` is a clock that only goes forward, `performance.now` where absent. */
export function createRateLimiter(nowMs: () => number = () => performance.now()): RateLimiter {
  const keys = new Map<string, Windows>();
  let listener: ((use: KeyUse) => void) | undefined;

  function useOf(keyId: string): Windows {
    let use = keys.get(keyId);
    if (use === undefined) {
      if (keys.size >= keysMax) forgetIdle(keys, nowMs());
      use = { requests: new MinuteWindow(), tokens: new MinuteWindow() };
      keys.set(keyId, use);
    }
    return use;
  }

  return {
    admit({ keyId, rateLimits }, tell) {
      if (rateLimits === null) return undefined;
      const use = useOf(keyId);
      const tellNow = () => tell(headersOf(rateLimits, use, nowMs()));
      const { requestsPerMinute: limit } = rateLimits;
      try {
        if (limit !== null) {
          take(use.requests, { amount: 1, limit, unit: "requests" }, nowMs());
          listener?.({ keyId, requests: 1, tokens: 0 });
        }
        const used = (tokens: number): void => listener?.({ keyId, requests: 0, tokens });
        return tokensOf(use, rateLimits.tokensPerMinute, { nowMs, tellNow, used });
      } finally {
        tellNow();
      }
    },
    onUse: (handler) => void (listener = handler),
    usedElsewhere(uses) {
      for (const { keyId, requests, tokens } of uses) {
        const use = useOf(keyId);
        if (requests !== 0) use.requests.add(requests, nowMs());
        if (tokens !== 0) use.tokens.add(tokens, nowMs());
      }
    },
  };
}

interface Counting {
  readonly nowMs: () => number;
  readonly tellNow: () => void;
  /** Tokens were counted. */
  readonly used: (tokens: number) => void;
}

function tokensOf(
  { tokens }: Windows,
  limit: number | null,
  { nowMs, tellNow, used: counted }: Counting,
): RateUse {
  let taken = 0;
  return {
    takeTokens(inputEstimate) {
      if (limit === null) return;
      try {
        take(tokens, { amount: inputEstimate, limit, unit: "tokens" }, nowMs());
        taken = inputEstimate;
        counted(inputEstimate);
      } finally {
        tellNow();
      }
    },
    settle(usage) {
      if (limit === null) return;
      const used = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
      tokens.add(used - taken, nowMs());
      if (used !== taken) counted(used - taken);
      taken = used;
    },
  };
}

interface Taken {
  readonly amount: number;
  readonly limit: number;
  readonly unit: "requests" | "tokens";
}

/** @throws GatewayError where there is less left */
function take(window: MinuteWindow, { amount, limit, unit }: Taken, nowMs: number): void {
  // What was used up may be above the limit: output is counted when it is there.
  if (window.used(nowMs) + amount <= limit && window.used(nowMs) < limit) {
    window.add(amount, nowMs);
    return;
  }
  if (amount > limit) {
    const message = `This request has about ${amount} input tokens; the key's limit is ${limit} tokens a minute.`;
    throw new GatewayError("rate_limit_exceeded", message, {
      retryAfterSeconds: 60,
      shouldRetry: false,
    });
  }
  const waitMs = window.waitMs(Math.min(limit - amount, limit - 1), nowMs);
  const retryAfterSeconds = Math.max(Math.ceil(waitMs / 1000), 1);
  const message = `The key's limit of ${limit} ${unit} a minute is reached; retry in ${retryAfterSeconds} s.`;
  throw new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds });
}

function headersOf(limits: RateLimits, use: Windows, nowMs: number): Record<string, string> {
  const rows = [
    ["requests", limits.requestsPerMinute, use.requests],
    ["tokens", limits.tokensPerMinute, use.tokens],
  ] as const;
  const headers: Record<string, string> = {};
  for (const [unit, limit, window] of rows) {
    if (limit === null) continue;
    headers[`x-ratelimit-limit-${unit}`] = String(limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(
      Math.max(Math.floor(limit - window.used(nowMs)), 0),
    );
    headers[`x-ratelimit-reset-${unit}`] = duration(window.waitMs(0, nowMs));
  }
  return headers;
}

/** As OpenAI writes it: `1m0s`, `12s`, `0s`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function forgetIdle(keys: Map<string, Windows>, nowMs: number): void {
  for (const [keyId, { requests, tokens }] of keys)
    if (requests.used(nowMs) === 0 && tokens.used(nowMs) === 0) keys.delete(keyId);
}

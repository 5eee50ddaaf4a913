/**
 * The limits of a key, its member and its workspace: requests and tokens per minute, and calls at once. All gateways share them. Callers
 * without limits skip this. LIM-17; docs/limits.md.
 */
import { GatewayError } from "../base/errors.ts";
import type { Usage } from "../base/usage.ts";
import type { Caller, RateLimits } from "../tenancy/index.ts";
import type { Exchange } from "./exchange.ts";
import { headersOf } from "./headers.ts";
import type { Meter, Short } from "./meter.ts";
import type { RateUnit } from "./take.ts";

export type LimitedCaller = Pick<Caller, "workspaceId" | "limits">;
type Tell = (headers: Readonly<Record<string, string>>) => void;

/** One request of a caller with limits. */
export interface RateUse {
  /**
   * Takes the estimated input tokens of the request, a whole number. @throws GatewayError `rate_limit_exceeded`, `database_unavailable` (or
   * rejects)
   */
  takeTokens(inputEstimate: number): Promise<void> | undefined;
  /** Replaces the estimated tokens with the used ones; undefined, for a failed call, counts as none. */
  settle(usage: Usage | undefined): void;
  /** Ends the call, whatever its outcome: it no longer counts as one of the calls at once. Called once. */
  end(): void;
}

export interface RateLimiter {
  /**
   * Counts a request of a caller with limits. `tell` receives the headers of the answer, also of a refusal, and again when they change.
   * @throws GatewayError `rate_limit_exceeded`, `database_unavailable` (or rejects)
   */
  admit(caller: LimitedCaller, tell: Tell): RateUse | Promise<RateUse>;
  /** Must be called every 20 s. */
  heartbeat(): void;
}

/** One limit of a request, and the amount to take from it. */
interface Part {
  readonly meter: Meter;
  readonly limit: number;
  readonly amount: number;
}

/** A taken amount, with the second of the database's clock that it counts in. */
interface Taken extends Part {
  readonly step: number;
}

const fieldOf: Record<RateUnit, keyof RateLimits> = {
  requests: "requestsPerMinute",
  tokens: "tokensPerMinute",
  calls: "concurrency",
};

/** The caller's limits of this unit, the workspace's first. */
function partsOf(
  exchange: Exchange,
  caller: LimitedCaller,
  unit: RateUnit,
  amount: number,
): Part[] {
  const { workspaceId } = caller;
  return caller.limits.flatMap(({ scope, id, limits }) => {
    const limit = limits[fieldOf[unit]];
    if (limit === null) return [];
    const meter = exchange.meterOf({ workspaceId, scope, scopeId: id, unit });
    return [{ meter, limit, amount }];
  });
}

const takenOf = (part: Part): Taken => ({ ...part, step: part.meter.step });

/** Takes all parts, or none. @throws GatewayError (or rejects) */
function takeAll(exchange: Exchange, parts: readonly Part[]): Taken[] | Promise<Taken[]> {
  for (const { meter, limit, amount } of parts)
    if (amount > limit && meter.name.unit === "tokens") throw tooLarge(meter, limit, amount);
  const results = parts.map(({ meter, limit, amount }) => exchange.take(meter, amount, limit));
  if (results.every((result) => result === undefined)) return parts.map(takenOf);
  return decided(exchange, parts, results);
}

async function decided(
  exchange: Exchange,
  parts: readonly Part[],
  results: readonly (Short | Promise<Short | undefined> | undefined)[],
): Promise<Taken[]> {
  const settled = await Promise.allSettled(results.map((result) => Promise.resolve(result)));
  const failed = settled.find(({ status }) => status === "rejected") as
    | PromiseRejectedResult
    | undefined;
  const shorts = settled.map((result) =>
    result.status === "fulfilled" ? result.value : undefined,
  );
  const index = shorts.findIndex((short) => short !== undefined);
  if (failed === undefined && index < 0) return parts.map(takenOf);
  settled.forEach((result, place) => {
    if (result.status === "fulfilled" && result.value === undefined)
      giveBack(exchange, takenOf(parts[place]!));
  });
  if (failed !== undefined) throw failed.reason;
  throw refusalOf(shorts[index]!, parts[index]!.limit);
}

const giveBack = (exchange: Exchange, { meter, step, amount }: Taken): void =>
  exchange.give(meter, step, -amount);

const owner = { workspace: "The workspace's", member: "The member's", key: "The key's" };

function tooLarge(meter: Meter, limit: number, amount: number): GatewayError {
  const whose = owner[meter.name.scope].toLowerCase();
  const message = `This request has about ${amount} input tokens; ${whose} limit is ${limit} tokens a minute.`;
  return new GatewayError("rate_limit_exceeded", message, {
    retryAfterSeconds: 60,
    shouldRetry: false,
  });
}

function refusalOf({ meter, waitMs }: Short, limit: number): GatewayError {
  const { scope, unit } = meter.name;
  const retryAfterSeconds = Math.max(Math.ceil(waitMs / 1000), 1);
  const message =
    unit === "calls"
      ? `${owner[scope]} limit of ${limit} calls at once is reached; retry when one of them has ended.`
      : `${owner[scope]} limit of ${limit} ${unit} a minute is reached; retry in ${retryAfterSeconds} s.`;
  return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds });
}

/** Creates a limiter that queries through `exchange`. */
export function createRateLimiter(exchange: Exchange): RateLimiter {
  return {
    heartbeat: () => exchange.heartbeat(),
    admit(caller, tell) {
      const tokens = partsOf(exchange, caller, "tokens", 0);
      const parts = [
        ...partsOf(exchange, caller, "requests", 1),
        ...partsOf(exchange, caller, "calls", 1),
      ];
      const use = (taken: readonly Taken[]): RateUse => {
        const calls = taken.filter(({ meter }) => meter.countsCalls);
        return new Use(exchange, { calls, tokens, tellNow });
      };
      const tellNow = (): void => tell(headersOf([...parts, ...tokens], exchange.now()));
      return told(() => takeAll(exchange, parts), tellNow, use);
    },
  };
}

/** Runs `work`, then `tellNow` (also if `work` fails), and returns `result` of the value. Returns a promise only if `work` does. */
function told<Value, Result>(
  work: () => Value | Promise<Value>,
  tellNow: () => void,
  result: (value: Value) => Result,
): Result | Promise<Result> {
  let value: Value | Promise<Value>;
  try {
    value = work();
  } catch (error) {
    tellNow();
    throw error;
  }
  if (value instanceof Promise) return value.finally(tellNow).then(result);
  tellNow();
  return result(value);
}

interface UseParts {
  readonly calls: readonly Taken[];
  readonly tokens: readonly Part[];
  readonly tellNow: () => void;
}

class Use implements RateUse {
  private readonly exchange: Exchange;
  private readonly parts: UseParts;
  private taken: readonly Taken[] = [];

  constructor(exchange: Exchange, parts: UseParts) {
    this.exchange = exchange;
    this.parts = parts;
  }

  takeTokens(inputEstimate: number): Promise<void> | undefined {
    const { tokens, tellNow } = this.parts;
    if (tokens.length === 0) return undefined;
    const asked = tokens.map((part) => ({ ...part, amount: inputEstimate }));
    const keep = (taken: readonly Taken[]): void => void (this.taken = taken);
    const result = told(() => takeAll(this.exchange, asked), tellNow, keep);
    return result instanceof Promise ? result : undefined;
  }

  settle(usage: Usage | undefined): void {
    const used = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
    this.taken = this.taken.map((taken) => {
      this.exchange.give(taken.meter, taken.step, used - taken.amount);
      return { ...taken, amount: used };
    });
  }

  end(): void {
    for (const taken of this.parts.calls) giveBack(this.exchange, taken);
  }
}

/**
 * The limits of a key, its member and its workspace: requests and tokens a minute, calls at once; for all gateways together. Off
 * where none is set. LIM-17; docs/limits.md.
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
  /** Takes the tokens that the request will surely use, a whole number. @throws GatewayError `rate_limit_exceeded`, `database_unavailable` (or rejects) */
  takeTokens(inputEstimate: number): Promise<void> | undefined;
  /** Puts what was used in place of what was taken: nothing where the call failed. */
  settle(usage: Usage | undefined): void;
  /** The call is over, whatever became of it: it counts no longer among those at once. Called once. */
  end(): void;
}

export interface RateLimiter {
  /**
   * Counts a request of a caller with limits. `tell` is called with the headers of its answer, a refusal's too, and again when they
   * change. @throws GatewayError `rate_limit_exceeded`, `database_unavailable` (or rejects)
   */
  admit(caller: LimitedCaller, tell: Tell): RateUse | Promise<RateUse>;
  /** Every 20 s. */
  heartbeat(): void;
}

/** A limit of a request, and how much of it. */
interface Part {
  readonly meter: Meter;
  readonly limit: number;
  readonly amount: number;
}

/** What was taken, and in which second of the database's clock. */
interface Taken extends Part {
  readonly step: number;
}

const fieldOf: Record<RateUnit, keyof RateLimits> = {
  requests: "requestsPerMinute",
  tokens: "tokensPerMinute",
  calls: "concurrency",
};

/** The limits of a caller that count `unit`, the workspace's first. */
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

/** Takes all, or none. @throws GatewayError (or rejects) */
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

/** A limiter that asks by `exchange`. */
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

/** What `work` comes to, at once or later; `tellNow` is called before, whatever it comes to. */
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

/**
 * The limits of a key, its member and its workspace: requests and tokens per minute, and calls at once. All gateways share them. Callers
 * without limits skip this. LIM-17; docs/limits.md.
 */
import { GatewayError } from "../base/errors.ts";
import type { Usage } from "../base/usage.ts";
import type { Caller, RateLimits } from "../tenancy/index.ts";
import type { RateBatcher } from "./rate-batcher.ts";
import { headersOf } from "./headers.ts";
import type { Meter, Denied } from "./meter.ts";
import type { RateUnit } from "./take.ts";

export type LimitedCaller = Pick<Caller, "workspaceId" | "limits">;
type SendHeaders = (headers: Readonly<Record<string, string>>) => void;

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
  admit(caller: LimitedCaller, tell: SendHeaders): RateUse | Promise<RateUse>;
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
  batcher: RateBatcher,
  caller: LimitedCaller,
  unit: RateUnit,
  amount: number,
): Part[] {
  const { workspaceId } = caller;
  return caller.limits.flatMap(({ scope, id, limits }) => {
    const limit = limits[fieldOf[unit]];
    if (limit === null) return [];
    const meter = batcher.meterOf({ workspaceId, scope, scopeId: id, unit });
    return [{ meter, limit, amount }];
  });
}

const takenOf = (part: Part): Taken => ({ ...part, step: part.meter.step });

/** Takes all parts, or none. @throws GatewayError (or rejects) */
function takeAll(batcher: RateBatcher, parts: readonly Part[]): Taken[] | Promise<Taken[]> {
  for (const { meter, limit, amount } of parts)
    if (amount > limit && meter.name.unit === "tokens") throw tooLarge(meter, limit, amount);
  const results = parts.map(({ meter, limit, amount }) => batcher.take(meter, amount, limit));
  if (results.every((result) => result === undefined)) return parts.map(takenOf);
  return decided(batcher, parts, results);
}

async function decided(
  batcher: RateBatcher,
  parts: readonly Part[],
  results: readonly (Denied | Promise<Denied | undefined> | undefined)[],
): Promise<Taken[]> {
  const settled = await Promise.allSettled(results.map((result) => Promise.resolve(result)));
  const failed = settled.find(({ status }) => status === "rejected") as
    | PromiseRejectedResult
    | undefined;
  const denials = settled.map((result) =>
    result.status === "fulfilled" ? result.value : undefined,
  );
  const index = denials.findIndex((denied) => denied !== undefined);
  if (failed === undefined && index < 0) return parts.map(takenOf);
  settled.forEach((result, place) => {
    if (result.status === "fulfilled" && result.value === undefined)
      giveBack(batcher, takenOf(parts[place]!));
  });
  if (failed !== undefined) throw failed.reason;
  throw refusalOf(denials[index]!, parts[index]!.limit);
}

const giveBack = (batcher: RateBatcher, { meter, step, amount }: Taken): void =>
  batcher.correct(meter, step, -amount);

const owner = { workspace: "The workspace's", member: "The member's", key: "The key's" };

function tooLarge(meter: Meter, limit: number, amount: number): GatewayError {
  const whose = owner[meter.name.scope].toLowerCase();
  const message = `This request has about ${amount} input tokens; ${whose} limit is ${limit} tokens a minute.`;
  return new GatewayError("rate_limit_exceeded", message, {
    retryAfterSeconds: 60,
    shouldRetry: false,
  });
}

function refusalOf({ meter, waitMs }: Denied, limit: number): GatewayError {
  const { scope, unit } = meter.name;
  const retryAfterSeconds = Math.max(Math.ceil(waitMs / 1000), 1);
  const message =
    unit === "calls"
      ? `${owner[scope]} limit of ${limit} calls at once is reached; retry when one of them has ended.`
      : `${owner[scope]} limit of ${limit} ${unit} a minute is reached; retry in ${retryAfterSeconds} s.`;
  return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds });
}

/** Creates a limiter that queries through `batcher`. */
export function createRateLimiter(batcher: RateBatcher): RateLimiter {
  return {
    heartbeat: () => batcher.heartbeat(),
    admit(caller, tell) {
      const tokens = partsOf(batcher, caller, "tokens", 0);
      const parts = [
        ...partsOf(batcher, caller, "requests", 1),
        ...partsOf(batcher, caller, "calls", 1),
      ];
      const use = (taken: readonly Taken[]): RateUse => {
        const calls = taken.filter(({ meter }) => meter.countsCalls);
        return new Use(batcher, { calls, tokens, sendHeaders });
      };
      const sendHeaders = (): void => tell(headersOf([...parts, ...tokens], batcher.now()));
      return withHeaders(() => takeAll(batcher, parts), sendHeaders, use);
    },
  };
}

/** Runs `work`, then `sendHeaders` (also if `work` fails), and returns `result` of the value. Returns a promise only if `work` does. */
function withHeaders<Value, Result>(
  work: () => Value | Promise<Value>,
  sendHeaders: () => void,
  result: (value: Value) => Result,
): Result | Promise<Result> {
  let value: Value | Promise<Value>;
  try {
    value = work();
  } catch (error) {
    sendHeaders();
    throw error;
  }
  if (value instanceof Promise) return value.finally(sendHeaders).then(result);
  sendHeaders();
  return result(value);
}

interface UseParts {
  readonly calls: readonly Taken[];
  readonly tokens: readonly Part[];
  readonly sendHeaders: () => void;
}

class Use implements RateUse {
  private readonly batcher: RateBatcher;
  private readonly parts: UseParts;
  private taken: readonly Taken[] = [];

  constructor(batcher: RateBatcher, parts: UseParts) {
    this.batcher = batcher;
    this.parts = parts;
  }

  takeTokens(inputEstimate: number): Promise<void> | undefined {
    const { tokens, sendHeaders } = this.parts;
    if (tokens.length === 0) return undefined;
    const asked = tokens.map((part) => ({ ...part, amount: inputEstimate }));
    const keep = (taken: readonly Taken[]): void => void (this.taken = taken);
    const result = withHeaders(() => takeAll(this.batcher, asked), sendHeaders, keep);
    return result instanceof Promise ? result : undefined;
  }

  settle(usage: Usage | undefined): void {
    const used = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
    this.taken = this.taken.map((taken) => {
      this.batcher.correct(taken.meter, taken.step, used - taken.amount);
      return { ...taken, amount: used };
    });
  }

  end(): void {
    for (const taken of this.parts.calls) giveBack(this.batcher, taken);
  }
}

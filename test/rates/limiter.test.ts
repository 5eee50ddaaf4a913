/** The limiter of one process over a simulated database: refusals in words, headers, corrections, renewed leases. docs/limits.md. */
import { describe, expect, it, vi } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import { openRates } from "../../src/rates/open.ts";
import { createRateLimiter, type RateUse } from "../../src/rates/limiter.ts";
import { headersOf } from "../../src/rates/headers.ts";
import { Meter } from "../../src/rates/meter.ts";
import { RateBatcher } from "../../src/rates/rate-batcher.ts";
import type { Granted, GrantRequest, MeterName } from "../../src/rates/take.ts";
import type { Database } from "../../src/storage/index.ts";
import type { RateLimits } from "../../src/tenancy/index.ts";
import { eventually } from "../support/patience.ts";

const none: RateLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };
const callerWith = (limits: Partial<RateLimits>) => ({
  workspaceId: "w",
  limits: [{ scope: "key" as const, id: "k", limits: { ...none, ...limits } }],
});

/** A limiter whose database answers with `answer`; `asked` are its requests. */
function limiterWith(answer: (ask: GrantRequest) => Partial<Granted>) {
  const asked: GrantRequest[] = [];
  const batcher = new RateBatcher(async (asks) => {
    asked.push(...asks);
    const usual = { step: 1, total: 0, waitMs: 0, resetMs: 60_000 };
    return asks.map((ask) => ({ ...usual, granted: ask.need, ...answer(ask) }));
  });
  return { limiter: createRateLimiter(batcher), batcher, asked };
}

describe("a refusal of the limiter", () => {
  const refused = async (limits: Partial<RateLimits>, waitMs: number) => {
    const { limiter } = limiterWith(({ limit, first, unit }) => ({
      granted: unit === "calls" ? first : 0,
      total: limit,
      waitMs,
    }));
    const told: Record<string, string>[] = [];
    const admitted = limiter.admit(callerWith(limits), (headers) => void told.push(headers));
    const error = await Promise.resolve(admitted).catch((refusal: unknown) => refusal);
    return { error, told };
  };

  it("names the limit of requests and the time to wait, and the headers say that none is left", async () => {
    const { error, told } = await refused({ requestsPerMinute: 5 }, 1_500);
    expect(error).toMatchObject({
      code: "rate_limit_exceeded",
      message: "The key's limit of 5 requests a minute is reached; retry in 2 s.",
      retryAfterSeconds: 2,
    });
    expect(told).toEqual([
      {
        "x-ratelimit-limit-requests": "5",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1m0s",
      },
    ]);
  });

  it("advises to wait for one of the calls at once, for at least a second", async () => {
    const { error, told } = await refused({ concurrency: 2 }, 0);
    expect(error).toMatchObject({
      message: "The key's limit of 2 calls at once is reached; retry when one of them has ended.",
      retryAfterSeconds: 1,
    });
    expect(told).toEqual([{}]);
  });
});

it("LIM-17: the headers have the limit with the least left, and its reset in minutes and seconds", () => {
  const parts = [100, 10].map((limit) => {
    const unit = "tokens" as const;
    const meter = new Meter({ workspaceId: "w", scope: "key", scopeId: String(limit), unit });
    meter.answered(0, { step: 1, granted: 0, total: 5, waitMs: 0, resetMs: 61_500 }, 0);
    return { meter, limit };
  });
  const at = (nowMs: number) => Object.values(headersOf(parts, nowMs)).join(" ");
  expect([at(0), at(1_500), at(2_500), at(61_500)]).toEqual([
    "10 5 1m2s",
    "10 5 1m0s",
    "10 5 59s",
    "10 10 0s",
  ]);
});

it("a call that another limit could not answer gives back what it took, and nothing else", async () => {
  const corrected: unknown[] = [];
  const failing = {
    meterOf: ({ unit }: MeterName) => ({
      name: { unit },
      step: 7,
      countsCalls: false,
      remainingAt: () => ({ remaining: 0, resetMs: 0 }),
    }),
    take: (meter: { name: { unit: string } }) =>
      meter.name.unit === "requests" ? undefined : Promise.reject(new Error("away")),
    correct: (meter: { name: object }, step: number, amount: number) =>
      void corrected.push([meter.name, step, amount]),
    now: () => 0,
  } as unknown as RateBatcher;
  const caller = callerWith({ requestsPerMinute: 5, concurrency: 2 });
  const admitted = async () => createRateLimiter(failing).admit(caller, () => undefined);
  await expect(admitted()).rejects.toThrow("away");
  expect(corrected).toEqual([[{ unit: "requests" }, 7, -1]]);
});

describe("the tokens of a call", () => {
  const callOf = async () => {
    const { limiter, asked } = limiterWith(() => ({}));
    const use: RateUse = await limiter.admit(callerWith({ tokensPerMinute: 100 }), () => undefined);
    await use.takeTokens(10);
    const corrections = () => asked.flatMap((ask) => ask.corrections.map(({ amount }) => amount));
    return { use, corrections };
  };

  it("are replaced by those that it used, and once more if they are settled again", async () => {
    const { use, corrections } = await callOf();
    use.settle({ ...noUsage, inputTokens: 12, outputTokens: 30 });
    use.settle({ ...noUsage, inputTokens: 12, outputTokens: 33 });
    await eventually(() => corrections().length === 2, "both corrections");
    expect(corrections()).toEqual([32, 3]);
  });

  it("go back if the call failed", async () => {
    const { use, corrections } = await callOf();
    use.settle(undefined);
    await eventually(() => corrections().length === 1, "the correction");
    expect(corrections()).toEqual([-10]);
  });
});

it("the limits of one query are in the order of their names, as every gateway locks them", async () => {
  const { batcher, asked } = limiterWith(() => ({}));
  const names = ["b", "a", "c"];
  await Promise.all(
    names.map((scopeId) => {
      const name = { workspaceId: "w", scope: "key", scopeId, unit: "requests" } as const;
      return Promise.resolve(batcher.take(batcher.meterOf(name), 1, 10));
    }),
  );
  expect(asked.map(({ scopeId }) => scopeId)).toEqual(["a", "b", "c"]);
});

it("a batcher has one query in flight at a time, and asks for a granted amount only once", async () => {
  using timers = vi.spyOn(globalThis, "setTimeout");
  const asked: string[][] = [];
  const first = Promise.withResolvers<void>();
  const batcher = new RateBatcher(async (asks) => {
    asked.push(asks.map(({ scopeId }) => scopeId));
    await first.promise;
    return asks.map(({ need }) => ({ step: 1, granted: need, total: 0, waitMs: 0, resetMs: 0 }));
  });
  const take = (scopeId: string) => {
    const name = { workspaceId: "w", scope: "key", scopeId, unit: "requests" } as const;
    return batcher.take(batcher.meterOf(name), 1, 10);
  };
  const early = take("a");
  await eventually(() => asked.length === 1, "the first query");
  const late = [take("b"), take("c")];
  for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
  expect(asked).toEqual([["a"]]);
  first.resolve();
  await Promise.all([early, ...late]);
  expect(asked).toEqual([["a"], ["b", "c"]]);
  // Calls that wait for another one to end are asked for again after 20 ms; these do not wait.
  expect(timers.mock.calls.filter(([, ms]) => ms === 20)).toEqual([]);
});

describe("a batcher of limits", () => {
  const nameOf = (scopeId: string) =>
    ({ workspaceId: "w", scope: "key", scopeId, unit: "requests" }) as const;

  it("gives back what was granted ahead and not used, once", async () => {
    const { batcher, asked } = limiterWith(({ need }) => ({ granted: need > 0 ? need + 2 : 0 }));
    await batcher.take(batcher.meterOf(nameOf("a")), 1, 10);
    await eventually(() => asked.length === 2, "a query that gives back");
    expect(asked[1]).toMatchObject({ need: 0, corrections: [{ step: 1, amount: -2 }] });
  });

  it("asks nothing for a correction of 0, and keeps a limit in use at its heartbeat", async () => {
    const { batcher, asked } = limiterWith(() => ({}));
    const meter = batcher.meterOf(nameOf("a"));
    await batcher.take(meter, 1, 10);
    batcher.correct(meter, 1, 0);
    batcher.heartbeat();
    for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
    expect([asked.length, batcher.meterOf(nameOf("a"))]).toEqual([1, meter]);
  });

  it("T68: asks again for calls that came while a query failed, and fails those of the query", async () => {
    const failing = Promise.withResolvers<readonly Granted[]>();
    let queries = 0;
    const batcher = new RateBatcher(async (asks) => {
      queries += 1;
      if (queries === 1) return failing.promise;
      return asks.map(({ need }) => ({ step: 1, granted: need, total: 0, waitMs: 0, resetMs: 0 }));
    });
    const meter = batcher.meterOf(nameOf("a"));
    const early = batcher.take(meter, 1, 10);
    await eventually(() => queries === 1, "the first query");
    const late = batcher.take(meter, 1, 10);
    failing.reject(new Error("away"));
    await expect(early).rejects.toThrow("away");
    expect(await late).toBeUndefined();
  });
});

it("T65: the calls of a gateway count for a minute, and are renewed every 20 seconds until it closes", async () => {
  using timers = vi.spyOn(globalThis, "setInterval");
  using ended = vi.spyOn(globalThis, "clearInterval");
  const asked: (readonly unknown[])[] = [];
  const row = { place: 1, step: 1n, granted: 1n, total: 1n, wait_ms: 0n, reset_ms: 0n };
  const query = async (_sql: string, params: readonly unknown[]) => (asked.push(params), [row]);
  const rates = openRates({ query } as unknown as Database);
  const [[renew, everyMs] = expect.unreachable()] = timers.mock.calls;
  const use = await rates.admit(callerWith({ concurrency: 2 }), () => undefined);
  expect([everyMs, asked.length, asked[0]![1]]).toEqual([20_000, 1, 60_000]);
  renew();
  await eventually(() => asked.length === 2, "a second query");
  use.end();
  rates.close();
  expect(ended).toHaveBeenCalledWith(timers.mock.results[0]!.value);
});

/** Values that expire are fetched once before their end, and no call with a valid value waits. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RenewingValue } from "../../src/upstream/identity/renewing-value.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const lifeMs = 100_000;

/** A source with values 1, 2, 3 ..., whose fetches end when the test says. */
function createSource() {
  const fetches: { succeed(): void; fail(): void }[] = [];
  const renewed = new RenewingValue<number>(() => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    fetches.push({ succeed: resolve, fail: () => reject(new Error("refused")) });
    const value = fetches.length;
    return promise.then(() => ({ value, expiresMs: Date.now() + lifeMs }));
  });
  return { fetches, renewed };
}

async function createFetchedSource() {
  const { fetches, renewed } = createSource();
  const first = renewed.get();
  fetches[0]!.succeed();
  await first;
  return { fetches, renewed };
}

it("concurrent calls share one fetch", async () => {
  const { fetches, renewed } = createSource();
  const calls = [renewed.get(), renewed.get(), renewed.get()];
  fetches[0]!.succeed();
  expect(await Promise.all(calls)).toEqual([1, 1, 1]);
  expect(fetches).toHaveLength(1);
});

it("a value is renewed after three quarters of its life, while calls use the old one", async () => {
  const { fetches, renewed } = await createFetchedSource();
  await renewed.get();
  await vi.advanceTimersByTimeAsync(lifeMs * 0.74);
  expect(fetches).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(lifeMs * 0.02);
  expect(fetches).toHaveLength(2);
  expect(await renewed.get()).toBe(1);
  fetches[1]!.succeed();
  await vi.advanceTimersByTimeAsync(0);
  expect(await renewed.get()).toBe(2);
});

it("a failed renewal keeps the old value in use, and is retried before its end", async () => {
  const { fetches, renewed } = await createFetchedSource();
  await renewed.get();
  await vi.advanceTimersByTimeAsync(lifeMs * 0.76);
  fetches[1]!.fail();
  await vi.advanceTimersByTimeAsync(0);
  expect(await renewed.get()).toBe(1);
  await vi.advanceTimersByTimeAsync(lifeMs * 0.19);
  expect(fetches).toHaveLength(3);
  fetches[2]!.succeed();
  await vi.advanceTimersByTimeAsync(0);
  expect(await renewed.get()).toBe(3);
});

it("an unused value is not renewed, but fetched for the next call", async () => {
  const { fetches, renewed } = await createFetchedSource();
  await vi.advanceTimersByTimeAsync(lifeMs * 3);
  expect(fetches).toHaveLength(1);
  const late = renewed.get();
  fetches[1]!.succeed();
  expect(await late).toBe(2);
});

it("a refused value is dropped, and a newer one is not", async () => {
  const { fetches, renewed } = await createFetchedSource();
  renewed.drop(1);
  const next = renewed.get();
  fetches[1]!.succeed();
  expect(await next).toBe(2);
  renewed.drop(1);
  expect(await renewed.get()).toBe(2);
  expect(fetches).toHaveLength(2);
});

it("a new value that is refused at once is kept for some seconds, so that refusals do not cause a fetch each", async () => {
  const { fetches, renewed } = await createFetchedSource();
  renewed.drop(1);
  const next = renewed.get();
  fetches[1]!.succeed();
  await next;
  for (let calls = 0; calls < 100; calls += 1) {
    renewed.drop(2);
    expect(await renewed.get()).toBe(2);
  }
  expect(fetches).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(10_000);
  renewed.drop(2);
  const later = renewed.get();
  fetches[2]!.succeed();
  expect(await later).toBe(3);
});

it("a failed fetch fails its call, and the next call tries again", async () => {
  const { fetches, renewed } = createSource();
  const first = renewed.get();
  fetches[0]!.fail();
  await expect(first).rejects.toThrow("refused");
  const second = renewed.get();
  fetches[1]!.succeed();
  expect(await second).toBe(2);
});

it("a kept value is fetched before its first use and renewed without calls, until it is released", async () => {
  const { fetches, renewed } = createSource();
  const kept = renewed.keep();
  fetches[0]!.succeed();
  await kept;
  expect(await renewed.get()).toBe(1);
  for (const at of [1, 2, 3]) {
    await vi.advanceTimersByTimeAsync(lifeMs * 0.76);
    expect(fetches).toHaveLength(at + 1);
    fetches[at]!.succeed();
    await vi.advanceTimersByTimeAsync(0);
  }
  await renewed.keep();
  expect(fetches).toHaveLength(4);
  renewed.release();
  await vi.advanceTimersByTimeAsync(lifeMs * 3);
  expect(fetches).toHaveLength(4);
});

it("a kept value that cannot be fetched is retried, and no call waits for the retry", async () => {
  const { fetches, renewed } = createSource();
  const kept = renewed.keep();
  fetches[0]!.fail();
  await expect(kept).rejects.toThrow("refused");
  await vi.advanceTimersByTimeAsync(30_000);
  expect(fetches).toHaveLength(2);
  fetches[1]!.fail();
  await vi.advanceTimersByTimeAsync(30_000);
  fetches[2]!.succeed();
  await vi.advanceTimersByTimeAsync(0);
  expect(await renewed.get()).toBe(3);
});

it("the first renewal that fails is reported, its retries are not, and the next failure after a success is reported again", async () => {
  const { fetches, renewed } = createSource();
  const told: string[] = [];
  const kept = renewed.keep((error) => told.push((error as Error).message));
  const end = async (how: "succeed" | "fail"): Promise<void> => {
    fetches.at(-1)![how]();
    await vi.advanceTimersByTimeAsync(0);
  };
  await end("succeed");
  await kept;
  for (const how of ["fail", "fail", "succeed", "fail"] as const) {
    await vi.advanceTimersByTimeAsync(lifeMs * 0.76);
    await end(how);
  }
  expect(told).toEqual(["refused", "refused"]);
});

/** A kept value whose every fetch succeeds at once, with an expiry as a vendor gives it. */
async function keepWithExpiry(expiresMs: () => number) {
  const counts = { fetches: 0 };
  const renewed = new RenewingValue<number>(() => {
    counts.fetches += 1;
    return Promise.resolve({ value: counts.fetches, expiresMs: expiresMs() });
  });
  await renewed.keep();
  return { counts, renewed };
}

it.each([NaN, Infinity])(
  "a value with the expiry %d is used for five minutes",
  async (expiresMs) => {
    const { counts, renewed } = await keepWithExpiry(() => expiresMs);
    await vi.advanceTimersByTimeAsync(200_000);
    expect([await renewed.get(), counts.fetches]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(50_000);
    expect([await renewed.get(), counts.fetches]).toEqual([2, 2]);
  },
);

it("a kept value that has expired when it arrives is fetched every half minute, not every second", async () => {
  const { counts } = await keepWithExpiry(() => Date.now() - 1);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(counts.fetches).toBe(2);
});

it("a renewal that fails long before the value's end is tried again a few times in a day, not every second", async () => {
  const dayMs = 86_400_000;
  let fetches = 0;
  const endMs = Date.now() + dayMs;
  const renewed = new RenewingValue<number>(() => {
    fetches += 1;
    return fetches === 1
      ? Promise.resolve({ value: 1, expiresMs: endMs })
      : Promise.reject(new Error("the source is away"));
  });
  await renewed.keep();
  await vi.advanceTimersByTimeAsync(dayMs - 10_000);
  expect(await renewed.get()).toBe(1);
  expect(fetches).toBeGreaterThan(20);
  expect(fetches).toBeLessThan(40);
});

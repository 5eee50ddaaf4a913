/** The counting of a key's requests and tokens, by a clock of the test's own. LIM-17. */
import { describe, expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import { createRateLimiter, type KeyUse } from "../../src/calls/rate-limit.ts";

/** A limiter at a time that the test sets, and what it announced to other processes. */
function counting() {
  const at = { nowMs: 5_000 };
  const limiter = createRateLimiter(() => at.nowMs);
  const uses: KeyUse[] = [];
  limiter.onUse((use) => void uses.push(use));
  /** One request; the headers of its answer so far. */
  const admit = (keyId: string, limits: { requests?: number; tokens?: number }) => {
    const rateLimits = {
      requestsPerMinute: limits.requests ?? null,
      tokensPerMinute: limits.tokens ?? null,
    };
    let headers: Readonly<Record<string, string>> = {};
    const use = limiter.admit({ keyId, rateLimits }, (next) => (headers = next))!;
    const left = (unit: string) => headers[`x-ratelimit-remaining-${unit}`];
    return { use, left, headers: () => headers };
  };
  return { at, limiter, uses, admit };
}
const used = (inputTokens: number, outputTokens: number) => ({
  ...noUsage,
  inputTokens,
  outputTokens,
});

describe("tokens of a key", () => {
  it("LIM-17: the estimate is taken first, and what was really used is put in its place", () => {
    const { admit, uses } = counting();
    const { use, left } = admit("a", { tokens: 1_000 });
    use.takeTokens(100);
    expect(left("tokens")).toBe("900");
    use.settle(used(80, 70));
    expect(admit("a", { tokens: 1_000 }).left("tokens")).toBe("850");
    expect(uses).toEqual([
      { keyId: "a", requests: 0, tokens: 100 },
      { keyId: "a", requests: 0, tokens: 50 },
    ]);
  });

  it("LIM-17: a call that failed gives back what it took, and says so to the other processes", () => {
    const { admit, uses } = counting();
    const { use } = admit("a", { tokens: 1_000 });
    use.takeTokens(100);
    use.settle(undefined);
    expect(admit("a", { tokens: 1_000 }).left("tokens")).toBe("1000");
    expect(uses.map(({ tokens }) => tokens)).toEqual([100, -100]);
  });

  it("LIM-17: where the estimate was right there is nothing to correct and nothing to say", () => {
    const { admit, uses } = counting();
    const { use } = admit("a", { tokens: 1_000 });
    use.takeTokens(100);
    use.settle(used(60, 40));
    use.settle(used(60, 40));
    expect(uses).toEqual([{ keyId: "a", requests: 0, tokens: 100 }]);
    expect(admit("a", { tokens: 1_000 }).left("tokens")).toBe("900");
  });
});

describe("what a key has left", () => {
  it("LIM-17: is whole in zero seconds before anything was used", () => {
    const { admit } = counting();
    const { headers } = admit("a", { tokens: 10 });
    expect(headers()).toEqual({
      "x-ratelimit-limit-tokens": "10",
      "x-ratelimit-remaining-tokens": "10",
      "x-ratelimit-reset-tokens": "0s",
    });
  });

  it("LIM-17: counts what was used in other processes", () => {
    const { admit, limiter } = counting();
    limiter.usedElsewhere([{ keyId: "a", requests: 2, tokens: 30 }]);
    const { left } = admit("a", { requests: 5, tokens: 100 });
    expect([left("requests"), left("tokens")]).toEqual(["2", "70"]);
  });
});

describe("many keys", () => {
  it("a request under way is counted though other keys come for the first time meanwhile", () => {
    const { admit } = counting();
    const { use } = admit("a", { tokens: 1_000 });
    admit("b", { tokens: 1_000 });
    use.takeTokens(400);
    expect(admit("a", { tokens: 1_000 }).left("tokens")).toBe("600");
  });

  it("LIM-17: ten thousand of them make none forget what was used in its minute", () => {
    const { admit, at } = counting();
    admit("a", { requests: 1 });
    for (let number = 0; number < 10_001; number += 1) admit(`k${number}`, { requests: 1 });
    expect(() => admit("a", { requests: 1 })).toThrow(/limit of 1 requests a minute/);
    at.nowMs += 61_000;
    for (let number = 0; number < 10; number += 1) admit(`n${number}`, { requests: 1 });
    expect(admit("a", { requests: 1 }).left("requests")).toBe("0");
  });
});

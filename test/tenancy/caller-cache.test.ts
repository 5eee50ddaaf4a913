/** The memory that cached callers may take: tenants choose how many keys and how long allowlists they have. */
import { expect, it } from "vitest";
import { createCallerCache, type CallerCache } from "../../src/tenancy/caller-cache.ts";
import type { Caller } from "../../src/tenancy/index.ts";

const layer = (names: readonly string[]) => ({ modelAllowlist: names });

/** A key whose workspace has a list of so many names of a hundred characters. */
const callerWith = (keyId: string, names: number) =>
  ({
    keyId,
    organization: null,
    workspace: layer(Array.from({ length: names }, (_, at) => `${at}`.padStart(100, "x"))),
    key: layer([]),
  }) as unknown as Caller;

function put(cache: CallerCache, caller: Caller, nowMs: number): void {
  const load = cache.begin(caller.keyId);
  cache.put(load, caller, nowMs);
  cache.end(load);
}

const cachedOf = (cache: CallerCache, count: number, nowMs: number): number =>
  Array.from({ length: count }, (_, at) => cache.get(`key_${at}`, nowMs)).filter(Boolean).length;

it("the keys of one workspace with a long allowlist do not fill the memory, and the key in use stays", () => {
  const cache = createCallerCache(10_000, 1_000_000);
  put(cache, callerWith("busy", 10), 0);
  for (let at = 0; at < 500; at += 1) {
    put(cache, callerWith(`key_${at}`, 100), 0);
    expect(cache.get("busy", 0)?.keyId).toBe("busy");
  }
  const cached = cachedOf(cache, 500, 0);
  expect(cached).toBeGreaterThan(40);
  expect(cached).toBeLessThan(60);
  cache.forgetWhere(({ keyId }) => keyId !== "busy");
  for (let at = 0; at < 40; at += 1) put(cache, callerWith(`key_${at}`, 100), 0);
  expect(cachedOf(cache, 40, 0)).toBe(40);
});

it("callers whose keys are not used any more leave within two minutes", () => {
  const cache = createCallerCache(10_000, 1_000_000);
  let refused = 0;
  for (let at = 0; at < 20; at += 1) put(cache, callerWith(`key_${at}`, 0), 0);
  put(cache, callerWith("other", 0), 61_000);
  cache.forgetWhere(({ keyId }) => {
    refused += 1;
    return keyId === "none";
  });
  expect(refused).toBe(1);
});

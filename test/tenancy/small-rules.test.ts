/** Rules of tenancy, each without a database: lists, routing modes, credit lines, times of last use. KEY, ALLOW, T78. */
import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkNames } from "../../src/tenancy/checks.ts";
import { parseCreditLine, renderCreditLine } from "../../src/tenancy/credit-line.ts";
import { generateKey } from "../../src/tenancy/key-format.ts";
import { createSlots } from "../../src/tenancy/key-slots.ts";
import { createLastUsed } from "../../src/tenancy/last-used.ts";
import { mergeThresholds } from "../../src/tenancy/alert-thresholds.ts";
import { deriveKeys } from "../../src/tenancy/derived-keys.ts";
import { loadMasterKey, loadMasterKeys } from "../../src/tenancy/master-key.ts";
import { mergeResponseCache } from "../../src/tenancy/response-cache.ts";
import { checkNameOf } from "../../src/tenancy/secrets.ts";
import { followRouting, mergeRouting } from "../../src/tenancy/routing-settings.ts";
import { silentLog, temporaryDirectory } from "../support/postgres.ts";

it("a list may have ten thousand names, without duplicates", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `a/${index}`);
  expect(checkNames(names, "model_allowlist")).toHaveLength(10_000);
  const refusalOf = (list: string[]) => () => checkNames(list, "model_allowlist");
  expect(refusalOf([...names, "a/b"])).toThrow(
    /^`model_allowlist` must have at most 10000 entries/,
  );
  expect(refusalOf(["a/b", "x".repeat(301)])).toThrow("has an entry of more than 300 characters.");
  const long = names.map((name) => name.padEnd(20, "x"));
  expect(checkNames(long, "model_allowlist")).toHaveLength(10_000);
  expect(refusalOf([...long.slice(1), `${long[0]}x`])).toThrow(
    "`model_allowlist` must have at most 200000 characters in all.",
  );
  expect(refusalOf(["a/b", ""])).toThrow("`model_allowlist` must be a list of non-empty strings.");
  expect(checkNames(["a/b", "c/d", "a/b"], "model_allowlist")).toEqual(["a/b", "c/d"]);
});

it("a credit line is rendered as it was parsed", () => {
  for (const text of ["0", "500", "0.05", "unlimited"])
    expect(renderCreditLine(parseCreditLine(text))).toBe(text);
});

it("an empty routing patch keeps the mode, and a patch with a setting makes it custom", () => {
  expect(mergeRouting(followRouting, {}).mode).toBe("follow");
  expect(mergeRouting(followRouting, { sort: "price" }).mode).toBe("custom");
});

it("KEY-16: the last use of a key is written at most once a minute", async () => {
  const written: unknown[] = [];
  const database = {
    query: (_sql: string, [, keys]: unknown[][]) => (written.push(...keys!), Promise.resolve([])),
  };
  const lastUsed = createLastUsed(database, silentLog);
  const at = 1_700_000_000_000;
  for (const ms of [0, 1, 59_999]) {
    lastUsed.touch("w", "k", at + ms);
    await lastUsed.flush();
  }
  lastUsed.touch("w", "other", at + 60_000);
  lastUsed.touch("w", "k", at + 60_000);
  lastUsed.touch("w", "k", at + 60_001);
  await lastUsed.flush();
  expect(written).toEqual(["k", "other", "k"]);
});

it("concurrent loads in one process get the same master key, and leave no other file", async () => {
  const dataDir = temporaryDirectory();
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKey({ dataDir })));
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
  expect(readdirSync(dataDir)).toEqual(["master-key"]);
});

it("AUTH-03: the lookup values of a limited number of keys are cached", () => {
  const hashed: string[] = [];
  const secrets = { lookup: (key: string) => (hashed.push(key), Buffer.from(key)) };
  const slotOf = createSlots(secrets as never, 2);
  const [a, b, c] = [generateKey(), generateKey(), generateKey()];
  for (const key of [a, b, a, b, c, a]) slotOf(key);
  expect(hashed).toEqual([a, b, c, a]);
});

it("alert thresholds are whole numbers from 1 to 100", () => {
  expect(mergeThresholds([80], [1, 100])).toEqual([1, 100]);
  for (const wrong of [0, 1.5, 101, -1])
    expect(() => mergeThresholds([80], [wrong])).toThrow(/alert_thresholds/);
});

it("the previous master key is read from a file beside the current one, unless the environment has the master key", async () => {
  const dataDir = temporaryDirectory();
  const own = await loadMasterKey({ dataDir });
  expect(await loadMasterKeys({ dataDir })).toEqual([own]);
  const before = randomBytes(32);
  writeFileSync(join(dataDir, "master-key.previous"), before.toString("base64"));
  expect(await loadMasterKeys({ dataDir })).toEqual([own, before]);
  const masterKey = randomBytes(32).toString("base64");
  expect(await loadMasterKeys({ dataDir, masterKey })).toHaveLength(1);
});

it("a master key has an id of eight hexadecimal digits, and its check value gets a new form after a replacement", () => {
  const keys = deriveKeys(randomBytes(32));
  expect(keys.id).toMatch(/^[0-9a-f]{8}$/);
  expect(checkNameOf(keys, false)).toBe(keys.checkValue);
  expect(checkNameOf(keys, true)).toBe(`2.${keys.checkValue}`);
});

it("the response cache of a key lives from one second to thirty days, and charges 0 to 100 %", () => {
  const cache = mergeResponseCache(null, { ttlSeconds: 60 });
  expect(cache).toEqual({ ttlSeconds: 60, chargePercent: 0 });
  expect(mergeResponseCache(cache, { chargePercent: 100 })?.chargePercent).toBe(100);
  expect(mergeResponseCache(null, { ttlSeconds: 2_592_000 })?.ttlSeconds).toBe(2_592_000);
  for (const ttlSeconds of [0, 1.5, 2_592_001, undefined])
    expect(() => mergeResponseCache(null, { ttlSeconds })).toThrow(/ttl_seconds/);
  for (const chargePercent of [-1, 0.5, 101])
    expect(() => mergeResponseCache(cache, { chargePercent })).toThrow(/charge_percent/);
});

/** Log lines about failed batches of the ledger: only batches with charges are logged. docs/troubleshooting.md. */
import { expect, it } from "vitest";
import { watchBatches } from "../../src/cli/watch-batches.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";
import { entryOf, targetOf } from "../ledger/batches.ts";

const away = Object.assign(new Error("terminating connection"), { code: "57P01" });
const locked = Object.assign(new Error("canceling statement due to lock timeout"), {
  code: "55P03",
});
const key = new KeyUse({ workspaceId: "w", keyId: "k", keyRotation: 0 });
const withoutCharges = targetOf(key, 1n);
const withCharges = targetOf(key, 1n, { entries: [entryOf("one")] });

it.each([
  ["without charges", withoutCharges, away, []],
  ["with charges of an account that is locked elsewhere", withCharges, locked, []],
  ["with charges", withCharges, away, ["charges could not be written; they are sent again"]],
])("a failed batch %s has the expected log lines", async (_what, target, error, said) => {
  const lines: string[] = [];
  const observed: unknown[] = [];
  const watch = watchBatches({
    log: { warn: (_fields, message) => void lines.push(message) },
    metrics: { observeBatch: (...seen) => void observed.push(seen) },
    tracer: undefined,
  });
  const batch = { gateway: "g", lane: 1, number: 1, leaseMs: 1, restore: false, skipLocked: false };
  const answer = Promise.reject(error);
  watch({ ...batch, targets: [target], sentAt: 0 }, answer);
  await expect(answer).rejects.toBe(error);
  expect(observed).toEqual([[target.entries.length, expect.any(Number), false]]);
  expect(lines).toEqual(said);
});

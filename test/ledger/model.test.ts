/** Random batches against a ledger in memory: a batch answers exactly as its items would one after another. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { createLedger, verifyLedger, windows, type Layer } from "../../src/ledger/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { LedgerModel } from "./model.ts";
import { addKey, addWorkspace, setCap } from "./support.ts";

const amount = fc.bigInt({ min: 0n, max: 12n });
const hold = fc.nat({ max: 39 });

const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("reserve" as const),
      // Several in one turn of the event loop: one batch.
      items: fc.array(fc.record({ hold, key: fc.nat({ max: 4 }), amount }), {
        minLength: 1,
        maxLength: 12,
      }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("post" as const),
      items: fc.array(fc.record({ hold, amount }), { minLength: 1, maxLength: 8 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("void" as const),
      items: fc.array(fc.record({ hold }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("extend" as const), hold }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      hours: fc.constantFrom(0.5, 1, 11, 24, 100, 400),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("cap" as const),
      scope: fc.nat({ max: 7 }),
      window: fc.constantFrom(...windows),
      amount: fc.bigInt({ min: 0n, max: 40n }),
      hard: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("credit" as const),
      workspace: fc.nat({ max: 1 }),
      amount: fc.bigInt({ min: 1n, max: 60n }),
    }),
  },
);

type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

let runs = 0;

/** Two workspaces; the first has three keys of two members, the second one key; the fifth key does not exist. */
async function createWorld(database: Database, pooled: boolean) {
  runs += 1;
  const run = `run${runs}`;
  const model = new LedgerModel();
  const clock = manualClock(Date.parse("2026-11-27T09:00:00Z"));
  const workspaces = [`${run}a`, `${run}b`];
  for (const id of workspaces) await addWorkspace(database, id);
  const keys = [
    { id: `${run}k0`, workspaceId: workspaces[0]!, createdBy: `${run}m` },
    { id: `${run}k1`, workspaceId: workspaces[0]!, createdBy: `${run}m` },
    { id: `${run}k2`, workspaceId: workspaces[0]!, createdBy: `${run}n` },
    { id: `${run}k3`, workspaceId: workspaces[1]!, createdBy: undefined },
  ];
  for (const key of keys) {
    await addKey(database, key);
    model.keys.set(key.id, { workspaceId: key.workspaceId, memberId: key.createdBy });
  }
  const scopes: { layer: Layer; workspaceId: string; id: string }[] = [
    ...workspaces.map((id) => ({ layer: "workspace" as const, workspaceId: id, id })),
    ...[`${run}m`, `${run}n`].map((id) => ({
      layer: "member" as const,
      workspaceId: workspaces[0]!,
      id,
    })),
    ...keys.map(({ id, workspaceId }) => ({ layer: "key" as const, workspaceId, id })),
  ];
  const ledger = createLedger(database, clock);
  return { run, model, clock, workspaces, keys, scopes, ledger, pooled, pooledCalls: 0 };
}

type World = Awaited<ReturnType<typeof createWorld>>;

const leaseMs = 6 * 3_600_000;
// A hold's workspace is the one its number says, so that a post finds it whichever key reserved it.
const holdOf = (world: World, hold: number) => ({
  id: `${world.run}h${hold}`,
  workspaceId: world.workspaces[hold % 4 === 3 ? 1 : 0]!,
});

async function reserve(
  world: World,
  items: { hold: number; key: number; amount: bigint }[],
): Promise<void> {
  const { model, clock, ledger } = world;
  const { pooled } = world;
  const all = items.map((item) => {
    const { id, workspaceId } = holdOf(world, item.hold);
    const own = item.hold % 4 === 3 ? 3 : item.key % 3;
    const keyId = item.key === 4 ? "missing" : world.keys[own]!.id;
    const kind = "text" as const;
    return { id, workspaceId, keyId, amountNano: item.amount, leaseMs, kind, pooled };
  });
  // The id of a pooled call has just been made.
  const isNew = (id: string) => !model.holds.has(id) && !model.resolved.has(id);
  const inputs = !pooled
    ? all
    : all.filter(({ id }, place) => isNew(id) && all.findIndex((one) => one.id === id) === place);
  // A second item of the same id waits for the next batch: the model takes them in the same order.
  const seen = new Map<string, number>();
  const turn = inputs.map((input) => {
    const count = seen.get(input.id) ?? 0;
    seen.set(input.id, count + 1);
    return count;
  });
  const inOrder = inputs.map((_, index) => index).sort((a, b) => turn[a]! - turn[b]! || a - b);
  const wanted: unknown[] = [];
  for (const index of inOrder) wanted[index] = model.reserve(inputs[index]!, clock.now());
  const got = await Promise.all(inputs.map((input) => ledger.reserve(input)));
  for (const [index, result] of got.entries()) {
    if (!("pooled" in result)) continue;
    model.pool(inputs[index]!.id);
    world.pooledCalls += 1;
  }
  expect(got.map((result) => ({ ...result, pooled: undefined }))).toEqual(wanted);
}

/** The real ledger and the model must have answered the same. */
function agree(got: unknown, wanted: unknown): void {
  expect(got).toEqual(wanted);
}

async function apply(database: Database, world: World, operation: Operation): Promise<void> {
  const { model, clock, ledger } = world;
  switch (operation.kind) {
    case "reserve":
      return reserve(world, operation.items);
    case "post": {
      const wanted = operation.items.map((item) =>
        model.post(holdOf(world, item.hold).id, item.amount, clock.now()),
      );
      const got = await Promise.all(
        operation.items.map((item) =>
          ledger.post({ ...holdOf(world, item.hold), amountNano: item.amount }),
        ),
      );
      agree(got, wanted);
      return;
    }
    case "void": {
      const wanted = operation.items.map((item) => model.void(holdOf(world, item.hold).id));
      const got = await Promise.all(
        operation.items.map((item) => ledger.void(holdOf(world, item.hold))),
      );
      agree(got, wanted);
      return;
    }
    case "extend": {
      const target = holdOf(world, operation.hold);
      const wanted = model.extend(target.id, leaseMs, clock.now());
      agree(await ledger.extend({ ...target, leaseMs }), wanted);
      return;
    }
    case "expire":
      model.expire(clock.now());
      await ledger.expireHolds();
      return;
    case "advance":
      clock.advance(operation.hours * 3_600_000);
      return;
    case "cap": {
      const scope = world.scopes[operation.scope]!;
      const name = `${scope.layer} ${scope.id}`;
      const capped = model.caps.get(name) ?? { caps: {}, hard: false };
      capped.caps[operation.window] = operation.amount;
      capped.hard = operation.hard;
      model.caps.set(name, capped);
      await setCap(database, {
        ...scope,
        window: operation.window,
        amountNano: operation.amount,
        hard: operation.hard,
      });
      return;
    }
    case "credit": {
      const workspaceId = world.workspaces[operation.workspace]!;
      const reference = `credit${model.credits.get(workspaceId) ?? 0n}`;
      model.credits.set(workspaceId, (model.credits.get(workspaceId) ?? 0n) + operation.amount);
      await ledger.credit({ workspaceId, amountNano: operation.amount, reference });
      return;
    }
  }
}

describeDatabase("ledger model", (open) => {
  it.each([false, true])(
    "CAP-09 T63: random batches of operations answer as the model does, and the ledger adds up (pooled: %s)",
    async (pooled) => {
      const database = await open();
      let pooledCalls = 0;
      const property = fc.asyncProperty(
        fc.array(operation, { minLength: 5, maxLength: 40 }),
        async (operations) => {
          const world = await createWorld(database, pooled);
          for (const workspace of [0, 1]) {
            await apply(database, world, { kind: "credit", workspace, amount: 50n });
          }
          for (const next of operations) await apply(database, world, next);
          for (const workspaceId of world.workspaces) {
            const balance = await world.ledger.balance(workspaceId);
            expect(balance.availableNano).toBe(world.model.available(workspaceId));
          }
          // No hold of this run may reach into the next one's sweeps.
          world.clock.advance(leaseMs);
          await world.ledger.expireHolds();
          pooledCalls += world.pooledCalls;
        },
      );
      await fc.assert(property, { numRuns: 100 });
      expect(await verifyLedger(database)).toEqual([]);
      expect(pooledCalls > 300).toBe(pooled);
    },
  );
});

describe("the model", () => {
  it("knows when each period began", () => {
    const model = new LedgerModel();
    model.keys.set("k", { workspaceId: "w", memberId: undefined });
    model.credits.set("w", 100n);
    model.caps.set("key k", { caps: { weekly: 1n }, hard: false });
    const sunday = Date.parse("2026-11-29T23:00:00Z");
    model.reserve({ id: "a", keyId: "k", amountNano: 1n, leaseMs: 1 }, sunday);
    model.post("a", 1n, sunday);
    const input = { id: "b", keyId: "k", amountNano: 1n, leaseMs: 1 };
    expect(model.reserve(input, sunday).outcome).toBe("cap_reached");
    expect(model.reserve(input, sunday + 3_600_000).outcome).toBe("reserved");
  });
});

/** Pooled holds: one row for many calls, and all else as if each had its own. docs/ledger.md "Pooled holds". */
import { expect, it } from "vitest";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { createLedger, verifyLedger } from "../../src/ledger/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import {
  call,
  entriesOf,
  expectEven,
  holdsOf,
  leaseMs,
  name,
  post,
  setUp,
  workspaceId,
} from "./pooled-support.ts";
import { setCap } from "./support.ts";

describeDatabase("pooled holds", (open) => {
  it("calls of a key share one row, each has its own entry, and the row goes with the last of them", async () => {
    const database = await open();
    await setUp(database);
    const ledger = createLedger(database, systemClock);
    const reserved = await Promise.all([
      ...["a", "b", "c"].map((id) => ledger.reserve(call(id, 10n))),
      ledger.reserve(call("d", 5n, "l")),
    ]);
    expect(reserved).toEqual(reserved.map(() => ({ outcome: "reserved", pooled: true })));
    expect(await holdsOf(database)).toMatchObject([
      { key_id: "l", member_id: "m", amount_nano: 5n, calls: 1 },
      { key_id: "k", member_id: "m", amount_nano: 30n, calls: 3 },
    ]);
    expect(await ledger.balance(workspaceId)).toMatchObject({ heldNano: 35n });
    expect(await verifyLedger(database)).toEqual([]);
    expect(await ledger.reserve(call("a", 10n))).toEqual({ outcome: "already_reserved" });
    const ends = await Promise.all([
      ledger.post(post("a", 4n)),
      ledger.post(post("a", 4n)),
      ledger.void(name("a")),
      ledger.void(name("b")),
      ledger.post(post("c", 12n)),
      ledger.post(post("d", 0n)),
    ]);
    expect(ends).toEqual([
      { outcome: "posted", chargedNano: 4n },
      { outcome: "already_posted", chargedNano: 4n },
      { outcome: "already_posted" },
      { outcome: "voided" },
      { outcome: "posted", chargedNano: 12n },
      { outcome: "posted", chargedNano: 0n },
    ]);
    expect(await entriesOf(ledger)).toEqual([
      "charge a 4 of 10",
      "charge c 12 of 10",
      "charge d 0 of 5",
      "void b 0 of 10",
    ]);
    expect(await ledger.spend(workspaceId, { layer: "key", id: "k" })).toMatchObject({
      total: 16n,
      heldNano: 0n,
    });
    await expectEven(database);
  });

  it("T65: a pool that nobody attends expires at once for all its calls; their ends are told so, and charged late once", async () => {
    const database = await open();
    await setUp(database);
    const clock = manualClock(Date.parse("2026-11-04T12:00:00Z"));
    const ledger = createLedger(database, clock);
    await Promise.all(["a", "b", "c"].map((id) => ledger.reserve(call(id, 10n))));
    clock.advance(leaseMs - 1);
    expect(await ledger.expireHolds()).toBe(0);
    await ledger.extendPools(leaseMs);
    clock.advance(leaseMs - 1);
    expect(await ledger.expireHolds()).toBe(0);
    clock.advance(1);
    expect(await createLedger(database, clock).expireHolds()).toBe(3);
    expect((await ledger.balance(workspaceId)).heldNano).toBe(0n);

    // New calls of the key have a pool of their own, which the late ones do not lower.
    const turn = await Promise.all([
      ledger.post(post("a", 4n)),
      ledger.void(name("b")),
      ledger.reserve(call("d", 10n)),
    ]);
    expect(turn.map((result) => result.outcome)).toEqual([
      "already_voided",
      "already_voided",
      "reserved",
    ]);
    expect(await holdsOf(database)).toMatchObject([{ amount_nano: 10n, calls: 1 }]);
    for (let again = 0; again < 2; again += 1) {
      expect(await ledger.chargeExpired(post("a", 4n + BigInt(again)))).toEqual({
        outcome: "posted",
        chargedNano: 4n,
      });
      expect(await ledger.post(post("a", 4n))).toMatchObject({ outcome: "already_voided" });
    }
    await ledger.post(post("d", 10n));
    const pool = (await ledger.entries(workspaceId)).entries.find(
      (entry) => entry.heldNano === 30n,
    );
    expect(pool).toMatchObject({ kind: "expire", keyId: "k", amountNano: 0n });
    expect((await entriesOf(ledger)).filter((one) => !one.includes("pool_"))).toEqual([
      "charge a:late 4 of 0",
      "charge d 10 of 10",
      "expire a 0 of 0",
      "expire b 0 of 0",
    ]);
    await ledger.void(name("c"));
    await expectEven(database);
  });

  it("T63: of 1,000 pooled reservations on three ledgers with credit for 100, exactly 100 pass", async () => {
    const database = await open();
    await setUp(database);
    const ledgers = [1, 2, 3].map(() => createLedger(database, systemClock));
    const results = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        ledgers[index % 3]!.reserve(call(`r${index}`, 10n, index % 2 === 0 ? "k" : "l")),
      ),
    );
    const reserved = results.flatMap(({ outcome }, index) =>
      outcome === "reserved" ? [index] : [],
    );
    expect(reserved).toHaveLength(100);
    expect((await ledgers[0]!.balance(workspaceId)).availableNano).toBe(0n);
    await Promise.all(
      reserved.map((index) => ledgers[index % 3]!.post(post(`r${index}`, BigInt(index % 11)))),
    );
    await expectEven(database);
  });

  it("T63: hard caps of all layers count what pools hold, and caps that leave room do not keep calls out of pools", async () => {
    const database = await open();
    await setUp(database);
    const layers = [
      ["key", "k"],
      ["member", "m"],
      ["workspace", workspaceId],
    ] as const;
    for (const [layer, id] of layers) {
      const ledgers = [1, 2].map(() => createLedger(database, systemClock));
      const cap = (amountNano: bigint | null) =>
        setCap(database, { layer, workspaceId, id, window: "total", amountNano, hard: true });
      const spent = (await ledgers[0]!.spend(workspaceId, { layer, id })).total;
      await cap(spent + 105n);
      const ids = Array.from({ length: 30 }, (_, index) => `${layer}${index}`);
      const results = await Promise.all(
        ids.map((one, index) => ledgers[index % 2]!.reserve(call(one, 10n))),
      );
      const reserved = ids.filter((_, index) => results[index]!.outcome === "reserved");
      expect(reserved).toHaveLength(10);
      for (const one of reserved) {
        await Promise.all(ledgers.map((ledger) => ledger.post(post(one, 1n))));
      }
      expect((await ledgers[0]!.spend(workspaceId, { layer, id })).total).toBe(spent + 10n);
      expect(await ledgers[0]!.reserve(call(`${layer}-room`, 10n))).toMatchObject({ pooled: true });
      await cap(spent + 10n);
      expect(await ledgers[0]!.reserve(call(`${layer}-none`, 0n))).toMatchObject({
        outcome: "cap_reached",
        layer,
      });
      await ledgers[0]!.void(name(`${layer}-room`));
      await cap(null);
    }
    await expectEven(database);
  });

  it("KEY-13 T70: a cap, a key's end and a taking back are in force for the next call, in the middle of a burst", async () => {
    const database = await open();
    await setUp(database, 1_000_000n);
    // It stands still: nothing that was decided a moment ago becomes old.
    const ledger = createLedger(database, manualClock(Date.now()));
    let count = 0;
    const burst = () =>
      Promise.all(
        Array.from({ length: 40 }, async () => {
          const id = `r${(count += 1)}`;
          const { outcome } = await ledger.reserve(call(id, 10n));
          return { id, outcome };
        }),
      );
    const cap = { layer: "key", workspaceId, id: "k", window: "total", amountNano: 0n } as const;
    const key = (status: string) => database.query("update api_keys set status = $1", [status]);
    const credit = (amountNano: bigint) =>
      ledger.credit({ workspaceId, amountNano, reference: `${(count += 1)}` });
    const changes: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      [
        "cap_reached",
        () => setCap(database, cap),
        () => setCap(database, { ...cap, amountNano: null }),
      ],
      ["key_disabled", () => key("disabled"), () => key("active")],
      ["insufficient_balance", () => credit(-1_000_000n), () => credit(1_000_000n)],
    ];
    for (const [outcome, change, takeBack] of changes) {
      const begun = await burst();
      expect(new Set(begun.map((one) => one.outcome))).toEqual(new Set(["reserved"]));
      await change();
      expect(new Set((await burst()).map((one) => one.outcome))).toEqual(new Set([outcome]));
      await Promise.all(begun.map(({ id }) => ledger.post(post(id, 0n))));
      await takeBack();
    }
    await expectEven(database);
  });

  it("KEY-13: a key that is disabled, expired or rotated away is refused in the reservation itself", async () => {
    const database = await open();
    await setUp(database);
    const clock = manualClock(Date.parse("2026-11-04T12:00:00Z"));
    const ledger = createLedger(database, clock);
    await ledger.reserve(call("before", 1n));
    const change = (set: string) => database.query(`update api_keys set ${set} where id = 'k'`);
    let count = 0;
    const outcome = async (keyRotation?: number) => {
      const id = `r${(count += 1)}`;
      const result = await ledger.reserve({ ...call(id, 1n), keyRotation });
      if (result.outcome === "reserved") await ledger.void(name(id));
      return result.outcome;
    };
    await change("status = 'disabled'");
    expect(await outcome()).toBe("key_disabled");
    await change("status = 'active', expires_at = '2026-11-04T12:00:00Z'");
    expect(await outcome()).toBe("key_expired");
    await change(
      "expires_at = null, rotations = 1, previous_lookup = 'y', previous_expires_at = '2026-11-04T12:00:01Z'",
    );
    expect(await outcome(0)).toBe("reserved");
    clock.advance(1_000);
    expect(await outcome(0)).toBe("key_unknown");
    expect(await outcome(1)).toBe("reserved");
    expect(await ledger.post(post("before", 1n))).toMatchObject({ outcome: "posted" });
    await expectEven(database);
  });
});

/** A turn on one pool does what the general turn does, whatever comes. Migration 0017; docs/ledger.md "Pooled holds". */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { addKey, addWorkspace, setCap } from "./support.ts";

interface TurnInput {
  /** What the calls that are over cost; null is a void. */
  readonly charges: readonly (bigint | null)[];
  /** What the calls that begin reserve. */
  readonly begun: readonly bigint[];
  /** The number of the batch that raises; one that comes again must not raise twice. */
  readonly batch: number;
}

const now = "2026-11-20T12:00:00.000Z";
const heldNano = 10n;
const sum = (amounts: readonly (bigint | null)[]): bigint =>
  amounts.reduce<bigint>((total, amount) => total + (amount ?? 0n), 0n);

/** What both statements are given; `workspace` has one pool, "pool", of its key "k". */
function partsOf(workspace: string, turn: TurnInput, prefix: string, isNew: boolean) {
  let charged = 0n;
  const upTo = turn.charges.map((charge) => (charged += charge ?? 0n));
  return {
    ids: turn.charges.map((_, index) => `${prefix}-${index}`),
    helds: turn.charges.map(() => heldNano),
    upTo,
    charge: turn.charges.some((charge) => charge !== null) ? sum(turn.charges) : null,
    held: heldNano * BigInt(turn.charges.length),
    raised: sum(turn.begun),
    workspace,
    isNew,
    turn,
  };
}

type Parts = ReturnType<typeof partsOf>;

const one = async (database: Database, parts: Parts): Promise<object[]> =>
  database.query(
    "select place, outcome from ledger_pool_turn($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16)",
    [
      now,
      parts.workspace,
      "k",
      null,
      "pool",
      parts.ids,
      parts.turn.charges,
      parts.helds,
      parts.upTo,
      parts.charge,
      parts.held,
      parts.isNew,
      parts.raised,
      parts.turn.begun.length,
      60_000,
      parts.turn.batch,
    ],
  );

const general = async (database: Database, parts: Parts): Promise<object[]> => {
  const ended = <Item>(item: Item): Item[] => (parts.ids.length > 0 ? [item] : []);
  const begun = <Item>(item: Item): Item[] => (parts.turn.begun.length > 0 ? [item] : []);
  return database.query(
    `select place, outcome from ledger_pooled(${Array.from({ length: 21 }, (_, index) => `$${index + 1}`).join(",")})`,
    [
      now,
      ended(parts.workspace),
      ended("pool"),
      ended(parts.charge),
      ended(parts.held),
      ended(parts.ids.length),
      parts.ids,
      parts.ids.map(() => 1),
      parts.turn.charges,
      parts.helds,
      parts.upTo,
      begun(parts.workspace),
      begun("k"),
      begun(null),
      begun("pool"),
      begun(parts.isNew),
      begun(parts.raised),
      begun(parts.raised),
      begun(parts.turn.begun.length),
      begun(60_000),
      parts.turn.batch,
    ],
  );
};

/** All that the ledger holds of a workspace, but for its name and the order of other workspaces' entries. */
async function booksOf(database: Database, workspace: string): Promise<unknown> {
  const of = (sql: string) => database.query(sql, [workspace]);
  return {
    account: await of(
      "select credits_nano, charged_nano, held_nano from ledger_accounts where workspace_id = $1",
    ),
    holds: await of(
      `select id, key_id, member_id, kind, amount_nano, lease_until, calls, raised_by from ledger_holds
       where workspace_id = $1`,
    ),
    entries: await of(
      `select reference, kind, amount_nano, held_nano, balance_after_nano, key_id, member_id, created_at from ledger_entries
       where workspace_id = $1 order by entry`,
    ),
    spend: await of(
      `select scope, nullif(scope_id, $1) as id, total_nano, month_nano, week_nano, day_nano from ledger_spend
       where workspace_id = $1 order by scope`,
    ),
  };
}

const turnInput: fc.Arbitrary<TurnInput> = fc.record({
  charges: fc.array(fc.option(fc.bigInt(0n, 30n)), { maxLength: 4 }),
  begun: fc.array(fc.constant(heldNano), { maxLength: 4 }),
  batch: fc.nat({ max: 3 }),
});

const situation = fc.record({
  creditNano: fc.constantFrom(50n, 200n, 10_000n),
  capNano: fc.option(fc.constantFrom(40n, 10_000n), { freq: 4 }),
  disabledAfter: fc.option(fc.nat({ max: 6 }), { freq: 3 }),
  turns: fc.array(turnInput, { minLength: 1, maxLength: 8 }),
});

describeDatabase("a turn on one pool", (open) => {
  it("BILL-04 T63 T65 T67: leaves the books as the general turn does, and answers as it does", async () => {
    const database = await open();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(situation, async ({ creditNano, capNano, disabledAfter, turns }) => {
        runs += 1;
        const sides = [
          { workspace: `one-${runs}`, take: one },
          { workspace: `all-${runs}`, take: general },
        ];
        for (const { workspace } of sides) {
          await addWorkspace(database, workspace);
          await addKey(database, { workspaceId: workspace, id: "k", createdBy: "m" });
          const cap = { layer: "key", workspaceId: workspace, id: "k", window: "total" } as const;
          await setCap(database, { ...cap, amountNano: capNano });
          await database.query(
            "update ledger_accounts set credits_nano = $2 where workspace_id = $1",
            [workspace, creditNano],
          );
        }
        // What is open, as its process knows it: no more calls end than have begun.
        let openCalls = 0;
        for (const [index, turn] of turns.entries()) {
          const charges = turn.charges.slice(0, openCalls);
          if (charges.length === 0 && turn.begun.length === 0) continue;
          const isNew = openCalls === 0;
          if (index === disabledAfter)
            await database.query(
              "update api_keys set status = 'disabled' where workspace_id = any($1)",
              [sides.map(({ workspace }) => workspace)],
            );
          const answers: object[][] = [];
          for (const { workspace, take } of sides) {
            const parts = partsOf(workspace, { ...turn, charges }, `t${index}`, isNew);
            answers.push(await take(database, parts));
          }
          expect(answers[0]).toEqual(answers[1]);
          const [first, second] = [
            await booksOf(database, sides[0]!.workspace),
            await booksOf(database, sides[1]!.workspace),
          ];
          expect(first).toEqual(second);
          const raised = answers[0]!.length === 0 ? turn.begun.length : 0;
          openCalls += raised - charges.length;
        }
      }),
      { numRuns: 60 },
    );
  });
});

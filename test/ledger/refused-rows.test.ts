/** The database refuses rows that no rule of the ledger writes, also those written by hand. docs/ledger.md "Proof". */
import { expect, it } from "vitest";
import { describeDatabase } from "../support/postgres.ts";
import { addWorkspace } from "./support.ts";

const entry = (kind: string, keyId: string | null, amounts: { amount: number; held: number }) =>
  `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
   values ('w', '${kind}', '${kind}', ${amounts.amount}, ${amounts.held}, 0, ${keyId === null ? "null" : `'${keyId}'`}, now())`;
const task = (status: string, nano: { cost: number; reserved: number }) =>
  `insert into tasks (workspace_id, id, key_id, kind, family, model, form, status, request, plan, reserved_nano, cost_nano, due_at,
     expires_at, created_at, updated_at)
   values ('w', 'task_${status}', 'k', 'image', 'f', 'm', 'tasks', '${status}', '{}', '{}', ${nano.reserved}, ${nano.cost},
     ${status === "running" ? "now()" : "null"}, now(), now(), now())`;
const counters = (day: number) =>
  `insert into ledger_spend (workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day)
   values ('w', 'key', 'k', 5, 5, 5, ${day}, now())`;

const written: readonly string[] = [
  entry("credit", null, { amount: -5, held: 0 }),
  entry("charge", "k", { amount: 5, held: 4 }),
  entry("void", "k", { amount: 0, held: 4 }),
  entry("expire", "k", { amount: 0, held: 4 }),
  counters(0),
  task("running", { cost: 0, reserved: 5 }),
  task("failed", { cost: 0, reserved: 5 }),
  task("succeeded", { cost: 6, reserved: 5 }),
];

const refused: readonly (readonly [what: string, constraint: string, sql: string])[] = [
  ["a void that charges", "uncharged", entry("void", "k", { amount: 1, held: 4 })],
  ["an expiry that charges", "uncharged", entry("expire", "k", { amount: 1, held: 4 })],
  ["a charge of no key", "entries_key", entry("charge", null, { amount: 5, held: 4 })],
  ["a credit of a key", "entries_key", entry("credit", "k", { amount: 5, held: 0 })],
  ["a credit that was reserved", "entries_held", entry("credit", null, { amount: 5, held: 1 })],
  ["a negative reservation", "entries_held", entry("charge", "k", { amount: 5, held: -1 })],
  ["a negative counter of a key", "spend_counters", counters(-1)],
  [
    "a negative counter of a workspace",
    "accounts_counters",
    "update ledger_accounts set week_nano = -1",
  ],
  ["a running task that costs", "tasks_cost", task("running", { cost: 1, reserved: 5 })],
  ["a failed task that costs", "tasks_cost", task("failed", { cost: 1, reserved: 5 })],
  ["a task of negative cost", "tasks_cost", task("succeeded", { cost: -1, reserved: 5 })],
  ["a task of negative bound", "tasks_reserved", task("running", { cost: 0, reserved: -1 })],
];

describeDatabase("rows of money", (open) => {
  it("BILL-04: are refused if no rule writes them", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    for (const [what, constraint, sql] of refused) {
      const said = await database.query(sql).then(() => "written", String);
      expect(`${what}: ${said}`).toContain(`${constraint}"`);
    }
    for (const sql of written) await database.query(sql);
  });
});

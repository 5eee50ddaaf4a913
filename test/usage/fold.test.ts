/** Random calls, late rows, lost rows and killed steps: usage equals the sums of ledger and log at every moment. */
import * as fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { granularities, usageGroups } from "../../src/base/management.ts";
import { parseUsd } from "../../src/base/money.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { foldUsage, readUsage, type UsageFilter } from "../../src/usage/index.ts";
import { addKey, addWorkspace, tamper } from "../ledger/support.ts";
import { shortOrLong } from "../support/long.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";
import { foldStep } from "./fold-step.ts";
import { Calls, keyNames, keysOf, type LogRow, type Question } from "./model.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A step that fails at its last statement, like one that is killed. */
async function killedStep(database: Database, most: number): Promise<void> {
  const dying: Database = {
    ...database,
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        await work(tx);
        throw new Error("killed");
      }, options),
  };
  await expect(foldStep(dying, most, tags)).rejects.toThrow("killed");
}

interface Row {
  readonly start: string;
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly cost: string;
  readonly [name: string]: unknown;
}

const columnOf = (group: string): string =>
  ["key", "member", "workspace"].includes(group) ? `${group}_id` : group;

async function readAnswer(database: Database, question: Question): Promise<object> {
  const { team, ...equal } = question.equal ?? {};
  const filter: UsageFilter = {
    visibility: seesEverything,
    from: new Date(question.fromMs),
    to: new Date(question.toMs),
    granularity: question.granularity,
    groupBy: question.byTeam === true ? undefined : question.groupBy,
    tag:
      question.byTeam === true || team !== undefined
        ? { name: "team", value: team, grouped: question.byTeam === true }
        : undefined,
    equal,
    timeZone: question.timeZone,
  };
  const rows = (await readUsage(database, filter)) as Row[];
  const named = rows.map((row) => {
    const column = question.byTeam === true ? "tag" : columnOf(question.groupBy ?? "");
    const group = row[column] as string | null | undefined;
    const { requests, errors, input_tokens: input, cost } = row;
    return [`${row.start} ${group ?? ""}`, { requests, errors, input, cost: parseUsd(cost) }];
  });
  return Object.fromEntries(named) as object;
}

const call = fc.record({
  kind: fc.constantFrom("paid", "paid", "paid", "free", "late", "lost", "outlived", "freeThenPaid"),
  key: fc.constantFrom(...keyNames),
  agoMs: fc.oneof(
    // Calls with equal values, except their numbers.
    fc.constantFrom(0, 1, 2 * hourMs),
    fc.integer({ min: 0, max: 20 * hourMs }),
    fc.integer({ min: 0, max: 70 * dayMs }),
  ),
  cost: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  model: fc.constantFrom("a/one", "a/one", "a/two", "b/three"),
  provider: fc.constantFrom("p", "p", "q"),
  failed: fc.constantFrom(false, false, true),
  input: fc.integer({ min: 0, max: 10_000 }),
  team: fc.constantFrom(undefined, "search", "__proto__", "a'b"),
});
const tags = ["team"];
const steps = {
  none: () => Promise.resolve(0),
  some: (database: Database) => foldStep(database, 3, tags),
  killed: (database: Database) => killedStep(database, 2),
  // In steps far smaller than the possible number of rows.
  all: (database: Database) => foldUsage(database, { tags, most: 4 }),
} as const;
const step = fc.constantFrom("none", "none", "some", "killed", "all");

const endOf = (failed: boolean) =>
  failed
    ? ({ status: "failed", errorCode: "upstream_unavailable" } as const)
    : ({ status: "succeeded", errorCode: "" } as const);

/** Questions about tags cover whole UTC days of workspaces and members. `value` undefined groups by the tag. */
function byDays(question: Question, value: string | undefined): Question {
  const { fromMs, toMs, granularity, groupBy, equal = {} } = question;
  const { workspace_id: workspace, member_id: member } = equal;
  const isOwner = groupBy === "workspace" || groupBy === "member";
  return {
    byTeam: value === undefined,
    ...(value !== undefined && isOwner && { groupBy }),
    fromMs: Math.floor(fromMs / dayMs) * dayMs,
    toMs: Math.ceil(toMs / dayMs) * dayMs,
    granularity: granularity === "hour" ? "day" : granularity,
    equal: {
      ...(workspace !== undefined && { workspace_id: workspace }),
      ...(member !== undefined && { member_id: member }),
      ...(value !== undefined && { team: value }),
    },
  };
}

const question = (nowMs: number) =>
  fc
    .tuple(anyQuestion(nowMs), fc.constantFrom("no", "no", "grouped", "search", "__proto__"))
    .map(([one, by]): Question =>
      by === "no" ? one : byDays(one, by === "grouped" ? undefined : by),
    );

const anyQuestion = (nowMs: number) =>
  fc.record(
    {
      fromMs: fc.integer({ min: nowMs - 75 * dayMs, max: nowMs - hourMs }),
      toMs: fc.integer({ min: nowMs - hourMs, max: nowMs + hourMs }),
      granularity: fc.constantFrom(...granularities),
      groupBy: fc.constantFrom(...usageGroups),
      timeZone: fc.constantFrom(
        "-12:00",
        "+05:00",
        "+14:00",
        "Europe/Berlin",
        "America/New_York",
        "Pacific/Auckland",
        // Zones whose days begin within a UTC hour.
        "Asia/Kolkata",
        "Asia/Kathmandu",
        "America/St_Johns",
      ),
      equal: fc.constantFrom<Record<string, string>>(
        {},
        {},
        { key_id: "k1" },
        { member_id: "m1" },
        { model: "a/one" },
        { workspace_id: "w2" },
        { status: "failed" },
        { provider: "q", model: "b/three" },
        { protocol: "chat" },
      ),
    },
    { requiredKeys: ["fromMs", "toMs", "granularity"] },
  );

describeDatabase("sums of usage", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    for (const id of ["w1", "w2"]) await addWorkspace(database, id);
    for (const [id, { workspace, member }] of Object.entries(keysOf))
      await addKey(database, { workspaceId: workspace, id, createdBy: member || undefined });
  });

  async function clear(): Promise<void> {
    await tamper(database, "delete from ledger_entries");
    for (const table of [
      "requests",
      "usage_hours",
      "usage_days",
      "usage_tags",
      "usage_folds",
      "usage_pending",
      "usage_unattributed",
    ])
      await database.query(`delete from ${table}`);
  }

  it("equal the ledger's sums after any history of late, lost and failed calls and killed steps", async () => {
    const nowMs = Date.now();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(call, step), { minLength: 1, maxLength: 30 }),
        fc.array(question(nowMs), { minLength: 6, maxLength: 6 }),
        // All calls have every count, whether their hour is before or after the migration.
        fc.constantFrom(0, nowMs - 30 * dayMs, nowMs),
        async (history, questions, appliedMs) => {
          await clear();
          await database.query("update schema_migrations set applied_at = $1", [
            new Date(appliedMs),
          ]);
          const log = createRequestLog(database, silentLog);
          const calls = new Calls(database, log);
          const late: LogRow[] = [];
          const latePaid: Parameters<Calls["charge"]>[0][] = [];
          const compare = async (asked: readonly Question[]): Promise<void> => {
            for (const one of asked)
              expect({ one, is: await readAnswer(database, one) }).toEqual({
                one,
                is: calls.answer(one),
              });
          };
          for (const [one, then] of history) {
            const recent = one.kind === "late" || one.kind === "freeThenPaid";
            const atMs = nowMs - (recent ? one.agoMs % (20 * hourMs) : one.agoMs);
            const id = calls.id(atMs);
            const costNano = one.kind.startsWith("free") ? 0n : one.cost;
            const ended = endOf(one.failed);
            const row: LogRow = { ...one, ...ended, id, atMs, costNano, tookMs: one.input };
            const charge = { id, key: one.key, atMs: atMs + 50, costNano: one.cost };
            if (one.kind === "late") late.push(row);
            else if (one.kind !== "lost") await calls.log(row);
            if (one.kind === "freeThenPaid") latePaid.push(charge);
            else if (one.kind !== "free") await calls.charge(charge, one.kind === "outlived");
            await steps[then](database);
          }
          await compare(questions.slice(0, 2));
          for (const row of late) await calls.log(row);
          for (const charge of latePaid) await calls.charge(charge);
          await compare(questions.slice(2, 4));
          await foldStep(database, 2, tags);
          await compare(questions.slice(2, 4));
          await foldUsage(database, { tags, most: 5 });
          // A run that reports its end has left nothing.
          expect(await foldStep(database, 1_000, tags)).toBe(0);
          await compare(questions);
          const differences = await verifyLedger(database);
          expect(differences.filter(({ what }) => what.startsWith("usage"))).toEqual([]);
        },
      ),
      { numRuns: shortOrLong(8, 600) },
    );
  });
});

/** The books of an installation after a fault: compares what callers saw with charges, task ends and callbacks. */
import { expect } from "vitest";
import { verifyLedger } from "../../../src/verification/index.ts";
import { eventually } from "../../support/patience.ts";
import type { Database } from "../../../src/storage/index.ts";
import { setLedgerClock } from "../../ledger/support.ts";
import type { Fault } from "./faults/index.ts";
import type { TrafficResults } from "./traffic.ts";
import type { World } from "./world.ts";

export interface Audit {
  readonly begun: number;
  readonly answered: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly cut: number;
  readonly tasks: number;
  readonly callbacks: number;
  /** Answers without a charge, tasks without an end, ended tasks without a callback. */
  readonly lost: string[];
  /** Calls that were charged twice, tasks requested from the vendor twice, tasks with callbacks about two ends. */
  readonly doubled: string[];
  /** Charges that differ from the price, or a ledger that does not add up. */
  readonly wrong: string[];
  /** Resident memory of the largest gateway. */
  readonly memory_mb: number;
}

interface Task {
  readonly id: string;
  readonly status: string;
  readonly cost_nano: bigint;
  readonly error: { readonly code: string } | null;
}

interface Charge {
  readonly reference: string;
  readonly amount_nano: bigint;
}

/** Errors that a caller may see because of a fault elsewhere, including the balancer's 502. */
const allowed = /^(?:50[0234] |in a stream )/;
/**
 * Tasks and callbacks are retried with doubling pauses. A task whose gateway died during its request is given up after 330 s (its
 * lease, and the time in which the answer may still come).
 */
const endMsMax = 400_000;
const clipNano = 100_000_000n;
const ended = (task: Task) => !["queued", "running"].includes(task.status);

/** Waits until everything that was accepted has ended, then checks the books. */
export async function auditOf(world: World, fault: Fault, seen: TrafficResults): Promise<Audit> {
  const lost: string[] = [];
  const doubled: string[] = [];
  const wrong: string[] = [];
  const ids = [...seen.tasks.values()];
  await world.look(async (database) => {
    const tasks = await tasksAtEnd(database, ids);
    for (const task of tasks) if (!ended(task)) lost.push(`task ${task.id} is ${task.status}`);
    if (tasks.length < ids.length) lost.push(`${ids.length - tasks.length} tasks are not there`);
    const charges = await chargesOf(
      database,
      seen.answered.map(({ id }) => id),
      ids,
    );
    judgeCalls(seen, charges, { lost, wrong });
    for (const [id, { length }] of Map.groupBy(charges, ({ reference }) => reference))
      if (length > 1) doubled.push(`${id} is charged ${length} times`);
    judgeTasks(tasks, charges, fault, wrong);
    for (const name of seen.refused.keys()) if (!allowed.test(name)) wrong.push(`refused: ${name}`);
    for (const difference of await verifyLedger(database)) wrong.push(JSON.stringify(difference));
  });
  const called = await eventually(
    () => ids.every((id) => world.arrived.has(id)),
    "all callbacks",
    endMsMax,
  ).then(
    () => ids.length,
    () => ids.filter((id) => world.arrived.has(id)).length,
  );
  for (const id of ids) {
    const events = world.arrived.get(id)?.size ?? 0;
    if (events === 0) lost.push(`no callback of ${id}`);
    if (events > 1) doubled.push(`${events} ends of ${id} called back`);
  }
  for (const [name] of seen.tasks)
    if ((world.asked.get(name) ?? 0) > 1) doubled.push(`the vendor was asked for ${name} twice`);
  return {
    begun: seen.begun,
    answered: seen.answered.length + seen.tasks.size,
    refused: Object.fromEntries(seen.refused),
    cut: seen.cut,
    tasks: ids.length,
    callbacks: called,
    lost,
    doubled,
    wrong,
    memory_mb: Math.max(...world.memoryMb()),
  };
}

async function tasksAtEnd(database: Database, ids: readonly string[]): Promise<Task[]> {
  const read = () =>
    database.query<Task>(
      "select id, status, cost_nano, error from tasks where id = any($1::text[])",
      [ids],
    );
  await eventually(async () => (await read()).every(ended), "the tasks' ends", endMsMax).catch(
    () => undefined,
  );
  return read();
}

/** The charge is written a moment after the answer: waits for the charge of each. */
async function chargesOf(
  database: Database,
  answered: readonly string[],
  tasks: readonly string[],
): Promise<Charge[]> {
  const read = () =>
    database.query<Charge>(
      "select reference, amount_nano from ledger_entries where kind = 'charge' and reference = any($1::text[])",
      [[...answered, ...tasks]],
    );
  await eventually(async () => {
    const charged = new Set((await read()).map(({ reference }) => reference));
    return answered.every((id) => charged.has(id));
  }, "the charges").catch(() => undefined);
  return read();
}

function judgeCalls(
  { answered }: TrafficResults,
  charges: readonly Charge[],
  { lost, wrong }: { lost: string[]; wrong: string[] },
): void {
  const of = new Map(charges.map(({ reference, amount_nano }) => [reference, amount_nano]));
  for (const { id, kind, priceNano } of answered) {
    const amount = of.get(id);
    if (amount === undefined) lost.push(`${kind} ${id} is not charged`);
    else if (amount !== priceNano) wrong.push(`${kind} ${id} is charged ${amount}`);
  }
}

/** A task with a result is charged, and no other is. A task fails only if the fault allows it, or if its outcome cannot be known. */
function judgeTasks(
  tasks: readonly Task[],
  charges: readonly Charge[],
  { tasksFail }: Fault,
  wrong: string[],
): void {
  const of = new Map(charges.map(({ reference, amount_nano }) => [reference, amount_nano]));
  for (const { id, status, error } of tasks) {
    const charged = of.get(id) ?? 0n;
    const due = status === "succeeded" ? clipNano : 0n;
    if (charged !== due) wrong.push(`task ${id}, ${status}, is charged ${charged}`);
    const code = error?.code;
    if (status === "succeeded" || code === "submission_uncertain") continue;
    if (tasksFail === true || (code !== undefined && code === tasksFail)) continue;
    wrong.push(`task ${id} ${status}: ${JSON.stringify(error)}`);
  }
}

/** A minute later by the ledger's clock, when the leases of dead gateways have expired. */
export async function expectNothingLeft(world: World): Promise<void> {
  await expect.poll(() => Math.max(...world.memoryMb()), { timeout: 60_000 }).toBeLessThan(400);
  await world.look(async (database) => {
    const uploads = () => world.files.unfinished();
    await expect.poll(uploads, { timeout: 60_000 }).toEqual([]);
    await Promise.all(world.gateways.map((gateway) => gateway.stop()));
    const connections = () =>
      database.query<{ n: number }>(
        "select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and application_name like 'tollgate%'",
      );
    await expect.poll(async () => (await connections())[0]!.n, { timeout: 20_000 }).toBeLessThan(8);
    await setLedgerClock(database, new Date(Date.now() + 61_000).toISOString());
  });
  await world.respawn(0);
  await world.look(async (database) => {
    const held = () =>
      database.query(
        `select id from ledger_holds
         union all select key_id from ledger_allowances where amount_nano > 0`,
      );
    await expect.poll(held, { timeout: 60_000 }).toEqual([]);
    expect(await verifyLedger(database)).toEqual([]);
  });
}

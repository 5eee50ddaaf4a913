/** The conditions at the end of a history. */
import { readdirSync } from "node:fs";
import { sweepFiles } from "../../../src/files/index.ts";
import type { KnownTask } from "./history.ts";
import type { World } from "./world.ts";

interface Row {
  readonly id: string;
  readonly status: string;
  readonly cost_nano: bigint;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly artifacts: readonly { readonly name: string }[];
  readonly usage: { readonly tokens?: number } | null;
  readonly entries: readonly { readonly kind: string; readonly amount: number }[];
  readonly callbacks: readonly string[];
}

const rowsSql = `
  select t.id, t.status, t.cost_nano, t.error, t.artifacts, t.usage,
    (select coalesce(json_agg(json_build_object('kind', e.kind, 'amount', e.amount_nano)), '[]') from ledger_entries e
      where e.workspace_id = t.workspace_id and e.reference like t.id || '%') as entries,
    (select coalesce(json_agg(d.type), '[]') from webhook_deliveries d
      where d.workspace_id = t.workspace_id and d.task_id = t.id) as callbacks
  from tasks t where t.id = any($1)`;

/** Returns the violated conditions as sentences. */
export async function faultsOf(world: World, tasks: readonly KnownTask[]): Promise<string[]> {
  const { database, vendors, clock, files, directory } = world;
  const rows = await database.query<Row>(rowsSql, [tasks.map(({ id }) => id)]);
  const faults = rows.flatMap((row) => {
    const task = tasks.find(({ id }) => id === row.id)!;
    const jobs = vendors.jobs.filter(({ prompt }) => prompt === task.prompt);
    const logged = world.requestRows.filter(({ id }) => id === row.id);
    const seen = [...task.troubles].join(", ");
    return faultsOfRow(row, { task, jobs, logged: logged.length }).map(
      (fault) => `${row.id} (${row.status} ${row.error?.code ?? ""}; ${seen}): ${fault}`,
    );
  });
  await sweepFiles(database, files, new Date(clock.now()));
  const fileRows = await database.query<{ name: string; task_id: string }>(
    "select name, task_id from files",
  );
  const artifactNames = new Set(rows.flatMap(({ artifacts }) => artifacts.map(({ name }) => name)));
  const fileNames = new Set(readdirSync(directory));
  for (const name of artifactNames)
    if (!fileNames.has(name)) faults.push(`the file ${name} is gone`);
  const died = new Set(tasks.flatMap(({ id, troubles }) => (troubles.has("died") ? [id] : [])));
  const ids = new Set(tasks.map(({ id }) => id));
  for (const { name, task_id: id } of fileRows)
    if (ids.has(id) && !artifactNames.has(name) && !died.has(id))
      faults.push(`${id} left the file ${name}`);
  const own = new Set(fileRows.map(({ name }) => name));
  for (const name of fileNames) if (!own.has(name)) faults.push(`the file ${name} is nobody's`);
  const [held] = await database.query<{ n: number }>(
    "select count(*)::integer as n from ledger_holds",
    [],
  );
  if (held!.n > 0) faults.push(`${held!.n} holds are open`);
  return faults;
}

interface Context {
  readonly task: KnownTask;
  readonly jobs: World["vendors"]["jobs"];
  readonly logged: number;
}

type Fault = readonly [isOk: boolean, fault: string];

function faultsOfRow(row: Row, context: Context): string[] {
  const { jobs } = context;
  const one: Fault = [jobs.length <= 1, `the vendors have ${jobs.length} jobs of it`];
  return [
    one,
    ...moneyFaults(row),
    ...reportFaults(row, context),
    ...resultFaults(row, context),
    endFault(row, context),
  ]
    .filter(([isOk]) => !isOk)
    .map(([, fault]) => fault);
}

/** A task that succeeded was charged once; any other was released once. */
function moneyFaults({ entries, status, cost_nano: cost }: Row): Fault[] {
  const [entry] = entries;
  return [
    [entries.length === 1, `it has ${entries.length} entries`],
    [entry?.kind === (status === "succeeded" ? "charge" : "void"), `its entry is ${entry?.kind}`],
    [BigInt(entry?.amount ?? -1) === cost, "its charge is not its cost"],
  ];
}

/** One callback if the task has an address. One log row, unless the process died before it wrote the row. */
function reportFaults({ callbacks, status }: Row, { task, logged }: Context): Fault[] {
  const expected = task.webhook ? [`task.${status}`] : [];
  return [
    [String(callbacks) === String(expected), `its callbacks are ${String(callbacks)}`],
    [logged <= 1, `it is in the log ${logged} times`],
    [logged === 1 || task.troubles.has("died"), "it is not in the log"],
  ];
}

const nanoPerToken = 1_000_000n;
const pictureNano = 10_000_000n;

/** The artifacts and the cost match the vendor's job. */
function resultFaults(
  { status, artifacts, usage, cost_nano: cost }: Row,
  { jobs }: Context,
): Fault[] {
  const isMade = status === "succeeded";
  const files: Fault = [artifacts.length === (isMade ? 1 : 0), `${artifacts.length} artifacts`];
  if (!isMade) return [files];
  const [job] = jobs;
  const tokens = usage?.tokens;
  const least = tokens === undefined ? pictureNano : BigInt(tokens) * nanoPerToken;
  return [
    files,
    [job?.state === "done", `the vendor's job is ${job?.state}`],
    [tokens === undefined || tokens === job?.tokens, "not what the vendor told"],
    // The second provider is 0.1 % more expensive.
    [cost >= least && cost <= (least * 1_001n) / 1_000n, `it costs ${cost}`],
  ];
}

/** The end of the task has a legitimate reason. */
function endFault({ status, error }: Row, { task, jobs }: Context): Fault {
  const [job] = jobs;
  const { troubles } = task;
  const isUncertain = error?.code === "submission_uncertain";
  if (isUncertain) {
    const reasons = ["unknown outcome", "died", "silent"];
    return [reasons.some((one) => troubles.has(one)), "nobody knows why its fate is unknown"];
  }
  if (status === "canceled")
    return [(job?.state ?? "canceled") === "canceled", `the vendor's job is ${job?.state}`];
  const isLost = status !== "succeeded" && job?.state === "done" && job.isAcknowledged;
  // The gateway's storage only fails for a while, so it may not be the final reason.
  const isUnavailable =
    error?.code === "artifact_unavailable" && !error.message.includes("the gateway's storage");
  const isKnown = isUnavailable || troubles.has("missing");
  return [!isLost || isKnown, "the vendor made it for nothing"];
}

/**
 * Generates docs/reliability.md: results of a whole installation under each fault. The source is docs/reliability.json, which the
 * long form of test/faults/whole writes.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The results of the test for one fault. */
export interface FaultRow {
  readonly fault: string;
  readonly part: string;
  readonly begun: number;
  readonly answered: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly cut: number;
  readonly tasks: number;
  readonly callbacks: number;
  readonly lost: number;
  readonly doubled: number;
  readonly recovered_ms: number;
  readonly memory_mb: number;
}

const intro = `# Reliability

These guarantees hold after every fault in the table:

- An answer that its caller received completely is charged exactly once, at the exact price. A failed call costs at most
  what was delivered of it.
- An accepted task ends exactly once. It is charged exactly if it has a result.
- The end of each task sends a callback. Retries of a callback have the same event id.
- The ledger adds up: \`tollgate verify\` finds no difference, and no money stays reserved.

The test runs a whole installation: three gateways behind a balancer, and a PostgreSQL server with a synchronous standby.
Files are on S3, and the vendors are [simulated](sandbox.md). 24 calls a second arrive: texts, whole and streamed,
pictures, and videos as tasks with callbacks. The test injects one fault after another, each for 2 to 30 seconds. After
each, it compares every answer, task and callback that callers received with the ledger.

\`npm run test:long -- test/faults/whole\` runs all faults in about fifteen minutes and writes this table. A short form
with two faults is in \`npm test\`.

| column | meaning |
|---|---|
| begun | calls that callers sent |
| answered | calls that were answered completely |
| refused or cut | calls whose caller got an error. 502 \`balancer\` means that no gateway was ready. Some faults must fail no call at all; the test says which |
| recovery | time from the end of the fault until 30 more calls were answered, at 24 a second |
| lost | answers without a charge, tasks without an end, ends without a callback |
| doubled | charged twice, sent to the vendor twice, or two callbacks with different ends |
| memory | the largest gateway after the fault |
`;

const outro = `## What a fault costs

- A gateway that is killed loses the calls that it serves. Their reservations are released after 60 seconds.
- If a gateway is killed while it waits for a vendor to accept a task, the task ends as \`submission_uncertain\`. If a
  process of the same machine sees its death, that takes seconds, else 6 minutes. The task costs nothing, and is never
  sent twice.
- The request log is written in batches, a moment after the answer. Rows of a killed gateway may be missing;
  the ledger still has the entries.
- While the database is away, calls wait for seconds and are then refused with 503 and \`Retry-After\`. Streams in flight
  continue, and are charged when the database is back.
- If the only synchronous standby is gone, PostgreSQL stops commits. You decide whether the standby is synchronous.

## Other tests of faults

| fault | test |
|---|---|
| kill -9 of the gateway, of the embedded database and of both, a full disk, a paused server | \`test/faults/kill.test.ts\` |
| kill -9 at each step of a task's life | \`test/faults/task-kill.test.ts\` |
| rolling restarts behind a balancer and behind nginx | \`test/faults/rolling.test.ts\` |
| gateways whose clocks differ, and midnight | \`test/faults/clocks-apart.test.ts\` |
| gateways whose clocks are an hour off, with tasks and callbacks | \`test/faults/clocks-apart-tasks.test.ts\` |
| a gateway paused inside a transaction | \`test/faults/stopped.test.ts\` |
| a database 2 to 20 ms away whose answers get lost | \`test/ledger/far-database.test.ts\` |
| upstreams that hang, cut, flood and lie | \`test/faults/upstream.test.ts\` |
| random histories against a model of the ledger | \`test/ledger/model\` |
`;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function refusedOf({ refused, cut }: FaultRow): string {
  const all = Object.entries(refused).map(([name, count]) => {
    const [, status, code] = /^(.*) (\w+|not ours)$/.exec(name)!;
    return `${count} ${status} \`${code}\``;
  });
  if (cut > 0) all.push(`${cut} cut`);
  return all.length === 0 ? "none" : all.join(", ");
}

function tableOf(rows: readonly FaultRow[]): string {
  return [
    "| fault | begun | answered | refused or cut | recovery | tasks | callbacks | lost | doubled | memory |",
    "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|",
    ...rows.map(
      (row) =>
        `| ${row.fault} | ${row.begun} | ${row.answered} | ${refusedOf(row)} | ${seconds(row.recovered_ms)} | ${row.tasks} | ${row.callbacks} | ${row.lost} | ${row.doubled} | ${row.memory_mb} MB |`,
    ),
  ].join("\n");
}

/** The page's text. */
export function reliabilityPage(root: string): string {
  const text = readFileSync(join(root, "docs/reliability.json"), "utf8");
  const { at, rows } = JSON.parse(text) as { at: string; rows: readonly FaultRow[] };
  const parts = [...Map.groupBy(rows, ({ part }) => part)].map(
    ([part, of]) => `### ${part}\n\n${tableOf(of)}`,
  );
  const sum = (name: "begun" | "lost" | "doubled" | "tasks") =>
    rows.reduce((total, row) => total + row[name], 0);
  const summary = `Run of ${at}: ${rows.length} faults, ${sum("begun")} calls, ${sum("tasks")} of them tasks. **Lost: ${sum("lost")}. Doubled: ${sum("doubled")}.**`;
  return [intro, "## The table", "", summary, "", parts.join("\n\n"), "", outro].join("\n");
}

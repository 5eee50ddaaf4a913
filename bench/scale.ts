/**
 * `npm run bench:scale`: the cost of calls for one PostgreSQL, by rate, active workspaces and gateways, for docs/scale.md. It runs
 * the ledger and the request log of gateways without the gateways. Calls begin at a steady rate and take a moment. It measures only
 * processor time, bytes and counts, which are valid on a machine with other work too.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { newId } from "../src/base/ids.ts";
import { silentLog } from "../src/base/log.ts";
import { createLedger, creditIn } from "../src/ledger/index.ts";
import { createRequestLog } from "../src/request-log/index.ts";
import { verifyLedger } from "../src/verification/index.ts";
import { migrate, openDatabase, type Database } from "../src/storage/index.ts";
import { addKey, addWorkspace } from "../test/ledger/support.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { machineName, processorTimes, processTree, usedUs } from "./machine.ts";

interface Case {
  readonly perSecond: number;
  readonly workspaces: number;
  readonly gateways: number;
}

const options = { seconds: { type: "string", default: "5" } } as const;
const seconds = Number(parseArgs({ options }).values.seconds);
/** How long, in ms, a call is in flight. */
const callMs = 100;
const tickMs = 5;
const cases: readonly Case[] = [
  { perSecond: 10, workspaces: 1, gateways: 1 },
  { perSecond: 100, workspaces: 1, gateways: 1 },
  { perSecond: 1000, workspaces: 1, gateways: 1 },
  { perSecond: 100, workspaces: 10, gateways: 1 },
  { perSecond: 1000, workspaces: 10, gateways: 1 },
  { perSecond: 100, workspaces: 100, gateways: 1 },
  { perSecond: 1000, workspaces: 100, gateways: 1 },
  { perSecond: 1000, workspaces: 1, gateways: 3 },
  { perSecond: 1000, workspaces: 100, gateways: 3 },
  { perSecond: 1000, workspaces: 1, gateways: 10 },
  { perSecond: 3000, workspaces: 1, gateways: 1 },
  { perSecond: 3000, workspaces: 100, gateways: 3 },
];

/** The parts of one gateway that use the database. */
interface Gateway {
  readonly database: Database;
  readonly ledger: ReturnType<typeof createLedger>;
  readonly requestLog: ReturnType<typeof createRequestLog>;
}

async function openGateway(url: string): Promise<Gateway> {
  const database = await openDatabase({ url, log: silentLog });
  return {
    database,
    ledger: createLedger(database),
    requestLog: createRequestLog(database, silentLog),
  };
}

const workspaceOf = (at: number): string => `ws_${String(at).padStart(4, "0")}`;

async function call({ ledger, requestLog }: Gateway, at: number): Promise<void> {
  const workspaceId = workspaceOf(at);
  const keyId = `key_${at}`;
  const id = newId("req");
  const name = { workspaceId, id };
  await ledger.spend({ ...name, keyId, keyRotation: 0, amountNano: 2_000_000n }, async () => {
    await sleep(callMs);
    return { amountNano: 150_000n };
  });
  requestLog.add({
    ...name,
    keyId,
    createdAt: new Date(),
    model: "openai/gpt-5-mini",
    provider: "openai",
    protocol: "chat",
    upstreamProtocol: "chat",
    status: "succeeded",
    httpStatus: 200,
    usage: { input_tokens: 100, output_tokens: 50 },
    usageSource: "upstream",
    costNano: 150_000n,
    durationMs: callMs,
    stream: false,
  });
}

/** Starts calls at a steady rate for some time; resolves with their number when all have ended. */
async function run(gateways: readonly Gateway[], { perSecond, workspaces }: Case): Promise<number> {
  const calls: Promise<void>[] = [];
  const beganMs = performance.now();
  while (performance.now() - beganMs < seconds * 1000) {
    const due = ((performance.now() - beganMs) / 1000) * perSecond;
    while (calls.length < due)
      calls.push(call(gateways[calls.length % gateways.length]!, calls.length % workspaces));
    await sleep(tickMs);
  }
  await Promise.all(calls);
  await Promise.all(gateways.map(({ requestLog }) => requestLog.flush()));
  return calls.length;
}

const parentOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
};

async function look(client: Client) {
  const { rows } = await client.query<Record<string, string>>(
    `select pg_backend_pid() as own, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
       (select sum(calls) from pg_stat_user_functions where funcname = 'ledger_batch') as batches,
       (select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relname like 'requests%') as log,
       pg_total_relation_size('ledger_entries') as entries,
       (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) as connections`,
  );
  const row = Object.fromEntries(
    Object.entries(rows[0]!).map(([name, text]) => [name, Number(text)]),
  );
  // All processes of the server except the one of this connection.
  const pids = processTree(parentOf(row["own"]!)).filter((pid) => pid !== row["own"]);
  return { ...row, cpu: processorTimes(pids) } as Record<string, number> & {
    cpu: ReadonlyMap<number, number>;
  };
}

/** Rounds to three significant digits. */
const short = (value: number): number => Number(value.toPrecision(3));

async function measure(one: Case, url: string) {
  const gateways: Gateway[] = [];
  for (let at = 0; at < one.gateways; at += 1) gateways.push(await openGateway(url));
  const { database } = gateways[0]!;
  await migrate(database);
  for (let at = 0; at < one.workspaces; at += 1) {
    await addWorkspace(database, workspaceOf(at));
    await addKey(database, { workspaceId: workspaceOf(at), id: `key_${at}` });
    await creditIn(database, {
      workspaceId: workspaceOf(at),
      amountNano: 10n ** 15n,
      reference: "all",
    });
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  // Opens connections and prepares statements.
  await Promise.all(gateways.map((gateway) => call(gateway, 0)));
  await sleep(1_200);
  const before = await look(client);
  const calls = await run(gateways, one);
  // A server process reports its statistics within a second.
  await sleep(1_200);
  const after = await look(client);
  const grown = (name: string): number => (after[name]! - before[name]!) / calls;
  const differences = await verifyLedger(database);
  if (differences.length > 0) throw new Error("the ledger does not add up");
  const us = usedUs(before.cpu, after.cpu);
  await client.end();
  for (const gateway of gateways) {
    await gateway.ledger.close();
    await gateway.database.close();
  }
  return {
    "calls/s": one.perSecond,
    workspaces: one.workspaces,
    gateways: one.gateways,
    "server µs/call": short(us / calls),
    "server cores": short((us / calls) * one.perSecond * 1e-6),
    "calls/batch": short(1 / grown("batches")),
    "WAL bytes/call": short(grown("wal")),
    "log bytes/call": short(grown("log")),
    "ledger bytes/call": short(grown("entries")),
    connections: after["connections"],
  };
}

const server = await startPostgres({ fsync: true });
try {
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  await admin.query("alter system set track_functions = 'pl'");
  await admin.query("select pg_reload_conf()");
  await admin.end();
  const rows = [];
  for (const one of cases) rows.push(await measure(one, await server.createDatabase()));
  console.log(`${machineName}, ${seconds} seconds each`);
  console.table(rows);
} finally {
  await server.stop();
}

/**
 * Histories of several gateway processes that use the same keys concurrently, on the real clock. Answers are lost, batches arrive
 * late, accounts are locked, processes are killed. No cap or balance is exceeded, every confirmed end is written once, no refused
 * call is written, and nothing is held at the end. The long form runs 5,000. The seed decides what each process does, not the timing.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { verifyLedger } from "../../../src/verification/index.ts";
import { openDatabase, type Database } from "../../../src/storage/index.ts";
import { shortOrLong, isLong } from "../../support/long.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import { randomOf } from "./random.ts";
import type { Round, ChildMessage } from "./several-child.ts";

const histories = Number(process.env["TOLLGATE_TEST_HISTORIES"] ?? shortOrLong(20, 5_000));
const firstSeed = Number(process.env["TOLLGATE_TEST_SEED"] ?? 1);
/** Concurrent histories, each in its own workspace. */
const atOnce = 20;
const processes = shortOrLong(2, 3);
const program = fileURLToPath(new URL("./several-child.ts", import.meta.url));

interface Child {
  readonly process: ChildProcess;
  gateway: string;
  readonly written: Map<string, number | null | undefined>;
  over: number | undefined;
}

async function start(url: string): Promise<Child> {
  const child: Child = {
    process: fork(program, [url]),
    gateway: "",
    written: new Map(),
    over: undefined,
  };
  child.process.on("message", (told: ChildMessage) => {
    if ("gateway" in told) child.gateway = told.gateway;
    else if ("over" in told) child.over = told.over;
    else child.written.set(`${told.workspace} ${told.id}`, told.charge);
  });
  await expect.poll(() => child.gateway).not.toBe("");
  return child;
}

/** Workspaces with little money, and hard caps on some of their keys, members and themselves. */
async function newWorkspaces(database: Database, seed: number): Promise<string[]> {
  const random = randomOf(seed);
  const names: string[] = [];
  const cap = () => (random() < 0.4 ? 30 + Math.floor(random() * 200) : null);
  for (let index = 0; index < atOnce; index += 1) {
    const id = `r${seed}w${index}`;
    names.push(id);
    await database.query(
      "insert into workspaces (id, name, cap_daily_nano, cap_hard) values ($1, $1, $2, true)",
      [id, cap()],
    );
    await database.query(
      "insert into members (workspace_id, user_id, cap_total_nano, cap_hard) values ($1, 'm', $2, true)",
      [id, cap()],
    );
    for (const key of ["k0", "k1", "k2"])
      await database.query(
        `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, created_by, cap_total_nano, cap_hard)
         values ($1, $2, $2, convert_to($1 || $2, 'utf8'), 'gw_', 'last', 'm', $3, true)`,
        [id, key, cap()],
      );
    const credit = BigInt(50 + Math.floor(random() * (random() < 0.5 ? 300 : 20_000)));
    await database.query("select ledger_credit($1, $2, 'start', null)", [id, credit]);
  }
  return names;
}

/** Locks one account after the other until it is stopped. Most locks outlast a batch's wait: the workspace gets its own lane. */
function lockAccounts(database: Database, workspaces: readonly string[], random: () => number) {
  const over = new AbortController();
  const lock = (workspace: string) =>
    database.transaction(async (tx) => {
      await tx.query("select 1 from ledger_accounts where workspace_id = $1 for update", [
        workspace,
      ]);
      await new Promise((resolve) => setTimeout(resolve, 100 + random() * 300)); // the lock's duration
    });
  const locks = (async () => {
    while (!over.signal.aborted) await lock(workspaces[Math.floor(random() * workspaces.length)]!);
  })();
  return {
    async stop() {
      over.abort();
      await locks;
    },
  };
}

/** Exceeded limits. There must be none: no charge is above its bound here, and no lease of a living process ends. */
const exceededLimits = (database: Database) =>
  database.query(
    `select a.workspace_id from ledger_accounts a join workspaces w on w.id = a.workspace_id
       where a.charged_nano + a.held_nano > least(a.credits_nano, w.cap_daily_nano)
     union all
     select s.workspace_id || s.scope_id from ledger_spend s
       left join api_keys k on s.scope = 'key' and k.workspace_id = s.workspace_id and k.id = s.scope_id
       left join members m on s.scope = 'member' and m.workspace_id = s.workspace_id and m.user_id = s.scope_id
       where s.total_nano > coalesce(k.cap_total_nano, m.cap_total_nano)`,
    [],
  );

async function killInTheMiddle(child: Child): Promise<void> {
  await expect.poll(() => child.written.size, { timeout: 60_000 }).toBeGreaterThan(20);
  child.process.kill("SIGKILL");
  await once(child.process, "exit");
}

/** Expires the lease of a killed process and releases its allowances. */
async function expireLease(database: Database, { gateway }: Child): Promise<void> {
  const ended = "update ledger_lanes set lease_until = now() - interval '1 s' where gateway = $1";
  await database.query(ended, [gateway]);
  await database.query("select ledger_expire($1)", [gateway]);
}

async function expectWritten(database: Database, { written }: Child): Promise<void> {
  const rows = await database.query<{ name: string; kind: string; amount: bigint }>(
    `select workspace_id || ' ' || reference as name, kind, amount_nano as amount
     from ledger_entries where workspace_id || ' ' || reference = any($1)`,
    [[...written.keys()]],
  );
  const found = new Map(rows.map(({ name, kind, amount }) => [name, { kind, amount }]));
  const wrong = [...written].filter(([name, charge]) => {
    const entry = found.get(name);
    if (charge === undefined) return entry !== undefined;
    return charge === null
      ? entry?.kind !== "void"
      : entry?.kind !== "charge" || entry.amount !== BigInt(charge);
  });
  expect(wrong).toEqual([]);
}

it(
  "T63 T65 T67: several processes on the same keys exceed no limit, write each end once, and hold nothing at the end",
  { timeout: shortOrLong(300_000, 7_200_000), retry: 0 },
  async () => {
    const url = await (await sharedPostgres()).createMigrated();
    const database = await openDatabase({ url, log: silentLog });
    const children = await Promise.all(Array.from({ length: processes }, () => start(url)));
    let ends = 0;
    let locks: ReturnType<typeof lockAccounts> | undefined;
    try {
      for (let done = 0; done < histories; done += atOnce) {
        const seed = firstSeed + done;
        const workspaces = await newWorkspaces(database, seed);
        for (const [index, child] of children.entries()) {
          child.written.clear();
          child.process.send({ seed: seed * 10 + index, workspaces } satisfies Round);
        }
        // In every other round one process is killed.
        const dies = (done / atOnce) % 2 === 0 ? children[0] : undefined;
        if (dies !== undefined) await killInTheMiddle(dies);
        locks = lockAccounts(database, workspaces, randomOf(seed));
        const isOver = () =>
          children.every((child, index) => child === dies || child.over === seed * 10 + index);
        while (!isOver()) {
          expect(await exceededLimits(database), `seed ${seed}`).toEqual([]);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        await locks.stop();
        if (dies !== undefined) await expireLease(database, dies);
        const held = "select workspace_id, held_nano from ledger_accounts where held_nano <> 0";
        await expect.poll(() => database.query(held)).toEqual([]);
        expect(await exceededLimits(database), `seed ${seed}`).toEqual([]);
        for (const child of children) {
          await expectWritten(database, child);
          ends += child.written.size;
        }
        if (dies !== undefined) children[0] = await start(url);
      }
      if (isLong) console.log(`${histories} histories, ${ends} calls`); // oxlint-disable-line no-console -- the figures
      expect(await verifyLedger(database)).toEqual([]);
    } finally {
      await locks?.stop();
      for (const child of children) child.process.kill("SIGKILL");
      await database.close();
    }
  },
);

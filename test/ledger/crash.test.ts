/** kill -9 at any moment, several times: each acknowledged charge exists exactly once, open reservations expire. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, describe } from "vitest";
import type { GatewayError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { migrate, openDatabase } from "../../src/storage/index.ts";
import { preparedDataDir, silentLog, startPostgres } from "../support/postgres.ts";
import { openCall } from "./open-calls.ts";
import { addKey, addWorkspace } from "./support.ts";
import { createLedger } from "../support/ledger.ts";

type Place = { url: string } | { dataDir: string };

async function open(place: Place) {
  return openDatabase({ ...place, log: silentLog });
}

async function setUp(place: Place): Promise<void> {
  const database = await open(place);
  await migrate(database);
  await addWorkspace(database, "w");
  await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
  const ledger = createLedger(database);
  await ledger.credit({ workspaceId: "w", amountNano: 10n ** 15n, reference: "start" });
  await database.close();
}

/** Kills a child `ms` after it has posted more than 20 calls. Returns the amounts that it reported as posted, by call id. */
async function workAndDie(place: Place, ms: number): Promise<Map<string, bigint>> {
  const [kind, where] = "url" in place ? ["server", place.url] : ["embedded", place.dataDir];
  const child = spawn(
    process.execPath,
    [new URL("./crash-child.ts", import.meta.url).pathname, kind, where, "20"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const acknowledgedPosts = new Map<string, bigint>();
  const lines = createInterface({ input: child.stdout });
  const ended = once(lines, "close");
  lines.on("line", (line) => {
    const [id = "", amount = ""] = line.split(" ");
    // The kill may cut a line in two: ignore such a line.
    if (/^req_[0-9a-z]{26}$/.test(id) && /^\d+$/.test(amount))
      acknowledgedPosts.set(id, BigInt(amount));
  });
  await expect.poll(() => acknowledgedPosts.size).toBeGreaterThan(20);
  await sleep(ms);
  expect(child.exitCode).toBeNull();
  child.kill("SIGKILL");
  await ended;
  return acknowledgedPosts;
}

async function checkLedger(
  place: Place,
  acknowledgedPosts: ReadonlyMap<string, bigint>,
): Promise<void> {
  const database = await open(place);
  const ledger = createLedger(database);
  const rows = await database.query<{ reference: string; amount_nano: bigint }>(
    "select reference, amount_nano from ledger_entries where kind = 'charge'",
  );
  const charges = new Map(rows.map((row) => [row.reference, row.amount_nano]));
  expect(rows).toHaveLength(charges.size);
  const wrong = [...acknowledgedPosts].filter(([id, amount]) => charges.get(id) !== amount);
  expect(wrong).toEqual([]);
  expect(acknowledgedPosts.size).toBeGreaterThan(60);
  expect(await verifyLedger(database)).toEqual([]);

  // The reservations of the killed processes return when their leases expire.
  await expect
    .poll(async () => {
      await ledger.expire();
      return (await ledger.balance("w")).heldNano;
    })
    .toBe(0n);
  expect(await verifyLedger(database)).toEqual([]);
  await database.close();
}

describe("a process that is killed with kill -9", () => {
  it("T65: has every acknowledged post charged once, and its open reservations expire", async () => {
    const place: Place = { dataDir: await preparedDataDir() };
    await setUp(place);
    const acknowledgedPosts = new Map<string, bigint>();
    for (const ms of [50, 300, 180]) {
      for (const [id, amount] of await workAndDie(place, ms)) acknowledgedPosts.set(id, amount);
    }
    await checkLedger(place, acknowledgedPosts);
  });
});

/** Ignores `database_unavailable`: a call waits at most three seconds, and a restart on a slow machine takes longer. */
function ignoreUnavailable(error: unknown): undefined {
  if ((error as GatewayError).code !== "database_unavailable") throw error;
}

describe("a database that restarts", () => {
  it("T67: loses and doubles no reservation or post when it crashes and comes back", async () => {
    const server = await startPostgres();
    const url = await server.createDatabase();
    await setUp({ url });
    const database = await open({ url });
    const ledger = createLedger(database);
    const stop = new AbortController();
    const charged: bigint[] = [];
    const callers = Array.from({ length: 30 }, async () => {
      while (!stop.signal.aborted) {
        const id = newId("req");
        const call = { id, workspaceId: "w", keyId: "k", keyRotation: 0 };
        const open = await openCall(ledger, { ...call, amountNano: 500n }).catch(ignoreUnavailable);
        if (open === undefined) continue;
        await open.end(300n);
        charged.push(300n);
      }
    });
    // On any machine, each crash happens while calls are being charged, and charging continues after it.
    const chargeSome = async () => {
      const before = charged.length;
      await expect.poll(() => charged.length).toBeGreaterThan(before + 30);
    };
    for (const how of ["immediate", "fast"] as const) {
      await chargeSome();
      await server.restart(how);
    }
    await chargeSome();
    stop.abort();
    await Promise.all(callers);
    await ledger.close();
    const balance = await ledger.balance("w");
    expect(balance.heldNano).toBe(0n);
    expect(balance.chargedNano).toBe(300n * BigInt(charged.length));
    expect(await verifyLedger(database)).toEqual([]);
    await database.close();
    await server.stop();
  });
});

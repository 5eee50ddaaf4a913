/** The log lines of an image call when the ledger does not do as it is asked. BILL; docs/ledger.md. */
import { beforeAll, expect, it, vi } from "vitest";
import type { Log } from "../../src/base/log.ts";
import { createImageHolds } from "../../src/calls/image-holds.ts";
import { createLedger, creditIn, reserveIn } from "../../src/ledger/index.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";

const lines: { level: string; fields: object; message: string }[] = [];
const recordingAt =
  (level: string): Log["warn"] =>
  (fields, message) =>
    void lines.push({ level, fields, message });
const log: Log = { ...silentLog, warn: recordingAt("warn"), error: recordingAt("error") };
const queue = { global: 100, perWorkspace: 100 };

let url: string;
beforeAll(async () => {
  url = await (await sharedPostgres()).createMigrated();
});
async function open(): Promise<Database> {
  lines.length = 0;
  const database = await openDatabase({ url, log: silentLog });
  await migrate(database);
  return database;
}

it("a finished call whose hold is gone is charged nothing, and an error is logged", async () => {
  const database = await open();
  const holds = createImageHolds({ database, queue, log, leaseMs: 60_000 });
  const hold = { id: "req_gone", workspaceId: "w1" };
  await addWorkspace(database, "w1");
  expect(await holds.charge(hold, 5n, () => Promise.resolve())).toBe(0n);
  expect(lines).toEqual([
    {
      level: "error",
      fields: expect.objectContaining({ hold: "req_gone" }),
      message: "a finished call found its hold gone; nothing was charged",
    },
  ]);
  holds.close();
  await database.close();
});

it("leases that cannot be extended and holds that cannot be released are logged", async () => {
  const database = await open();
  await addWorkspace(database, "w2");
  await addKey(database, { workspaceId: "w2", id: "k2" });
  await creditIn(database, { workspaceId: "w2", amountNano: 1_000n, reference: "r" });
  const holds = createImageHolds({ database, queue, log, leaseMs: 60 });
  const hold = { id: "req_open", workspaceId: "w2" };
  const key = { keyId: "k2", keyRotation: 0 };
  await holds.reserve(hold, key, 10n, () => Promise.resolve());
  await database.close();
  const said = (message: string) => lines.find((line) => line.message.startsWith(message));
  await eventually(() => said("leases could not be extended"), "a line about the leases");
  await holds.release(hold);
  expect(said("a hold could not be released")).toMatchObject({
    level: "warn",
    fields: { hold: "req_open" },
  });
  holds.close();
});

it("T65: a finished call whose hold had expired is charged all the same, and a warning is logged", async () => {
  const database = await open();
  await addWorkspace(database, "w3");
  await addKey(database, { workspaceId: "w3", id: "k3" });
  await creditIn(database, { workspaceId: "w3", amountNano: 1_000n, reference: "r" });
  const holds = createImageHolds({ database, queue, log, leaseMs: 60_000 });
  const call = { workspaceId: "w3", keyId: "k3", keyRotation: 0, amountNano: 10n };
  const take = (id: string, leaseMs: number) =>
    database.transaction((tx) =>
      reserveIn(tx, [{ ...call, id, leaseMs, kind: "image" as const }], queue),
    );
  expect(await take("req_late", 1)).toEqual([undefined]);
  expect(await take("req_timely", 60_000)).toEqual([undefined]);
  const ledger = createLedger(database);
  const hasExpired = async (): Promise<boolean> => {
    await ledger.expire();
    const sql = "select from ledger_entries where reference = 'req_late' and kind = 'expire'";
    return (await database.query(sql)).length > 0;
  };
  await eventually(hasExpired, "the end of the lease");
  const charge = (id: string) => holds.charge({ id, workspaceId: "w3" }, 4n, async () => undefined);
  expect(await charge("req_timely")).toBe(4n);
  expect(lines).toEqual([]);
  expect(await charge("req_late")).toBe(4n);
  expect(lines).toEqual([
    {
      level: "warn",
      fields: { hold: "req_late" },
      message: "a call outlived its lease; it was charged after it",
    },
  ]);
  holds.close();
  await ledger.close();
  await database.close();
});

it("BILL-23: a call that its workspace cannot pay is refused, and what came with it is undone", async () => {
  const database = await open();
  await addWorkspace(database, "w4");
  await addKey(database, { workspaceId: "w4", id: "k4" });
  await creditIn(database, { workspaceId: "w4", amountNano: 1_000n, reference: "r" });
  const holds = createImageHolds({ database, queue, log, leaseMs: 60_000 });
  const reserve = (id: string, amountNano: bigint) =>
    holds.reserve(
      { id, workspaceId: "w4" },
      { keyId: "k4", keyRotation: 0 },
      amountNano,
      async (tx) =>
        void (await tx.query("update workspaces set name = $1 where id = 'w4'", [`for ${id}`])),
    );
  await reserve("req_cheap", 1_000n);
  await expect(reserve("req_dear", 1n)).rejects.toMatchObject({ code: "insufficient_balance" });
  expect(await database.query("select name from workspaces where id = 'w4'")).toEqual([
    { name: "for req_cheap" },
  ]);
  holds.close();
  await database.close();
});

it("T65: the leases of open calls are extended after a third of their time, until the gateway closes", () => {
  using timers = vi.spyOn(globalThis, "setInterval");
  using ended = vi.spyOn(globalThis, "clearInterval");
  const database = {} as Database;
  const holds = createImageHolds({ database, queue, log, leaseMs: 60_000 });
  expect(timers.mock.calls.map(([, everyMs]) => everyMs)).toEqual([20_000]);
  holds.close();
  expect(ended).toHaveBeenCalledWith(timers.mock.results[0]!.value);
});

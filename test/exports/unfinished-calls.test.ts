/** A day of the log is exported only after its last call has ended, so each call is in one file. BILL-01. */
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { beforeEach, expect, it } from "vitest";
import { idTime, newId } from "../../src/base/ids.ts";
import { exportOnRequest, exportNext, openExportPlace } from "../../src/exports/index.ts";
import type { FileStore } from "../../src/files/index.ts";
import { readsOf, reportGateway, type Database } from "../../src/storage/index.ts";
import { tamper } from "../ledger/support.ts";
import { tollgateHere } from "../support/command.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";
import { seedCalls, seedId } from "../support/seed/calls.ts";

const dayMs = 86_400_000;
/** The calls begin so long ago that only the list of open calls can keep their day open. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs;
const day = new Date(startMs).toISOString().slice(0, 10);
const beganMs = startMs + dayMs - 1;

describeDatabase("calls that outlast their day", (open) => {
  let database: Database;
  let place: FileStore;
  beforeEach(async () => {
    database = await open();
    place = await openExportPlace({ to: temporaryDirectory() });
    const one = { requests: 1, days: 1, keys: 1, models: 1, members: 1, providers: 1 };
    await seedCalls(database, { ...one, workspaces: 1, end: new Date(startMs + dayMs) });
  });

  const written = (id: string) =>
    database.query(
      "insert into requests (workspace_id, id, cost_nano, created_at) values ($1, $2, 1, now())",
      [seedId.workspace(1), id],
    );
  const reported = (callsSince: string) =>
    reportGateway(database, {
      id: "gw_long",
      version: "1",
      inFlight: 1,
      eventLoopP99Ms: 0,
      memoryBytes: 1,
      callsSince,
      masterKeys: { held: [], sealing: "" },
    });
  const byHand = () => exportOnRequest(readsOf(database), place, { kind: "requests", day });
  const idsIn = async (file: string): Promise<string[]> =>
    gunzipSync(await buffer((await place.open(file))!.stream))
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: string }).id);

  it("a day of the ledger that is not over by the database's clock is refused, whatever this machine's says", async () => {
    const ledgerOf = (ms: number) => {
      const today = new Date(ms).toISOString().slice(0, 10);
      return exportOnRequest(readsOf(database), place, { kind: "ledger", day: today });
    };
    // The command refuses days that are not over by this machine's clock; this one may be ahead.
    await expect(ledgerOf(Date.now())).rejects.toThrow(/is not over yet by the database's clock/);
    expect(await ledgerOf(startMs)).toMatchObject({ file: `ledger-${day}.jsonl.gz` });
  });

  it("T65: delay the export until their gateway reports their end, and are in the day's file", async () => {
    await reported(idTime(beganMs));
    expect(await exportNext(database, place, "requests")).toBeUndefined();
    const { connectionString } = database.pool.options;
    const into = temporaryDirectory();
    const environment = { DATABASE_URL: connectionString!, TOLLGATE_DATA_DIR: into };
    expect(
      await tollgateHere(["export", "requests", "--from", day, "--into", into], environment),
    ).toMatchObject({
      code: 1,
      stderr: `tollgate: calls or tasks of ${day} are not over yet, so that its file would lack them: try again later\n`,
    });
    const long = newId("req", beganMs);
    await written(long);
    await reported(idTime(Date.now()));
    expect(await exportNext(database, place, "requests")).toMatchObject({ rows: 2 });
    expect(await idsIn(`requests-${day}.jsonl.gz`)).toContain(long);
    expect(await byHand()).toMatchObject({ rows: 2 });
  });

  it("delay the export for a minute after their end: a task is over before its row is in the log", async () => {
    const task = newId("task", beganMs);
    await database.query(
      `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
       values ($1, $2, 'charge', 1, 1, 0, 'k', now())`,
      [seedId.workspace(1), task],
    );
    expect(await exportNext(database, place, "requests")).toBeUndefined();
    await expect(byHand()).rejects.toThrow(/its file would lack them/);
    await written(task);
    await tamper(
      database,
      "update ledger_entries set created_at = now() - interval '61 seconds' where reference = $1",
      [task],
    );
    expect(await exportNext(database, place, "requests")).toMatchObject({ rows: 2 });
    expect(await idsIn(`requests-${day}.jsonl.gz`)).toContain(task);
  });

  it("do not delay the day if they began on the next day, or if their gateway was silent for an hour", async () => {
    await reported(idTime(startMs + dayMs));
    expect(await byHand()).toMatchObject({ rows: 1 });
    await reported(idTime(beganMs));
    await database.query("update gateways set last_seen_at = now() - interval '61 minutes'");
    expect(await exportNext(database, place, "requests")).toMatchObject({ rows: 1 });
  });

  it("are assumed to last at most three hours for a gateway of a release that reports none", async () => {
    await reported(idTime(beganMs));
    await database.query("update gateways set calls_since = null");
    expect(await exportNext(database, place, "requests")).toMatchObject({ rows: 1 });
  });
});

/**
 * kill -9 under load: of the gateway, of its database server, of both at once; and a stopped server. No answer that its caller
 * got whole is uncharged, none is charged twice, and no reservation outlives its lease. No process is left running, and the
 * ledger adds up.
 */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { setLedgerClock } from "../ledger/support.ts";
import { ledgerReaderOf, eventually, sleep } from "../money/support.ts";
import { tollgateHere } from "../support/command.ts";
import { killServer, serverProcesses } from "../support/embedded.ts";
import { startTestGateway } from "../support/gateway.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { patienceMs } from "../support/patience.ts";
import { canMount, fillDisk, mountDisk, unmountDisk } from "../support/disk.ts";
import { preparedDataDir, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { drive, newLoad, type Load } from "./load.ts";

const callsPerSecond = shortOrLong(80, 200);
/** Number of times that the gateway is killed. */
const kills = shortOrLong(1, 50);
/** The least number of answers between two kills. */
const answersPerLife = shortOrLong(30, 60);
/** Lease of a reservation: how long it outlives its process. */
const leaseMs = 60_000;
/** 100 input and 50 output tokens at the sandbox's prices. */
const costNano = 100n * 500n + 50n * 2_000n;
const text =
  '#sandbox {"reply": "a short answer", "delay_ms": 20, "chunk_delay_ms": 5, "usage": {"input": 100, "output": 50}}';

interface Place {
  readonly dataDir: string;
  readonly environment: Record<string, string>;
}

async function newPlace(directory?: string): Promise<Place> {
  const dataDir = await preparedDataDir(directory);
  return {
    dataDir,
    environment: {
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "silent",
      DATABASE_URL: "",
    },
  };
}

let gateway: GatewayProcess | undefined;
afterEach(async () => {
  await gateway?.kill();
});

const isGone = ({ child }: GatewayProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

/** Waits until `more` calls were answered whole. */
async function answered(load: Load, more: number): Promise<void> {
  const enough = load.whole.size + more;
  await eventually(() => (load.whole.size > enough ? true : undefined), "answers", 60_000);
}

/** Runs one gateway under load until `end` ends it. */
async function runUnderLoad(
  { environment }: Place,
  load: Load,
  end: (gateway: GatewayProcess) => Promise<void>,
  perSecond = callsPerSecond,
): Promise<void> {
  const life = await spawnGateway(environment);
  gateway = life;
  const key = (keyOf[environment["TOLLGATE_DATA_DIR"]!] ??= /gw_live_\w+/.exec(life.banner)![0]);
  const driven = drive(
    {
      url: life.url,
      key,
      perSecond,
      model: "sandbox/chat",
      text,
      until: () => isGone(life),
    },
    load,
  );
  // On a busy machine, wait until enough calls have run for the kill to interrupt something.
  await answered(load, answersPerLife);
  await sleep(Math.random() * 400);
  await end(life);
  await driven;
}
const keyOf: Record<string, string> = {};

async function expectNothingLeft(dataDir: string): Promise<void> {
  if (process.platform !== "linux") return;
  const from = performance.now();
  await expect.poll(() => serverProcesses(dataDir), { interval: 20 }).toEqual([]);
  expect(performance.now() - from).toBeLessThan(shortOrLong(patienceMs, 2_000));
}

/** Starts one more gateway, a lease later by the database's clock: it sweeps the reservations of the killed ones. */
async function expectExact({ dataDir, environment }: Place, ...loads: Load[]): Promise<void> {
  const last = await startTestGateway({
    environment: { TOLLGATE_DATA_DIR: dataDir },
  });
  try {
    await setLedgerClock(last.database, new Date(Date.now() + leaseMs).toISOString());
    await last.ledger.expire();
    const books = ledgerReaderOf(last.database);
    await books.expectClean();
    const charges = await books.charges();
    expect(charges.filter((row) => row.amount_nano !== costNano)).toEqual([]);
    const begun = loads.reduce((sum, load) => sum + load.begun, 0);
    expect(charges.length).toBeLessThanOrEqual(begun);
    const charged = new Set(charges.map((row) => row.reference));
    const whole = loads.flatMap((load) => [...load.whole]);
    expect(whole.filter((id) => !charged.has(id))).toEqual([]);
    await expect
      .poll(() => last.ledger.balance(last.workspaceId))
      .toMatchObject({
        chargedNano: costNano * BigInt(charges.length),
        heldNano: 0n,
      });
    expect(await tollgateHere(["verify"], environment)).toMatchObject({
      code: 0,
      stdout: "no difference\n",
    });
  } finally {
    await last.close();
  }
}

/** Errors that a caller may see while the database is away. */
const allowed = /^(?:503 |500 stream|502 )/;
const unexpected = (load: Load): string[] =>
  [...load.refused.keys()].filter((name) => !allowed.test(name));

describe("a gateway under load", () => {
  /** All tests share one place: each begins with the state that the kill before it left, and the books are compared at the end. */
  let place: Place;
  const loads: Load[] = [];
  const begin = (): Load => {
    const load = newLoad();
    loads.push(load);
    return load;
  };
  beforeAll(async () => {
    place = await newPlace();
  });

  it(
    "BILL-01 T65 T67: loses only calls in flight at kill -9 of itself, and no process is left running",
    { timeout: shortOrLong(300_000, 1_200_000) },
    async () => {
      const load = begin();
      for (let round = 0; round < kills; round += 1) {
        await runUnderLoad(place, load, (life) => life.kill());
        await expectNothingLeft(place.dataDir);
      }
      expect([...load.refused]).toEqual([]);
      expect(load.cut).toBeGreaterThan(kills);
    },
  );

  it(
    "BILL-01 T65 T67: survives kill -9 of its database server, which is restarted: calls wait or get 503, and go on",
    { timeout: shortOrLong(300_000, 1_200_000) },
    async () => {
      const load = begin();
      await runUnderLoad(place, load, async (life) => {
        for (let round = 0; round < shortOrLong(1, 50); round += 1) {
          await killServer(place.dataDir);
          await answered(load, answersPerLife);
        }
        await life.kill();
      });
      expect(unexpected(load)).toEqual([]);
      await expectNothingLeft(place.dataDir);
    },
  );

  // Only in full: the short form kills each of the two separately, above.
  it.runIf(isLong)(
    "BILL-01 T65 T67: survives kill -9 of itself and its database server at once",
    { timeout: 1_200_000 },
    async () => {
      const load = begin();
      for (let round = 0; round < 20; round += 1) {
        await runUnderLoad(place, load, async (life) => {
          await killServer(place.dataDir);
          await life.kill();
        });
        await expectNothingLeft(place.dataDir);
      }
      expect(unexpected(load)).toEqual([]);
    },
  );

  // Only in full: silent-database.test.ts covers a silent server in the short form too.
  it.runIf(isLong && process.platform === "linux")(
    "BILL-01 T65 T67: survives a database server that stands still for a minute",
    { timeout: shortOrLong(300_000, 1_200_000) },
    async () => {
      const load = begin();
      await runUnderLoad(place, load, async (life) => {
        const stopped = serverProcesses(place.dataDir);
        for (const pid of stopped) process.kill(pid, "SIGSTOP");
        await sleep(60_000);
        for (const pid of stopped) process.kill(pid, "SIGCONT");
        await answered(load, answersPerLife);
        await life.stop();
      });
      expect(unexpected(load)).toEqual([]);
      await expectNothingLeft(place.dataDir);
    },
  );

  it("BILL-01 T65 T67: has charged each completely received answer exactly once in all these tests, and holds nothing", () =>
    expectExact(place, ...loads));

  it.skipIf(!canMount)(
    "BILL-01 T65 T67: survives a disk that is full for a while: calls are refused, and go on once there is room",
    { timeout: shortOrLong(300_000, 1_200_000) },
    async () => {
      const disk = temporaryDirectory();
      // Each round leaves one or two WAL files of 16 MB, and the server needs room for one more.
      mountDisk(disk, shortOrLong(200, 600));
      try {
        const place = await newPlace(disk);
        const load = newLoad();
        await runUnderLoad(
          place,
          load,
          async (life) => {
            for (let round = 0; round < shortOrLong(1, 10); round += 1) {
              const refused = total(load.refused);
              const free = fillDisk(disk);
              await useUpLog(place.dataDir);
              await eventually(
                () => (total(load.refused) > refused + 5 ? true : undefined),
                "refusals while the disk is full",
                60_000,
              );
              free();
              await answered(load, answersPerLife);
            }
            await life.stop();
          },
          shortOrLong(40, callsPerSecond),
        );
        expect(unexpected(load)).toEqual([]);
        await expectNothingLeft(place.dataDir);
        await expectExact(place, load);
      } finally {
        unmountDisk(disk);
      }
    },
  );
});

const total = (counts: Load["refused"]): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

/** Makes the server start new WAL files until the disk is full. Otherwise it would still use its existing ones for a while. */
async function useUpLog(dataDir: string): Promise<void> {
  const database = await openDatabase({ dataDir, join: true, log: silentLog });
  try {
    for (let count = 0; count < 100; count += 1)
      await database.query(
        "select pg_logical_emit_message(true, 'test', 'x'), pg_switch_wal()",
        [],
      );
  } catch {
    // No space left, as intended.
  } finally {
    await database.close();
  }
}

/**
 * Two keys in bursts on a database with some milliseconds of latency, with and without lost answers. The books add up at every
 * moment, each call is charged once, and nothing stays held. The long form takes three minutes a run, or
 * TOLLGATE_TEST_BURST_SECONDS.
 */
import { afterAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { startFarDatabase, type FarDatabase } from "./far-database.ts";
import { openCall, type OpenCall } from "./open-calls.ts";
import { addKey, addWorkspace } from "./support.ts";
import { createLedger, type TestLedger } from "../support/ledger.ts";

const burstSeconds = Number(process.env["TOLLGATE_TEST_BURST_SECONDS"] ?? shortOrLong("4", "180"));
const workspaceId = "w";
const keys = ["k", "l"];

interface Bench {
  readonly far: FarDatabase;
  /** The database without the proxy, so that the checks do not depend on the proxy. */
  readonly database: Database;
  readonly ledger: TestLedger;
}

/** Results of a run's calls, as the ledger reported them. */
interface Totals {
  posted: number;
  chargedNano: bigint;
  voided: number;
}

const noTotals = (): Totals => ({ posted: 0, chargedNano: 0n, voided: 0 });

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

async function setUp(delayMs: number, loseEvery: number | undefined): Promise<Bench> {
  const url = await (await sharedPostgres()).createMigrated();
  const far = await startFarDatabase({ url, delayMs, loseEvery });
  const database = await openDatabase({ url, log: silentLog });
  const behind = await openDatabase({ url: far.url, log: silentLog });
  await addWorkspace(database, workspaceId);
  for (const id of keys) await addKey(database, { workspaceId, id, createdBy: "m" });
  const amountNano = 1_000_000_000_000_000n;
  await createLedger(database).credit({ workspaceId, amountNano, reference: "start" });
  closing.push(async () => {
    await behind.close();
    far.close();
    await database.close();
  });
  return { far, database, ledger: createLedger(behind) };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const upTo = (most: number): number => Math.random() * most;
let made = 0;

/** An admitted call. */
interface Begun extends OpenCall {
  readonly amountNano: bigint;
}

/** Begins a call. @throws GatewayError if the ledger refuses it */
async function begin({ ledger }: Bench, keyId: string): Promise<Begun> {
  const amountNano = 100n * (1n + BigInt(Math.floor(upTo(5))));
  const input = { id: `call-${(made += 1)}`, workspaceId, keyId, keyRotation: 0, amountNano };
  return { ...(await openCall(ledger, input)), amountNano };
}

/** Ends a call: one in ten is voided, and one in ten of the others costs twice its bound. */
async function end({ amountNano, end: settle }: Begun, totals: Totals): Promise<void> {
  if (upTo(1) < 0.1) {
    await settle(null);
    totals.voided += 1;
    return;
  }
  const costNano = upTo(1) < 0.1 ? amountNano * 2n : amountNano / 2n;
  await settle(costNano);
  totals.posted += 1;
  totals.chargedNano += costNano;
}

const wave = (bench: Bench, key: string, count: number) =>
  Array.from({ length: count }, () => begin(bench, key));

const endAll = (calls: readonly Promise<Begun>[], totals: Totals) =>
  Promise.all(calls.map(async (call) => end(await call, totals)));

/**
 * A burst. All calls of the busy key but one end when all are reserved. Meanwhile a call of the other key begins. Then a second
 * wave of the busy key begins and ends at once, together with the remaining call. The call of the other key ends last.
 */
async function burst(
  bench: Bench,
  { busy, other, size }: { busy: string; other: string; size: () => number },
  totals: Totals,
  between: () => Promise<void>,
): Promise<void> {
  const first = wave(bench, busy, size());
  await Promise.all(first);
  const [slow, ...quick] = first;
  const ends = [endAll(quick, totals)];
  await between();
  const others = wave(bench, other, 1);
  await between();
  ends.push(endAll([...wave(bench, busy, size()), slow!], totals));
  await between();
  await Promise.all(ends);
  await between();
  await endAll(others, totals);
}

async function bursts(bench: Bench, untilMs: number, totals: Totals): Promise<void> {
  const size = () => 8 + Math.floor(upTo(8));
  while (performance.now() < untilMs) {
    const [busy, other] = upTo(1) < 0.5 ? keys : keys.toReversed();
    const roles = { busy: busy!, other: other!, size };
    await burst(bench, roles, totals, () => sleep(upTo(bench.far.delayMs * 2)));
  }
}

/** Verifies the ledger repeatedly until `untilMs`. Returns the first differences that it finds. */
async function watch({ database }: Bench, untilMs: number): Promise<object[]> {
  const found: object[] = [];
  while (performance.now() < untilMs && found.length === 0) {
    found.push(...(await verifyLedger(database)));
    await sleep(shortOrLong(200, 1_000));
  }
  return found;
}

/** Expects that nothing is held after all calls, and that the charges equal the costs. */
async function expectBalanced({ ledger, database }: Bench, totals: Totals): Promise<void> {
  await ledger.close();
  const balance = await createLedger(database).balance(workspaceId);
  expect(balance).toMatchObject({ heldNano: 0n, chargedNano: totals.chargedNano });
  expect(await database.query("select 1 from ledger_allowances where amount_nano > 0")).toEqual([]);
  expect(await verifyLedger(database)).toEqual([]);
}

const runs = shortOrLong([5], [2, 5, 10, 20]).flatMap((delayMs) => [
  { delayMs, loseEvery: undefined, how: "no answer is lost" },
  { delayMs, loseEvery: 10, how: "every tenth answer is lost" },
]);

describe("two keys in bursts on a distant database", () => {
  it.each(runs)(
    "T63 T65 T67: $delayMs ms, $how: the ledger adds up at every moment, and nothing is held at the end",
    { timeout: burstSeconds * 1_000 + 60_000 },
    async ({ delayMs, loseEvery, how }) => {
      const bench = await setUp(delayMs, loseEvery);
      const totals = noTotals();
      const untilMs = performance.now() + burstSeconds * 1_000;
      const [differences] = await Promise.all([
        watch(bench, untilMs),
        bursts(bench, untilMs, totals),
      ]);
      const { ledgerStatements, lostAnswers } = bench.far;
      if (isLong) console.log(delayMs, how, { ...totals, ledgerStatements, lostAnswers });
      expect(differences).toEqual([]);
      expect(totals.posted).toBeGreaterThan(100);
      expect(lostAnswers > 0).toBe(loseEvery !== undefined);
      await expectBalanced(bench, totals);
    },
  );
});

/**
 * Faults of a whole installation under mixed load, one after the other, with a check of the books after each. Every answer is
 * charged, none twice, and every task ends once and calls back. The long form runs every fault and writes docs/reliability.json,
 * from which `npm run docs` makes the table of docs/reliability.md.
 */
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminToken, call } from "../../admin/support.ts";
import { canMount, mountDisk, unmountDisk } from "../../support/disk.ts";
import { isLong, shortOrLong } from "../../support/long.ts";
import { eventually } from "../../support/patience.ts";
import { temporaryDirectory } from "../../support/postgres.ts";
import { auditOf, expectNothingLeft, type Audit } from "./audit.ts";
import { faults, type Fault } from "./faults/index.ts";
import { startTraffic, type Traffic } from "./traffic.ts";
import { startWorld, type World } from "./world.ts";

interface Row extends Audit {
  readonly fault: string;
  readonly part: Fault["part"];
  readonly recovered_ms: number;
}

const tried = faults.filter(({ short }) => isLong || short === true);
/** Input of `npm run docs`. */
const reliability = new URL("../../../docs/reliability.json", import.meta.url).pathname;
/** The number of whole answers before a fault, and after it, until the installation counts as well again. */
const answersMin = shortOrLong(24, 60);
const wellWithinMs = 60_000;
const diskMb = 900;

let world: World;
let disk: string | undefined;
const rows: Row[] = [];

beforeAll(async () => {
  if (isLong && canMount) {
    disk = temporaryDirectory();
    mountDisk(disk, diskMb);
  }
  world = await startWorld(disk);
}, 120_000);

afterAll(async () => {
  await world?.close();
  if (disk !== undefined) unmountDisk(disk);
  if (isLong && rows.length === faults.length)
    writeFileSync(
      reliability,
      `${JSON.stringify({ at: today(), rows: rows.map(countsOf) }, null, 2)}\n`,
    );
}, 120_000);

const today = (): string => new Date().toISOString().slice(0, 10);

/** The counts as in the table. */
const countsOf = ({ wrong: _none, ...row }: Row) => ({
  ...row,
  lost: row.lost.length,
  doubled: row.doubled.length,
});

/** Waits until `more` calls are answered whole, and each task accepted meanwhile. */
const answered = ({ seen }: Traffic, more: number) => {
  const enough = seen.answered.length + more;
  return eventually(() => seen.answered.length >= enough, `${more} answers`, wellWithinMs);
};

/**
 * Waits until no provider is excluded because of the fault before. If no call may fail, the provider that works must get the
 * calls. The longest pause is two minutes.
 */
async function untilNonePauses({ gateways }: World): Promise<void> {
  for (const { url } of gateways)
    await eventually(
      async () => {
        const { text } = await call(url, "GET", "/providers", { token: adminToken });
        return !text.includes('"state":"open"');
      },
      "no circuit is open",
      130_000,
      200,
    );
}

describe("an installation under mixed load", () => {
  it.each(tried)(
    "BILL-01 T65 T67: $name: nothing is lost or doubled",
    { timeout: 1_000_000 },
    async (fault) => {
      if (fault.needsDisk === true && disk === undefined) {
        console.log("whole: no disk can be mounted here, so none is filled");
        return;
      }
      if (fault.noneFails === true) await untilNonePauses(world);
      const traffic = startTraffic(world);
      await answered(traffic, answersMin);
      await fault.inject(world, traffic);
      const overMs = performance.now();
      await answered(traffic, answersMin / 2);
      const recovered = Math.round(performance.now() - overMs);
      await traffic.end();
      const audit = await auditOf(world, fault, traffic.seen);
      const row = { fault: fault.name, part: fault.part, ...audit, recovered_ms: recovered };
      rows.push(row);
      console.log(`whole: ${JSON.stringify(row)}`);
      const failed = fault.noneFails === true ? { ...row.refused, cut: row.cut } : { cut: 0 };
      expect({ lost: row.lost, doubled: row.doubled, wrong: row.wrong, failed }).toEqual({
        lost: [],
        doubled: [],
        wrong: [],
        failed: { cut: 0 },
      });
    },
  );

  it("leaves nothing behind: no hold, no orphaned file, no unfinished upload, no connection, no memory", async () => {
    await expectNothingLeft(world);
  }, 240_000);
});

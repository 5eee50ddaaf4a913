/** The benchmark's own modes: twice the calls that a gateway can take, and the cost of traces. Ten minutes in the long form. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { shortOrLong, isLong } from "../support/long.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const run = promisify(execFile);
const main = new URL("../../bench/main.ts", import.meta.url).pathname;

/** Runs `npm run bench -- ...args`. Returns its output and the file that it wrote. */
async function bench<Written>(...args: string[]) {
  const file = join(temporaryDirectory(), "bench.json");
  const { stdout } = await run(process.execPath, [main, ...args, "--json", file]);
  return { stdout, written: JSON.parse(readFileSync(file, "utf8")) as Written };
}

interface Overload {
  readonly capacity: number;
  readonly normal: Phase;
  readonly overload: Phase;
  readonly after: Phase;
  readonly recoveredInSeconds: number;
}

interface Phase {
  readonly askedPerSecond: number;
  readonly servedPerSecond: number;
  readonly refusedPerSecond: number;
  readonly servedP99Ms: number;
  readonly refusedP99Ms: number;
  readonly failures: number;
}

describe("the modes of npm run bench", () => {
  it("--overload: with twice the capacity, each call is answered or refused, and the gateway recovers afterwards", async () => {
    const seconds = shortOrLong(1, 600);
    const { stdout, written } = await bench<Overload>("--overload", "--seconds", String(seconds));
    const { capacity, normal, overload, after, recoveredInSeconds } = written;
    expect(stdout).toContain("at half of the capacity");
    expect(capacity).toBeGreaterThan(0);
    for (const { askedPerSecond, servedPerSecond, refusedPerSecond, failures } of [
      normal,
      overload,
      after,
    ]) {
      expect(failures).toBe(0);
      const seen = Math.abs(servedPerSecond + refusedPerSecond - askedPerSecond);
      expect(seen).toBeLessThan(askedPerSecond * 0.05 + 1);
    }
    // Times on a busy machine mean nothing, so the short form has wide bounds.
    const bounds = isLong
      ? { servedP99Ms: normal.servedP99Ms * 3, refusedP99Ms: normal.servedP99Ms, recovered: 10 }
      : { servedP99Ms: 60_000, refusedP99Ms: 60_000, recovered: 60 };
    expect(overload.servedP99Ms).toBeLessThanOrEqual(bounds.servedP99Ms);
    expect(overload.refusedPerSecond > 0 ? overload.refusedP99Ms : 0).toBeLessThanOrEqual(
      bounds.refusedP99Ms,
    );
    expect(recoveredInSeconds).toBeLessThanOrEqual(bounds.recovered);
  });

  it("--tracing: compares calls with sent traces to calls without, on one gateway", async () => {
    interface Report {
      readonly rows: readonly {
        readonly subject: string;
        readonly failures: number;
        readonly toCommit?: Readonly<Record<string, number>>;
      }[];
    }
    const rounds = ["--rounds", "1", "--seconds", "0.3"];
    const { written } = await bench<Report>("--tracing", "one@16", ...rounds);
    expect(written.rows.map(({ subject }) => subject)).toEqual(["trace not sent", "trace sent"]);
    expect(written.rows.map(({ failures }) => failures)).toEqual([0, 0]);
    expect(written.rows[1]!.toCommit?.["perSecond"]).toBeGreaterThan(0);
  });
});

/** The benchmark in its shortest form: it still runs, and the files that it writes are there and consistent. */
import { ok as assert } from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";

const run = promisify(execFile);
const main = new URL("../../bench/main.ts", import.meta.url).pathname;

/** Runs `npm run bench -- ...args` without the build. */
const bench = (...args: string[]) => run(process.execPath, [main, ...args], { timeout: 280_000 });

interface Written {
  readonly rows: readonly {
    readonly scenario: string;
    readonly subject: string;
    readonly median: Readonly<Record<string, number>>;
    readonly toBare?: Readonly<Record<string, number>>;
    readonly failures: number;
    readonly rounds: readonly object[];
  }[];
}

describe("npm run bench", () => {
  it("measures the bare proxy and a gateway with 100 capped keys in one run", async () => {
    const file = join(temporaryDirectory(), "bench.json");
    const args = ["caps@16", "--subject", "bare", "--subject", "postgres"];
    const { stdout } = await bench(...args, "--rounds", "1", "--seconds", "0.4", "--json", file);
    expect(stdout).toContain("100 keys with hard caps");
    const { rows } = JSON.parse(readFileSync(file, "utf8")) as Written;
    expect(rows.map(({ subject }) => subject)).toEqual(["bare proxy", "Tollgate, PostgreSQL"]);
    for (const { median, failures, rounds } of rows) {
      expect(failures).toBe(0);
      expect(rounds).toHaveLength(1);
      expect(median["perSecond"]).toBeGreaterThan(0);
      expect(median["medianMs"]).toBeGreaterThan(0);
      expect(median["p99Ms"]).toBeGreaterThanOrEqual(median["medianMs"]!);
      // Only Linux reports it.
      if (process.platform === "linux") assert(median["processorUs"]! > 0);
    }
    const [bare, gateway] = rows;
    const share = gateway!.median["perSecond"]! / bare!.median["perSecond"]!;
    expect(gateway!.toBare?.["perSecond"]).toBeCloseTo(share, 2);
  });

  it("lists its scenarios, and refuses unknown scenarios and options", async () => {
    const { stdout } = await bench("--list");
    for (const name of ["one@128", "caps@256", "120kb-direct-stream", "held", "tasks"])
      expect(stdout).toContain(name);
    const file = join(temporaryDirectory(), "none.json");
    await expect(bench("nonsense", "--json", file)).rejects.toThrow('no scenario "nonsense"');
    await expect(bench("--subject", "nobody")).rejects.toThrow("--subject takes bare");
    await expect(bench("--rounds", "0")).rejects.toThrow("--rounds takes a number above 0");
    expect(existsSync(file)).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "leaves no process and no file behind when it is stopped",
    async () => {
      const folder = temporaryDirectory();
      // If the test runs as root, the database server runs as another user, which must read the folder.
      chmodSync(folder, 0o755);
      const args = ["one@16", "--subject", "bare", "--subject", "postgres", "--seconds", "60"];
      const child = spawn(process.execPath, [main, ...args], {
        env: { ...process.env, TMPDIR: folder },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const ended = once(child, "exit");
      for await (const line of createInterface({ input: child.stderr }))
        if (line.includes("warming up")) break;
      expect(processesWith(folder).length).toBeGreaterThan(2);
      child.kill("SIGINT");
      expect((await ended)[0]).toBe(1);
      // The watcher that removes the test servers' files ends a moment after the benchmark.
      await expect.poll(() => processesWith(folder)).toEqual([]);
      const left = readdirSync(folder).filter((name) => /^tollgate-(?:bench|pg)-/.test(name));
      expect(left).toEqual([]);
    },
  );
});

/** The ids of processes whose temporary directory is `folder`. */
function processesWith(folder: string): string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/environ`, "latin1").includes(folder);
    } catch {
      // The process has ended, or belongs to another user.
      return false;
    }
  });
}

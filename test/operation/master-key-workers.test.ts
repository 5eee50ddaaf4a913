/**
 * Replacing the master key of a gateway with workers; the supervisor reads its files again at SIGHUP. Only in the long form,
 * because workers are slow to leave.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { tollgate } from "../support/process.ts";
import { startWorkers, steadyCalls, whenReady, type WorkersGateway } from "../workers/support.ts";

let workers: WorkersGateway | undefined;
afterEach(async () => {
  await workers?.kill();
});

it.skipIf(process.platform !== "linux" || !isLong)(
  "a master key in the data directory is moved aside and replaced after SIGHUP, and no call fails",
  async () => {
    const gateway = (workers = await startWorkers());
    const file = join(gateway.dataDir, "master-key");
    let over = false;
    const calls = steadyCalls(gateway, 20, () => over);
    renameSync(file, `${file}.previous`);
    gateway.child.kill("SIGHUP");
    const environment = { TOLLGATE_DATA_DIR: gateway.dataDir, DATABASE_URL: "" };
    // Until every worker was replaced, the command names those that were not.
    const end = await eventually(
      async () => {
        if (!existsSync(file)) return undefined;
        const result = await tollgate(["rotate-master-key", "--json"], environment);
        return result.code === 0 && JSON.parse(result.stdout).from !== null ? result : undefined;
      },
      "the end of the replacement",
      90_000,
    );
    expect(JSON.parse(end.stdout).resealed).toMatchObject({ "api_keys.ciphertext": 1 });
    rmSync(`${file}.previous`);
    gateway.child.kill("SIGHUP");
    await whenReady(gateway.url);
    over = true;
    const outcomes = (await calls).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome !== "200")).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(20);
    const shown = await tollgate(["keys", "list", "--json"], environment);
    expect(shown.code).toBe(0);
  },
);

/** A data directory in which it cannot be told where the server is, as on a disk that is full by then. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { openEmbedded } from "../../src/embedded/index.ts";
import { eventually } from "../money/support.ts";
import { serverProcesses } from "../support/embedded.ts";
import { temporaryDirectory } from "../support/postgres.ts";

it("a start that fails after its server ran leaves no server, which would keep the process there", async () => {
  const dataDir = join(temporaryDirectory(), "data");
  const opening = openEmbedded({ dataDir, join: false, carryOver: undefined, log: silentLog });
  const failed = opening.then(
    () => "opened",
    () => "failed",
  );
  // The lock has been taken by then, and the server is not there yet.
  await eventually(() => existsSync(join(dataDir, "database")) || undefined, "the directory");
  const told = join(dataDir, "gateway.json");
  rmSync(told);
  mkdirSync(join(told, "in the way"), { recursive: true });
  expect(await failed).toBe("failed");
  expect(serverProcesses(dataDir)).toEqual([]);
});

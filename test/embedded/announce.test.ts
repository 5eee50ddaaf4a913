/** A data directory in which the server's address cannot be written, as when the disk is full by then. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { openEmbedded } from "../../src/embedded/index.ts";
import { eventually } from "../money/support.ts";
import { serverProcesses } from "../support/embedded.ts";
import { temporaryDirectory } from "../support/postgres.ts";

it("a start that fails after its server has started leaves no server process", async () => {
  const dataDir = join(temporaryDirectory(), "data");
  const opening = openEmbedded({ dataDir, join: false, carryOver: undefined, log: silentLog });
  const failed = opening.then(
    () => "opened",
    () => "failed",
  );
  // By now the start has taken the lock, and the server does not run yet.
  await eventually(() => existsSync(join(dataDir, "database")) || undefined, "the directory");
  const addressFile = join(dataDir, "gateway.json");
  rmSync(addressFile);
  mkdirSync(join(addressFile, "in the way"), { recursive: true });
  expect(await failed).toBe("failed");
  expect(serverProcesses(dataDir)).toEqual([]);
});

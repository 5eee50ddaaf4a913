/** Commands of a user who may not look into the gateway's data directory, such as an operator without `sudo`. */
import { chmodSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { checkDatabase } from "../../src/cli/doctor/database.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { refuseUnused } from "../../src/cli/open.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const nobody = 65534;

/** Runs synchronous work as a user who is not root: root may look everywhere. */
function withoutRoot<Result>(work: () => Result): Result {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(nobody);
  try {
    return work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

it("a command says that its user may not read the data directory, and not that no gateway has run there", async () => {
  const dataDir = temporaryDirectory();
  chmodSync(dataDir, 0);
  onTestFinished(() => chmodSync(dataDir, 0o700));
  const environment = { ...readEnvironment({}), dataDir };
  const problem = `this user may not read the data directory ${dataDir}`;
  const fix = "run the command as the gateway's user, such as by sudo -u";
  expect(() => withoutRoot(() => refuseUnused(environment))).toThrow(`${problem}: ${fix}`);
  expect(await withoutRoot(() => checkDatabase(environment))).toEqual([
    { check: "database", status: "failed", message: problem, fix },
  ]);
});

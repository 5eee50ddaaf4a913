/** A process that folds usage in small steps until it is killed. It prints a line after each step. Started by crash.test.ts. */
import { writeSync } from "node:fs";
import { silentLog } from "../../src/base/log.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { foldStep } from "./fold-step.ts";

const database = await openDatabase({ url: process.argv[2]!, log: silentLog });
for (;;) {
  const done = await foldStep(database, 7);
  writeSync(1, `${done}\n`);
}

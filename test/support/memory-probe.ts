/**
 * Loaded into a gateway before anything else (`--import`): on SIGUSR2 it collects what garbage there is and writes what is left to
 * the file that TOLLGATE_TEST_MEMORY names.
 */
import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const file = process.env["TOLLGATE_TEST_MEMORY"]!;

process.on("SIGUSR2", () => {
  // What the first leaves behind are objects with something to be done at their end.
  collect();
  collect();
  writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.new`, file);
});

/**
 * Loaded into a gateway before anything else (`--import`). On SIGUSR2 it collects garbage and writes the memory in use to the
 * file that TOLLGATE_TEST_MEMORY names.
 */
import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const file = process.env["TOLLGATE_TEST_MEMORY"]!;

process.on("SIGUSR2", () => {
  // Collect twice: the first collection leaves objects that have finalizers.
  collect();
  collect();
  writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.new`, file);
});

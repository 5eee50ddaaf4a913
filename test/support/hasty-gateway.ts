/** A gateway with two workers that gives up soon where none of them starts. */
import { createLog } from "../../src/base/log.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { supervise } from "../../src/cli/workers/supervise.ts";

await supervise({
  environment: readEnvironment(process.env),
  wanted: 2,
  log: createLog(),
  startedMs: performance.now(),
  trials: { pauseMs: 20, failuresMax: 3 },
});

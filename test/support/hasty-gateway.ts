/** A gateway with two workers that gives up soon where none of them starts. */
import { createLog } from "../../src/base/log.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { listenForHangUps } from "../../src/cli/signals.ts";
import { supervise } from "../../src/cli/workers/supervise.ts";

const log = createLog();
await supervise({
  environment: readEnvironment(process.env),
  wanted: 2,
  log,
  onHangUp: listenForHangUps(log),
  startedMs: performance.now(),
  trials: { pauseMs: 20, failuresMax: 3 },
});

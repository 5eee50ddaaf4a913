/** A gateway with two workers whose connections Node's cluster module hands out, as where the system spreads none. */
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
  shareSockets: false,
});

/** A gateway with two workers whose connections Node's cluster module hands out, as where the system spreads none. */
import { createLog } from "../../src/base/log.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { supervise } from "../../src/cli/workers/supervise.ts";

await supervise({
  environment: readEnvironment(process.env),
  wanted: 2,
  log: createLog(),
  startedMs: performance.now(),
  shareSockets: false,
});

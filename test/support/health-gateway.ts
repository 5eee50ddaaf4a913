/** A gateway with fast circuits, as its own process, so that a test can kill it. */
import { createLog } from "../../src/base/log.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { startGateway } from "../../src/cli/gateway.ts";
import { hastyRules } from "../health/hasty-rules.ts";

const gateway = await startGateway({
  environment: readEnvironment(process.env),
  log: createLog("error"),
  health: hastyRules,
});
console.log(`ready at ${gateway.url}`);
// `spawnGateway` waits for this line.
console.log("tollgate keys");

/** A gateway whose circuits are in a hurry, as its own process, so that a test can kill it. */
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
// What spawnGateway waits for.
console.log("tollgate keys");

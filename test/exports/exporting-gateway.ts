/** A gateway that exports all the time, as a process of its own that the test kills in the middle. */
import { createLog } from "../../src/base/log.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { startGateway } from "../../src/cli/gateway.ts";

const gateway = await startGateway({
  environment: readEnvironment(process.env),
  log: createLog("error"),
  retentionEveryMs: 20,
});
process.on("SIGTERM", () => void gateway.close());

/**
 * A gateway, run as its own process, that kills itself (as `kill -9` would) or stops itself when a task reaches a named point. It
 * prints one line of JSON with its address and, at its first start, a key. A line on standard input sets the point from then on;
 * the gateway answers with a line.
 */
import { createInterface } from "node:readline";
import { startGateway } from "../../src/cli/gateway.ts";
import { creditIn } from "../../src/ledger/index.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { createLog } from "../../src/base/log.ts";
import { hastyTasks } from "./hasty-tasks.ts";

let point: string | undefined;
let signal = "SIGKILL";
const { tasks, ...hasty } = hastyTasks(process.env);

const gateway = await startGateway({
  environment: readEnvironment(process.env),
  log: createLog("error"),
  ...hasty,
  tasks: {
    ...tasks,
    at(passed) {
      if (passed !== point) return;
      point = undefined;
      process.kill(process.pid, signal);
    },
  },
});
if (gateway.first) {
  const [workspace] = await gateway.database.query<{ id: string }>("select id from workspaces");
  await creditIn(gateway.database, {
    workspaceId: workspace!.id,
    amountNano: 1_000_000_000_000n,
    reference: "test credit",
  });
}
createInterface({ input: process.stdin }).on("line", (line) => {
  [point, signal = "SIGKILL"] = line.split(" ");
  console.log("armed");
});
console.log(JSON.stringify({ url: gateway.url, key: gateway.first?.apiKey ?? null }));
process.on("SIGTERM", () => {
  process.stdin.destroy();
  void gateway.close();
});

/** A process that is killed at the very moment when it has started the embedded server. Started by server.test.ts. */
import processes from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

const { spawn } = processes;
processes.spawn = ((...call: Parameters<typeof spawn>) => {
  const child = spawn(...call);
  const [program, args] = call;
  const isServer = [program, ...args].some((word) => word.endsWith("/postgres"));
  if (isServer && args.includes("-D")) process.kill(process.pid, "SIGKILL");
  return child;
}) as typeof spawn;
syncBuiltinESMExports();

const { openDatabase } = await import("../../src/storage/index.ts");
const { silentLog } = await import("../support/postgres.ts");
await openDatabase({ dataDir: process.argv[2]!, log: silentLog });

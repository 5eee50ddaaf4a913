/**
 * A process that is killed as soon as it has started a program of PostgreSQL, or some milliseconds later. Started by
 * server.test.ts and attacks.test.ts.
 */
import processes from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const [dataDir, name = "postgres", ms = "0"] = process.argv.slice(2);

const { spawn } = processes;
processes.spawn = ((...call: Parameters<typeof spawn>) => {
  const child = spawn(...call);
  const [program, args] = call;
  const isIt = [program, ...args].some((word) => word.endsWith(`/${name}`));
  const end = () => process.kill(process.pid, "SIGKILL");
  if (isIt && ms === "0") end();
  else if (isIt) void sleep(Number(ms)).then(end);
  return child;
}) as typeof spawn;
syncBuiltinESMExports();

const { openDatabase } = await import("../../src/storage/index.ts");
const { silentLog } = await import("../support/postgres.ts");
await openDatabase({ dataDir: dataDir!, log: silentLog });

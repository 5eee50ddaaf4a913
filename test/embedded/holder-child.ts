/** A process that holds a data directory until it is told to stop, or is killed. Started by holder.ts. */
import { writeSync } from "node:fs";
import { silentLog } from "../../src/base/log.ts";
import { migrate, openDatabase } from "../../src/storage/index.ts";

const [kind, place] = process.argv.slice(2);
try {
  const database = await openDatabase({
    ...(kind === "server" ? { url: place } : { dataDir: place }),
    log: silentLog,
  });
  const { applied } = await migrate(database);
  database.signals.onReconnect(() => void writeSync(1, "listening\n"));
  database.signals.subscribe("test", (payload) => writeSync(1, `signal ${payload}\n`));
  writeSync(1, `ready ${applied.length}\n`);
  // After the close, storage keeps nothing open, so the process ends by itself.
  process.stdin.once("data", () => void database.close().then(() => process.stdin.destroy()));
} catch (error) {
  writeSync(1, `failed ${String(error)}\n`);
  process.exit(1);
}

/**
 * A process that reserves and posts as fast as it can until it is killed. It writes one line per acknowledged post, at once.
 * The ledger must have every written post afterwards. Started by crash.test.ts.
 */
import { writeSync } from "node:fs";
import { silentLog } from "../../src/base/log.ts";
import { newId } from "../../src/base/ids.ts";
import { createLedger } from "../../src/ledger/index.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { openCall } from "./open-calls.ts";

const [kind, place, callers] = process.argv.slice(2);
const database = await openDatabase({
  ...(kind === "server" ? { url: place } : { dataDir: place }),
  log: silentLog,
});
const ledger = createLedger(database, { leaseMs: 200 });

async function call(): Promise<void> {
  for (let round = 0; ; round += 1) {
    const id = newId("req");
    const call = { id, workspaceId: "w", keyId: "k", keyRotation: 0 };
    const open = await openCall(ledger, { ...call, amountNano: 1_000n });
    if (round % 5 === 4) {
      await open.end(null);
      continue;
    }
    const amountNano = BigInt(round % 700);
    await open.end(amountNano);
    writeSync(1, `${id} ${amountNano}\n`);
  }
}

await Promise.all(Array.from({ length: Number(callers) }, call));

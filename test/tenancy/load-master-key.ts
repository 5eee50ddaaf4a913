/** A separate process that loads the master key of a data directory and prints a digest of it. For master-key.test.ts. */
import { createHash } from "node:crypto";
import { loadMasterKey } from "../../src/tenancy/master-key.ts";

// All processes start at the time that the test sets, so that they really collide.
const [dataDir = "", goAtMs = "0"] = process.argv.slice(2);
while (Date.now() < Number(goAtMs));
const masterKey = await loadMasterKey({ dataDir });
process.stdout.write(createHash("sha256").update(masterKey).digest("hex"));

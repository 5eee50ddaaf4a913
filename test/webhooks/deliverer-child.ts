/** A deliverer as its own process, which the test that starts it kills. */
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { createDeliverer, createSender } from "../../src/tasks/webhooks/index.ts";
import { deriveSecrets } from "../support/secrets.ts";

const { TEST_DATABASE_URL: url, TEST_MASTER_KEY: masterKey, TEST_CERTIFICATE: cert } = process.env;
setDefaultCACertificates([...getCACertificates("default"), cert!]);

createDeliverer({
  database: await openDatabase({ url: url!, log: silentLog }),
  secrets: deriveSecrets(Buffer.from(masterKey!, "base64")),
  clock: systemClock,
  log: silentLog,
  send: createSender({ allowPrivate: true }),
  render: (task) => ({ id: task.id }),
  timeoutMs: 15_000,
}).start();

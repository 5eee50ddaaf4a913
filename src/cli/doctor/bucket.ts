/** Check of the bucket that files are kept in: whether it answers, and lets the gateway read. Nothing is written. */
import { counted } from "../../base/counted.ts";
import { inTime } from "../../base/in-time.ts";
import type { Proxies } from "../../base/proxy.ts";
import {
  adviceOnFiles,
  newFileName,
  openFileStore,
  type FileStoreOptions,
} from "../../files/index.ts";
import { agentsThrough } from "../../upstream/index.ts";
import { failed, ok, type Finding } from "./findings.ts";

/** Its client would try for longer than the doctor waits for any check, and nothing would be said of what helps. */
const answerMsMax = 15_000;

/** Asks for a file that is not there, as nothing else is sure to be. A directory is looked at with the data directory. */
export async function checkBucket(
  storage: FileStoreOptions,
  proxies: Proxies,
  ms = answerMsMax,
): Promise<Finding[]> {
  if (storage.kind !== "s3") return [];
  const check = "storage";
  const place = `the bucket ${storage.bucket} at ${storage.endpoint ?? "Amazon S3"}`;
  const store = await openFileStore({ ...storage, agents: agentsThrough(proxies) }, "");
  try {
    const late = () => new Error(`no answer within ${counted(ms / 1_000, "second")}`);
    await inTime(store.open(newFileName("image/png")), ms, late);
    return [ok(check, `${place} answers`)];
  } catch (error) {
    const { reason, fix } = adviceOnFiles(error);
    return [failed(check, `${place}: ${reason}`, fix)];
  } finally {
    await store.close();
  }
}

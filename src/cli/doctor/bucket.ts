/** Checks the bucket for files: whether it answers, and lets the gateway read. Nothing is written. */
import { counted } from "../../base/counted.ts";
import { withTimeout } from "../../base/timeouts.ts";
import type { Proxies } from "../../base/proxy.ts";
import {
  adviceOnFiles,
  newFileName,
  openFileStore,
  type FileStoreOptions,
} from "../../files/index.ts";
import { agentsThrough } from "../../upstream/index.ts";
import { failed, ok, type Finding } from "./findings.ts";

/** Shorter than the doctor's deadline for a check: the bucket's client would retry for longer, and no fix would be shown. */
const answerMsMax = 15_000;

/** Requests a file that does not exist, because no existing file is certain. A local directory is checked with the data directory. */
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
    await withTimeout(store.open(newFileName("image/png")), ms, late);
    return [ok(check, `${place} answers`)];
  } catch (error) {
    const { reason, fix } = adviceOnFiles(error);
    return [failed(check, `${place}: ${reason}`, fix)];
  } finally {
    await store.close();
  }
}

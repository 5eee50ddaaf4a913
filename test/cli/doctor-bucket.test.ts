/** `tollgate doctor` on the bucket for files. docs/operate.md "Doctor", "When files cannot be kept". */
import { expect, it, onTestFinished } from "vitest";
import { noProxies } from "../../src/base/proxy.ts";
import { checkBucket } from "../../src/cli/doctor/bucket.ts";
import type { FileStoreOptions } from "../../src/files/index.ts";
import { startRecorder } from "../support/recorder.ts";
import { startS3 } from "../files/s3-server.ts";

const found = (storage: FileStoreOptions) => checkBucket(storage, noProxies);

const failedBy = (words: string) => [
  { check: "storage", status: "failed", message: expect.stringContaining(words) as string },
];

it("a bucket that answers is ok and nothing is written to it; a missing bucket is named", async () => {
  const server = await startS3();
  onTestFinished(() => server.close());
  expect(await found(server.options)).toMatchObject([{ check: "storage", status: "ok" }]);
  expect(server.names()).toEqual([]);
  expect(await found({ ...server.options, bucket: "none" })).toMatchObject(
    failedBy("NoSuchBucket"),
  );
});

it("a bucket server that is unreachable is reported with the reason", async () => {
  const server = await startS3();
  await server.close();
  expect(await found(server.options)).toMatchObject(failedBy("ECONNREFUSED"));
});

it("a bucket server that does not answer is reported with advice, before the check times out", async () => {
  const silent = await startRecorder(() => undefined);
  onTestFinished(() => silent.close());
  const server = await startS3();
  await server.close();
  const storage = { ...server.options, endpoint: silent.url };
  const [finding] = await checkBucket(storage, noProxies, 1_000);
  expect(finding).toMatchObject({
    status: "failed",
    message: expect.stringContaining("no answer within 1 second") as string,
    fix: "check that it can be reached, and `storage` of the configuration",
  });
});

it("a local directory gets no finding from this check", async () => {
  expect(await found({ kind: "local" })).toEqual([]);
});

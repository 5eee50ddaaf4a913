/** The log's explanation of a bucket's error: the reason, and how to fix it. docs/data.md "When files cannot be kept". */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { openFileStore, watchFiles, type WatchedFiles } from "../../src/files/index.ts";

let answer: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  request.resume().once("end", () => answer(response));
});
let endpoint: string;
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

interface LoggedFailure {
  readonly reason: string;
  readonly fix: string;
}

async function watched(): Promise<{ files: WatchedFiles; logged: LoggedFailure[] }> {
  const logged: LoggedFailure[] = [];
  const keys = { accessKeyId: "key", secretAccessKey: "secret" };
  const bucket = { kind: "s3", bucket: "films", region: "us-east-1", endpoint, ...keys } as const;
  const log = {
    info: () => undefined,
    error: (fields: object) => void logged.push(fields as LoggedFailure),
  };
  const files = watchFiles(await openFileStore(bucket, ""), { log, place: "films" });
  onTestFinished(() => files.close());
  return { files, logged };
}

const put = (files: WatchedFiles) =>
  files.put("a.png", Buffer.alloc(10), { mediaType: "image/png", bytesMax: 10 });

const refuses = (status: number, code: string, more = "") => {
  answer = (response) =>
    void response
      .writeHead(status, { "content-type": "application/xml" })
      .end(`<Error><Code>${code}</Code><Message>Told so.</Message>${more}</Error>`);
};

const refusals = [
  { status: 403, code: "AccessDenied", fix: "s3:PutObject" },
  { status: 403, code: "InvalidAccessKeyId", fix: "access_key_id" },
  { status: 403, code: "SignatureDoesNotMatch", fix: "secret_access_key" },
  { status: 400, code: "ExpiredToken", fix: "new credentials" },
  { status: 404, code: "NoSuchBucket", fix: "make the bucket" },
  { status: 403, code: "RequestTimeTooSkewed", fix: "NTP" },
  { status: 507, code: "XMinioStorageFull", fix: "free room in the bucket" },
];
it.each(refusals)("for a bucket that answers $code the log says how to fix it", async (refusal) => {
  refuses(refusal.status, refusal.code);
  const { files, logged } = await watched();
  await expect(put(files)).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(logged).toEqual([
    expect.objectContaining({
      reason: `${refusal.status} ${refusal.code}: Told so.`,
      fix: expect.stringContaining(refusal.fix),
    }),
  ]);
});

it("the size of a file in a missing bucket is an error of the bucket; a missing file has no size", async () => {
  refuses(404, "NoSuchBucket");
  const { files, logged } = await watched();
  await expect(files.size("a.png")).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(logged[0]!.fix).toContain("make the bucket");
  refuses(404, "NoSuchKey");
  expect(await files.size("a.png")).toBeUndefined();
});

it("for a bucket of another region the log names the region", async () => {
  refuses(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>");
  const { files, logged } = await watched();
  await expect(put(files)).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(logged[0]!.fix).toMatch(/`region`.*eu-west-1$/);
});

it("an answer that is not from S3, such as a proxy's page, is reported as that", async () => {
  answer = (response) => void response.writeHead(403).end("<html>No.</html>");
  const { files, logged } = await watched();
  await expect(put(files)).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(logged[0]!.reason).toContain("403, and no error of S3");
});

it("STORE-02: a file in a missing bucket is not reported as missing", async () => {
  refuses(404, "NoSuchBucket");
  const { files } = await watched();
  await expect(files.open("a.png")).rejects.toMatchObject({ code: "storage_unavailable" });
  refuses(404, "NoSuchKey");
  expect(await files.open("a.png")).toBeUndefined();
});

it("a bucket that fails both writes and reads logs each once a minute, even when they alternate", async () => {
  refuses(403, "AccessDenied");
  const { files, logged } = await watched();
  for (let round = 0; round < 5; round += 1) {
    await expect(put(files)).rejects.toThrow("storage");
    await expect(files.open("a.png")).rejects.toThrow("storage");
  }
  expect(logged).toHaveLength(2);
});

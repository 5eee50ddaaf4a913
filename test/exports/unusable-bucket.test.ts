/** Exports into a bucket that takes no file: one line with the bucket, the reason and a fix. docs/data.md "Exports". */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { startS3, type S3Server } from "../files/s3-server.ts";
import { tollgateHere } from "../support/command.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";

describeDatabase("exports by `tollgate export`", (open) => {
  let database: Database;
  let s3: S3Server;
  beforeAll(async () => {
    database = await open();
    s3 = await startS3();
  });
  afterAll(() => s3.close());

  it.each([
    ["no-such-bucket", {}, "404 NoSuchBucket: .*; make the bucket, or mend its name in `exports`"],
    ["tollgate-test", { secret: "wrong" }, "403 SignatureDoesNotMatch: .*; mend `access_key_id`.*"],
    [
      "tollgate-test",
      { port: 1 },
      ".*ECONNREFUSED.*; check that it can be reached, and `exports` .*",
    ],
  ])("report a bucket (%s, %o) that takes no file in one line", async (bucket, wrong, line) => {
    const { secret, port } = { secret: undefined, port: undefined, ...wrong };
    const { endpoint, accessKeyId, secretAccessKey } = s3.options;
    const directory = temporaryDirectory();
    const file = join(directory, "tollgate.yaml");
    const exports = {
      to: `s3://${bucket}/days`,
      endpoint: port === undefined ? endpoint : `http://127.0.0.1:${port}`,
      region: "us-east-1",
      access_key_id: accessKeyId,
      secret_access_key: secret ?? secretAccessKey,
    };
    writeFileSync(file, JSON.stringify({ exports }));
    const environment = {
      DATABASE_URL: database.pool.options.connectionString!,
      TOLLGATE_DATA_DIR: directory,
      TOLLGATE_CONFIG: file,
    };
    expect(
      await tollgateHere(["export", "ledger", "--from", "2026-01-01"], environment),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`^tollgate: s3://${bucket}/days cannot be used: ${line}\n$`),
      ) as string,
    });
  });
});

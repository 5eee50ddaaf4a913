// A bucket that is unreachable when a vendor has made a result, and comes back. The gateway is real, and may be killed meanwhile.
// It holds results from a vendor's answer, and fetches stored results again. docs/tasks.md; STORE-01.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { s3Config, startS3, type S3Server } from "../files/s3-server.ts";
import { ledgerReaderOf } from "../money/support.ts";
import { shortOrLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import {
  clipConfiguration,
  endAll,
  live,
  liveHere,
  startVideoVendor,
  type Life,
  type VideoVendor,
} from "../support/task-life.ts";
import type { TaskBody } from "../task-http/support.ts";
import { pixel } from "../support/pixel.ts";

let bucket: S3Server;
let painter: Recorder;
let videos: VideoVendor;
let directory: string;
let environment: Record<string, string>;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-bucket-"));
  [bucket, videos] = await Promise.all([startS3(), startVideoVendor()]);
  painter = await startRecorder((request, response) => {
    bucket.setAway(true);
    return json({ data: [{ b64_json: pixel }] })(request, response);
  });
  const pictures = `
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - provider: painter
        upstream_model: m
        price: { output_image: { low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }, input_image: "0.001" }
`;
  const provider = `  - { id: painter, dialect: xai, base_url: "${painter.url}/v1", api_key: secret }\nmodels:`;
  const configuration = clipConfiguration(videos.recorder.url, pictures + s3Config(bucket));
  const config = join(directory, "tollgate.yaml");
  writeFileSync(config, configuration.replace("models:", provider));
  environment = {
    TOLLGATE_CONFIG: config,
    TOLLGATE_DATA_DIR: join(directory, "data"),
    TOLLGATE_SANDBOX: "off",
    TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
    TOLLGATE_LOG_LEVEL: "silent",
    DATABASE_URL: await (await sharedPostgres()).createMigrated(),
  };
});
afterEach(async () => {
  endAll();
  await Promise.all([bucket.close(), painter.close(), videos.recorder.close()]);
  rmSync(directory, { recursive: true });
});

const headersOf = (key: string) => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
});

type GatewayUrl = Pick<Life, "url">;

async function submit({ url }: GatewayUrl, key: string, body: object): Promise<string> {
  const answer = await fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: headersOf(key),
    body: JSON.stringify({ prompt: "boat", ...body }),
  });
  return ((await answer.json()) as TaskBody).id;
}

async function read({ url }: GatewayUrl, key: string, id: string): Promise<TaskBody> {
  return (await (
    await fetch(`${url}/v1/tasks/${id}`, { headers: headersOf(key) })
  ).json()) as TaskBody;
}

/** Waits for the end of a task. Returns `status cost`. */
const endOf = (gateway: GatewayUrl, key: string, id: string): Promise<string> =>
  eventually(async () => {
    const { status, cost } = await read(gateway, key, id);
    return ["queued", "running"].includes(status) ? undefined : `${status} ${cost}`;
  }, "the end of a task");

const clip = { model: "acme/clip", duration: 2 };
const drawing = { model: "acme/pictures" };

/** Two tasks whose results are made while the bucket is away. */
async function createBothResults(
  gateway: GatewayUrl,
  key: string,
): Promise<readonly [drawing: string, clip: string]> {
  const drawn = await submit(gateway, key, drawing);
  await eventually(() => painter.requests.length === 1, "a picture");
  const filmed = await submit(gateway, key, clip);
  await eventually(() => videos.done.has("job-boat"), "a video");
  return [drawn, filmed];
}

/** Expects a clean ledger with these charges of tasks, and no others of them. */
async function expectCharged(charged: Readonly<Record<string, bigint>>): Promise<void> {
  const database = await openDatabase({ url: environment["DATABASE_URL"]!, log: silentLog });
  await ledgerReaderOf(database).expectClean();
  const rows = (await ledgerReaderOf(database).charges()).filter(
    ({ reference }) => reference in charged,
  );
  const amounts = rows.map(({ reference, amount_nano }) => [reference, amount_nano] as const);
  const expected = Object.entries(charged).filter(([, amount]) => amount > 0n);
  expect(amounts).toHaveLength(expected.length);
  expect(Object.fromEntries(amounts)).toEqual(Object.fromEntries(expected));
  await database.close();
}

it("STORE-01: two tasks whose results the bucket could not store succeed once it is back, and are charged once", async () => {
  // This gateway is not killed.
  const gateway = await liveHere({ ...environment, TOLLGATE_INITIAL_CREDIT: "1000" });
  const tasks = await createBothResults(gateway, gateway.key!);
  // An earlier version gave up after three tries with three requests each. The long form takes half a minute.
  await eventually(() => bucket.unanswered() >= shortOrLong(30, 100), "tries", 60_000);
  for (const id of tasks) expect((await read(gateway, gateway.key!, id)).status).toBe("running");
  bucket.setAway(false);
  expect(await Promise.all(tasks.map((id) => endOf(gateway, gateway.key!, id)))).toEqual([
    "succeeded 0.01",
    "succeeded 0.1",
  ]);
  expect([painter.requests.length, videos.submitted.get("boat")]).toEqual([1, 1]);
  for (const id of tasks) {
    const { output } = await read(gateway, gateway.key!, id);
    const { url } = [...(output.videos ?? []), ...output.images][0]!;
    expect((await fetch(url)).status).toBe(200);
  }
  await gateway.end();
  await expectCharged({ [tasks[0]]: 10_000_000n, [tasks[1]]: 100_000_000n });
});

it("T81 STORE-01: after a kill, a result at the vendor is fetched; one that only the gateway had fails its task, unbilled", async () => {
  const first = await live(environment);
  const key = first.key!;
  const tasks = await createBothResults(first, key);
  first.child.kill("SIGKILL");
  await first.gone;
  bucket.setAway(false);
  const second = await live(environment);
  expect(await Promise.all(tasks.map((id) => endOf(second, key, id)))).toEqual([
    "failed 0",
    "succeeded 0.1",
  ]);
  expect((await read(second, key, tasks[0])).error?.code).toBe("submission_uncertain");
  expect([painter.requests.length, videos.submitted.get("boat")]).toEqual([1, 1]);
  await second.end();
  await expectCharged({ [tasks[0]]: 0n, [tasks[1]]: 100_000_000n });
});

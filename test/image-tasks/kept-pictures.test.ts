// The pictures of a task outlive the process that accepted them, wherever files are stored: in a directory, after a kill -9, and in
// a bucket.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { s3Config, startS3 } from "../files/s3-server.ts";
import { startTestGateway } from "../support/gateway.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { endAll, live, type Life } from "../support/task-life.ts";
import type { TaskBody } from "../task-http/support.ts";
import { padded } from "../task-http/upload-support.ts";
import { formOf, plain } from "./support.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  endAll();
  for (const close of closers.splice(0).toReversed()) await close();
});

const configuration = (url: string, more = "") => `
providers:
  - { id: vendor, dialect: xai, base_url: "${url}/v1", api_key: secret, tier: official }
models:
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - provider: vendor
        upstream_model: m
        price: { output_image: { low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }, input_image: "0.001" }
${more}`;

async function startVendor(): Promise<Recorder> {
  const picture = (await plain()).toString("base64");
  const vendor = await startRecorder(json({ data: [{ b64_json: picture }] }));
  closers.push(() => vendor.close());
  return vendor;
}
/** The pictures of a request, as bytes. */
const received = ({ body }: Recorder["requests"][number]): Buffer[] =>
  (body["images"] as { url: string }[]).map(({ url }) =>
    Buffer.from(url.slice(url.indexOf(",") + 1), "base64"),
  );
const fields = { model: "acme/pictures", prompt: "A boat" };

/** Points of death with the task's final state and cost. The short form has the one after which no vendor may be asked again. */
const killPoints = [
  ["collect.stored", "failed", "0"],
  ["ask.claimed", "succeeded", "0.012"],
] as const;
it.each(killPoints.slice(0, shortOrLong(1, 2)))(
  "a task with pictures whose gateway is killed at %s has %s after the next start, with one vendor request",
  async (point, status, cost) => {
    const vendor = await startVendor();
    const directory = mkdtempSync(join(tmpdir(), "tollgate-lasting-"));
    closers.push(() => rmSync(directory, { recursive: true, force: true }));
    const config = join(directory, "tollgate.yaml");
    writeFileSync(config, configuration(vendor.url));
    const environment = {
      TOLLGATE_CONFIG: config,
      TOLLGATE_DATA_DIR: join(directory, "data"),
      TOLLGATE_SANDBOX: "off",
      DATABASE_URL: await (await sharedPostgres()).createMigrated(),
    };
    const pictures = [await plain(), padded(await plain({ format: "jpeg" }), 3_000_000)];
    const first = await live(environment);
    await first.arm(point);
    // The process may die before it answers.
    await post(first, pictures).catch(() => undefined);
    await first.gone;

    const second = await live({ ...environment });
    const key = first.key!;
    await expect.poll(async () => (await listed(second, key))[0]?.status).toBe(status);
    const [task, ...others] = await listed(second, key);
    expect([others, task!.cost]).toEqual([[], cost]);
    expect(vendor.requests).toHaveLength(1);
    expect(received(vendor.requests[0]!).map((one, at) => one.equals(pictures[at]!))).toEqual([
      true,
      true,
    ]);
    // The sweep removes the inputs, and results that no caller got.
    const left = () => readdirSync(join(directory, "data", "files")).length;
    await expect.poll(left).toBe(task!.output.images.length);
    await second.end();
  },
);

const post = ({ url, key }: Life, pictures: readonly Buffer[]) =>
  fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: formOf(fields, { "image[]": pictures }),
  });

async function listed({ url }: Life, key: string): Promise<TaskBody[]> {
  const answer = await fetch(`${url}/v1/tasks`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { data: TaskBody[] }).data;
}

it("a bucket stores pictures whole, keeps none of a refused task, and only the result of an ended one", async () => {
  const vendor = await startVendor();
  const bucket = await startS3();
  closers.push(() => bucket.close());
  const gateway = await startTestGateway({
    config: configuration(vendor.url, s3Config(bucket)),
    filesEveryMs: 50,
  });
  closers.push(() => gateway.close());
  await gateway.credit("10");
  const send = (pictures: readonly Buffer[], more = {}) =>
    fetch(`${gateway.url}/v1/tasks`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, prefer: "wait=20" },
      body: formOf({ ...fields, ...more }, { "image[]": pictures }),
    });
  const pictures = [await plain(), padded(await plain({ format: "webp" }), 12_000_000)];

  expect((await send(pictures, { n: 11 })).status).toBe(400);
  expect([bucket.names(), bucket.unfinished()]).toEqual([[], []]);

  const task = (await (await send(pictures)).json()) as TaskBody;
  expect(task).toMatchObject({ status: "succeeded", cost: "0.012" });
  expect(received(vendor.requests[0]!).map((one, at) => one.equals(pictures[at]!))).toEqual([
    true,
    true,
  ]);
  const made = Buffer.from(await (await fetch(task.output.images[0]!.url)).arrayBuffer());
  expect(made.equals(await plain())).toBe(true);
  await expect.poll(() => bucket.names().length).toBe(1);
});

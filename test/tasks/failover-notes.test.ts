// Each provider drops different parameters. After a failover, a task reports those that its final provider drops. TASK-35, VID-28.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { mp4 } from "../support/task-life.ts";
import { eventually } from "../support/patience.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import { startReceiver } from "../webhooks/support.ts";
import { oneKey, says, startArkVendor, type ArkVendor } from "./support.ts";

let ark: ArkVendor;
let xai: Recorder;
let bench: Bench;
beforeAll(async () => {
  ark = await startArkVendor();
  xai = await startRecorder((request, response) => {
    if (request.path.endsWith(".mp4"))
      return void response.writeHead(200, { "content-length": mp4.length }).end(mp4);
    if (request.method === "POST") return void response.end('{"request_id":"job-x"}');
    const video = { url: `${xai.url}/v.mp4`, duration: 2 };
    return void response.end(JSON.stringify({ status: "done", video }));
  });
  const price = (rate: number) => `{ output_video_token: "${rate}" }`;
  bench = await startBench({
    config: `
providers:
${oneKey("ark", ark)}
  - { id: xai, dialect: xai, base_url: "${xai.url}/v1", api_key: secret }
models:
  - id: acme/clip
    kind: video
    family: video-tokens
    offers:
      - { provider: ark, upstream_model: clip, price: ${price(100)} }
      - { provider: xai, upstream_model: clip, price: ${price(101)} }
`,
    tasks: { timing: { firstPollMs: 20, sweepMs: 50 }, callbackEveryMs: 20 },
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
  });
  await bench.credit("1000");
});
afterAll(async () => {
  await bench?.close();
  await Promise.all([ark?.close(), xai?.close()]);
});

const clip = {
  model: "acme/clip:@price",
  prompt: "A boat",
  duration: 4,
  seed: 7,
  camera_fixed: true,
  moderation: "low",
};
const droppedNote = (param: string) => `${param}: not supported by this model's provider, dropped`;

/** The row of the request log, once it is written. */
const loggedAs = (id: string) =>
  eventually(async () => {
    const rows = await bench.database.query<{ notes: string[]; dropped: string[] }>(
      "select notes, dropped from request_log where id = $1",
      [id],
    );
    return rows[0];
  }, "the row of the request log");

it("VID-28: after a failover, the task, its callback and the request log have the notes of the provider that made the video", async () => {
  ark.plan("POST", says.refused(503));
  const receiver = await startReceiver();
  const { id, notes } = await bench.create({ ...clip, webhook_url: receiver.url });
  expect(notes ?? []).not.toContain(droppedNote("seed"));
  const task = await bench.until(id, "succeeded", "failed");
  expect(xai.requests[0]!.body["seed"]).toBeUndefined();
  expect(task.notes).toEqual(
    expect.arrayContaining([droppedNote("seed"), droppedNote("camera_fixed")]),
  );
  const callback = await eventually(() => receiver.received[0], "the callback");
  expect(JSON.parse(callback.body)).toMatchObject({ data: { id, notes: task.notes } });
  const logged = await loggedAs(id);
  expect(logged.notes).toEqual(task.notes);
  expect(logged.dropped).toEqual(expect.arrayContaining(["seed", "camera_fixed"]));
});

it("VID-28: without a failover, a task's notes are those of its submission", async () => {
  ark.reset();
  const { id, notes = [] } = await bench.create({ ...clip, user: "u" });
  const task = await bench.until(id, "succeeded", "failed");
  expect(task.notes ?? []).toEqual(notes);
  expect(ark.calls("POST").at(-1)!.body["seed"]).toBe(7);
});

it("VID-28: the request log has a dropped field by its whole name, even if that has a colon", async () => {
  ark.reset();
  const { id, notes } = await bench.create({ ...clip, moderation: null, "mood:light": "low" });
  expect(notes).toEqual(["mood:light: not supported by this model, dropped"]);
  await bench.until(id, "succeeded", "failed");
  expect((await loggedAs(id)).dropped).toEqual(["mood:light"]);
});

// Inline pictures in video requests: megabytes go to the vendor unchanged, but not into the task's row, which every poll and read
// loads. Requirements: TASK, T86.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { mp4 } from "../support/task-life.ts";
import { startBench, type Bench } from "../task-http/support.ts";

/** The vendor reports jobs as done once this is true. */
let done = false;
let vendor: Recorder;
let bench: Bench;
const files = () => readdirSync(join(bench.directory, "data", "files"));

const model = (dialect: string) => `
  - { id: acme/${dialect}, kind: video, family: video-seconds, offers: [{ provider: ${dialect}, upstream_model: wan3-x, price: { output_second: { 480p: "0.05" }, input_image: "0.01" } }] }`;

beforeAll(async () => {
  vendor = await startRecorder((request, response) => {
    const video_url = `${vendor.url}/made.mp4`;
    const say = (body: object) => void response.end(JSON.stringify(body));
    if (request.path.endsWith(".mp4")) {
      return void response.writeHead(200, { "content-length": mp4.length }).end(mp4);
    }
    if (request.method === "POST") {
      const id = `job-${vendor.requests.length}`;
      return say({ id, request_id: id, output: { task_id: id } });
    }
    if (!done) return say({ status: "running", output: { task_status: "RUNNING" } });
    return say(
      request.path.startsWith("/v1/")
        ? { status: "done", video: { url: video_url, duration: 1 } }
        : {
            status: "succeeded",
            content: { video_url },
            output: { task_status: "SUCCEEDED", video_url },
          },
    );
  });
  bench = await startBench({
    config: `
providers:
  - { id: xai, dialect: xai, base_url: "${vendor.url}/v1", api_key: k }
  - { id: ark, dialect: ark, base_url: "${vendor.url}/api/v3", api_key: k }
  - { id: dashscope, dialect: dashscope, base_url: "${vendor.url}/api/v1", api_key: k }
models:${["xai", "ark", "dashscope"].map(model).join("")}
`,
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
  });
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

const dataUrl = (bytes: number) => `data:image/png;base64,${randomBytes(bytes).toString("base64")}`;

describe("pictures of megabytes in the request", () => {
  it.each(["xai", "ark", "dashscope"])(
    "reach a vendor of dialect %s unchanged, are not stored in the task's row, and are removed when the task ends",
    async (name) => {
      await bench.credit("10");
      done = false;
      vendor.requests.length = 0;
      const [first, last] = [dataUrl(2_000_000), dataUrl(1_000_001)];
      const body = {
        model: `acme/${name}`,
        prompt: "A boat",
        duration: 1,
        image: { url: first },
        last_frame: { url: last },
      };
      const { id } = await bench.create(body);
      const sent = await eventually(
        () => vendor.requests.find(({ method }) => method === "POST"),
        "the submission",
      );
      const text = JSON.stringify(sent.body);
      expect([text.includes(`"${first}"`), text.includes(`"${last}"`)]).toEqual([true, true]);
      const [row] = await bench.database.query<{ bytes: number }>(
        "select octet_length(request::text) as bytes from tasks where id = $1",
        [id],
      );
      expect(row!.bytes).toBeLessThan(2_000);
      expect(files()).toHaveLength(2);
      done = true;
      await bench.until(id, "succeeded");
      // The files have expired, so the sweep removes them.
      expect(
        await bench.database.query(
          "select name from files where purpose = 'input' and expires_at > now()",
        ),
      ).toEqual([]);
      rmSync(join(bench.directory, "data", "files"), { recursive: true });
      mkdirSync(join(bench.directory, "data", "files"));
    },
  );

  it("are not kept for a refused task", async () => {
    const { availableNano } = await bench.ledger.balance(bench.workspaceId);
    const body = { model: "acme/ark", duration: 15, image: { url: dataUrl(100_000) } };
    const answers = await Promise.all(
      Array.from({ length: Number(availableNano / 700_000_000n) + 3 }, () =>
        bench.send("POST", "/v1/tasks", { body }),
      ),
    );
    const acceptedCount = answers.filter(({ ok }) => ok).length;
    expect(answers.filter(({ status }) => status === 402).length).toBe(
      answers.length - acceptedCount,
    );
    expect(acceptedCount).toBeLessThan(answers.length);
    await bench.database.query(
      "update tasks set expires_at = now(), due_at = now() where due_at is not null",
    );
    await eventually(
      () => (files().length <= acceptedCount ? true : undefined),
      "what was refused is gone",
    );
  });
});

it("a small picture in the request is sent to the vendor unchanged", async () => {
  await bench.credit("10");
  const url = "data:image/png;base64,iVBORw0KGgo";
  const prompt = "A small picture";
  await bench.create({ model: "acme/ark", prompt, duration: 1, image: { url } });
  const sent = await eventually(
    () => vendor.requests.find(({ body }) => JSON.stringify(body).includes(prompt)),
    "the submission",
  );
  expect(JSON.stringify(sent.body)).toContain(`"${url}"`);
});

it("a request that is too large without its pictures is refused", async () => {
  const body = { model: "acme/ark", prompt: "boat ".repeat(300_000), duration: 1 };
  const answer = await bench.send("POST", "/v1/tasks", { body });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ error: { code: "request_too_large" } });
});

/** A call that waits for the end of its task holds no memory for its body: others can send theirs meanwhile. T86; docs/load.md. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { clipConfiguration } from "../support/task-life.ts";
import { startBench, type Bench } from "./support.ts";

let vendor: Recorder;
let bench: Bench;

beforeEach(async () => {
  // A vendor that accepts every job, and never ends one.
  let jobs = 0;
  vendor = await startRecorder(({ method }, response) => {
    if (method !== "POST") return void response.writeHead(202).end();
    jobs += 1;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ request_id: `job-${jobs}` }));
  });
  const limits = "limits: { body_mb: 3, text_body_mb: 3, bodies_under_way_mb: 3 }\n";
  bench = await startBench({ config: limits + clipConfiguration(vendor.url) });
  await bench.credit("100");
});
afterEach(async () => {
  await bench.close();
  await vendor.close();
});

/** A video with a first frame inside the body, which takes a third of the budget or more. */
const large = {
  model: "acme/clip",
  prompt: "A boat",
  duration: 2,
  image: { url: `data:image/png;base64,${"A".repeat(1_000_000)}` },
};

it("T86: large bodies are accepted while calls with large bodies wait for their tasks", async () => {
  const waiting: Promise<Response>[] = [];
  for (let calls = 1; calls <= 4; calls += 1) {
    waiting.push(bench.send("POST", "/v1/tasks", { body: large, headers: { prefer: "wait=60" } }));
    const submitted = () => vendor.requests.filter(({ method }) => method === "POST").length;
    await expect.poll(submitted).toBe(calls);
  }
  expect((await bench.create(large)).id).toMatch(/^task_/);
  await bench.close();
  for (const answer of await Promise.all(waiting)) {
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ status: "running" });
  }
});

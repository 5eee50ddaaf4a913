// Vendors' answers to image tasks count in the budget of bytes in flight: a task waits until its pictures fit, and calls are
// refused meanwhile.
import { afterEach, beforeEach, expect, it } from "vitest";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import type { TaskPoint } from "../../src/tasks/index.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import { plain } from "./support.ts";

const configuration = (url: string) => `
limits: { body_mb: 3, text_body_mb: 3, bodies_under_way_mb: 3 }
providers:
  - { id: vendor, dialect: openai-compatible, base_url: "${url}/v1", api_key: secret, tier: official }
models:
  - id: acme/tokens
    kind: image
    family: task-image-2
    offers:
      - { provider: vendor, upstream_model: m, price: { input: "5", image_input: "8", output: "10", image_output: "30" } }
  - id: acme/chat
    kind: text
    endpoints: [chat_completions]
    context_length: 1000000
    max_output_tokens: 100
    offers:
      - { provider: vendor, protocol: chat, upstream_model: m, price: { input: "0.001", output: "0.001" } }
`;

let vendor: Recorder;
let bench: Bench;
let points: TaskPoint[];
/** Lets the vendor send its pictures. */
let answerAll: () => void;

beforeEach(async () => {
  const picture = (await plain()).toString("base64");
  const mayAnswer = new Promise<void>((resolve) => (answerAll = resolve));
  vendor = await startRecorder(async (request, response) => {
    if (request.path.includes("chat"))
      return json({ error: { message: "no" } }, 400)(request, response);
    await mayAnswer;
    return json({ data: [{ b64_json: picture }] })(request, response);
  });
  points = [];
  bench = await startBench({
    config: configuration(vendor.url),
    tasks: {
      timing: { firstPollMs: 40, sweepMs: 100, shortageMs: 50 },
      at: (point) => void points.push(point),
    },
  });
  await bench.credit("100");
});
afterEach(async () => {
  answerAll();
  await bench.close();
  await vendor.close();
});

const prompt = { model: "acme/tokens", prompt: "A boat" };
const large = {
  model: "acme/chat",
  messages: [{ role: "user", content: "x".repeat(900_000) }],
};

it("a second task waits for memory until the first has its pictures, and calls are refused meanwhile", async () => {
  const first = await bench.create(prompt);
  await expect.poll(() => vendor.requests.length).toBe(1);
  const second = await bench.create(prompt);
  await expect.poll(() => points.filter((at) => at === "ask.noted").length).toBeGreaterThan(1);
  expect(vendor.requests).toHaveLength(1);
  expect((await bench.read(second.id)).status).toBe("queued");

  const refused = await bench.post("/v1/chat/completions", large);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]/);

  answerAll();
  for (const { id } of [first, second])
    expect((await bench.until(id, "succeeded", "failed")).status).toBe("succeeded");
  expect(vendor.requests).toHaveLength(2);
  // The budget was released, so the call reaches the vendor.
  await expect.poll(async () => (await bench.post("/v1/chat/completions", large)).status).toBe(400);
});

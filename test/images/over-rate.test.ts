/** An image call that is larger than an account's tokens a minute: other accounts are asked. docs/routing.md "Several credentials". */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { startImages, type ImageBench } from "./support.ts";

let vendor: Recorder;
let bench: ImageBench;
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const message =
  "Request too large for gpt-image-1 in organization org-4711 on tokens per min (TPM): Limit 30000, Requested 42387.";
const tooLarge = json({ error: { message, type: "tokens", code: "rate_limit_exceeded" } }, 429);

beforeAll(async () => {
  vendor = await startRecorder(tooLarge);
  bench = await startImages({
    config: `
providers:
  - id: images
    dialect: openai-compatible
    base_url: "${vendor.url}/v1"
    credentials: [{ id: one, api_key: key-one }, { id: two, api_key: key-two }]
models:
  - id: acme/make
    kind: image
    family: image-a
    offers:
      - { provider: images, upstream_model: m, price: { input: "1", output: "1", image_input: "1", image_output: "1" } }`,
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});
beforeEach(() => void (vendor.requests.length = 0));

const keys = () => vendor.requests.map(({ headers }) => String(headers.authorization)).toSorted();
const both = ["Bearer key-one", "Bearer key-two"];

it("another credential of the provider makes the picture", async () => {
  vendor.answer((request, response) =>
    (vendor.requests.length === 1 ? tooLarge : json({ data: [{ b64_json: png }] }))(
      request,
      response,
    ),
  );
  expect((await bench.generate({ model: "acme/make" })).status).toBe(200);
  expect(keys()).toEqual(both);
});

it("if all credentials refuse, the caller gets 413 with the reason, without details of the operator's account", async () => {
  vendor.answer(tooLarge);
  const answer = await bench.generate({ model: "acme/make" });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([413, null]);
  const text = await answer.text();
  expect(text).toContain("Request too large for gpt-image-1 on tokens per min (TPM)");
  expect(text).not.toContain("4711");
  expect(keys()).toEqual(both);
});

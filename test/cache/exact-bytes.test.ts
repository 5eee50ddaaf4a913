// A repeat from the response cache equals the first answer byte for byte, also for numbers that no double holds.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKey } from "../../src/tenancy/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";

/** A 64-bit id among a tool's arguments, and a zero with a sign. */
const args = '{"order":9223372036854775807,"at":-0.0}';

const answers: Readonly<Record<string, string>> = {
  "/v1/messages": `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"order","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5}}`,
  "/v1beta/models/m:generateContent": `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"order","args":${args}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5,"totalTokenCount":8},"modelVersion":"m"}`,
};

let vendor: Recorder;
let gateway: GatewayUnderTest;
let key: string;
beforeAll(async () => {
  vendor = await startRecorder(({ path }, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(answers[path]);
  });
  gateway = await startTestGateway({
    config: `
providers:
  - { id: claude, dialect: anthropic, base_url: "${vendor.url}/v1", api_key: one, tier: official }
  - { id: gemini, dialect: google, base_url: "${vendor.url}/v1beta", api_key: two, tier: official }
models:
  - { id: acme/messages, kind: text, context_length: 10000, max_output_tokens: 100, offers: [{ provider: claude, upstream_model: m, protocol: messages, price: { input: "1", output: "1" } }] }
  - { id: acme/gemini, kind: text, context_length: 10000, max_output_tokens: 100, offers: [{ provider: gemini, upstream_model: m, protocol: generate_content, price: { input: "1", output: "1" } }] }
`,
  });
  await gateway.credit("10");
  const responseCache = { ttlSeconds: 600, chargePercent: 0 };
  const { workspaceId } = gateway;
  const made = { workspaceId, name: "cached", createdBy: null, responseCache };
  ({ key } = await createKey(await gateway.internals(), made));
});
afterAll(async () => {
  await gateway?.close();
  await vendor?.close();
});

it.each([
  [
    "messages",
    "/v1/messages",
    { model: "acme/messages", max_tokens: 50, messages: [{ role: "user", content: "Order" }] },
  ],
  [
    "generateContent",
    "/v1beta/models/acme/gemini:generateContent",
    { contents: [{ role: "user", parts: [{ text: "Order" }] }] },
  ],
])("T3: a cache hit of %s equals the first answer byte for byte", async (_protocol, path, body) => {
  const ask = async () => {
    const answer = await gateway.post(path, body, { authorization: `Bearer ${key}` });
    return { cache: answer.headers.get("x-gw-cache"), text: await answer.text() };
  };
  const first = await ask();
  expect(first.cache).toBe("miss");
  expect(first.text).toContain(args);
  const hit = await eventually(async () => {
    const again = await ask();
    return again.cache === "hit" ? again : undefined;
  }, "a kept answer");
  expect(hit.text).toBe(first.text);
});

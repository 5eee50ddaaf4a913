/** Models that answer only by a stream, such as Qwen3 and QwQ at Alibaba: a whole answer is collected from it. Trap T15. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { vendorQuirks } from "../../src/catalog/index.ts";
import { ledgerReaderOf } from "../money/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

describe("a call for a whole answer", () => {
  let upstream: Sandbox;
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    upstream = await startSandbox({ host: "127.0.0.1", port: 0 });
    gateway = await startTestGateway({
      sandbox: "off",
      environment: {
        DASHSCOPE_API_KEY: "sandbox",
        DASHSCOPE_BASE_URL: `${upstream.url}/openai/v1`,
      },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const messages = [{ role: "user", content: "Hello!" }];

  it.each([
    ["/v1/chat/completions", "alibaba/qwen3-8b", true],
    ["/v1/messages", "alibaba/qwen3-8b", true],
    ["/v1/chat/completions", "alibaba/qwen-plus", false],
  ])("T15: %s of %s asks the vendor for a stream: %s", async (path, model, streams) => {
    await fetch(`${upstream.url}/__journal`, { method: "DELETE" });
    const response = await gateway.post(path, { model, max_tokens: 50, messages });
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const answer = (await response.json()) as { usage: Record<string, number> };
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    const journal = await fetch(`${upstream.url}/__journal`);
    const { data } = (await journal.json()) as { data: { body: Record<string, unknown> }[] };
    expect(data.map(({ body }) => [body["stream"] === true, body["stream_options"]])).toEqual([
      [streams, streams ? { include_usage: true } : undefined],
    ]);
    const id = response.headers.get("x-request-id")!;
    const row = await ledgerReaderOf(gateway.database).logRow(id);
    expect(row).toMatchObject({ status: "succeeded", usage_source: "upstream" });
  });
});

it.each([
  ["dashscope", ["qwq-plus", "qvq-max", "qwen3-235b-a22b", "qwen3-vl-30b-a3b", "qwen3-omni-flash"]],
  ["modelscope", ["Qwen/QwQ-32B", "Qwen/Qwen3-235B-A22B-Thinking-2507", "Qwen/Qwen3-8B"]],
])("T15: %s streams only", (id, models) => {
  const provider = { id, baseUrl: "https://proxy.example.com/v1", dialect: "openai-compatible" };
  const { streamsOnly } = vendorQuirks(provider as Parameters<typeof vendorQuirks>[0]);
  expect(models.filter((model) => streamsOnly?.test(model) !== true)).toEqual([]);
  const whole = ["qwen3-max", "qwen-plus", "qwen3.6-plus", "qwen3-coder-plus", "Qwen/Qwen3.6-27B"];
  expect(whole.filter((model) => streamsOnly?.test(model))).toEqual([]);
});

/** The output token limit under the field name that the vendor accepts. Requirements: CONV-202; trap T30. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { sse, startRecorder, type Recorder } from "../support/recorder.ts";
import { byName, names, toolsOf, type Body, type Name } from "./world.ts";
import { chat } from "../rows/protocols.ts";

const maximum: Readonly<Record<Exclude<Name, "chat">, Body>> = {
  responses: { max_output_tokens: 50 },
  messages: { max_tokens: 50 },
  generate_content: { generationConfig: { maxOutputTokens: 50 } },
};

let gateway: GatewayUnderTest;
let upstream: Recorder;

const dialects = ["openai", "azure", "openai-compatible"] as const;

beforeAll(async () => {
  upstream = await startRecorder(sse(chat.frames.join("")));
  const providers = dialects.map(
    (dialect) =>
      `  - { id: ${dialect}, dialect: ${dialect}, base_url: "${upstream.url}/openai/v1", api_key: secret }`,
  );
  const records = { reasons: "    reasoning: { kind: effort, values: [low, high] }\n", other: "" };
  const models = dialects.flatMap((dialect) =>
    Object.entries(records).map(
      ([name, record]) => `
  - id: acme/${dialect}-${name}
    kind: text
    context_length: 200000
    max_output_tokens: 32000
${record}    offers:
      - { provider: ${dialect}, protocol: chat, upstream_model: gpt-5.4, price: { input: "1", output: "10" } }`,
    ),
  );
  gateway = await startTestGateway({
    config: `providers:\n${providers.join("\n")}\nmodels:${models.join("")}\n`,
  });
  await gateway.credit("1000");
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** The limit's fields in the body that the provider gets. */
async function sent(from: Exclude<Name, "chat">, name: string): Promise<Body> {
  upstream.requests.length = 0;
  const caller = byName[from];
  const model = `acme/${name}`;
  const body = { ...caller.body(model, true), ...toolsOf[from], ...maximum[from] };
  const reply = await gateway.post(caller.path(model, true), body);
  await reply.text();
  const { max_tokens, max_completion_tokens } = upstream.requests[0]!.body;
  return { max_tokens, max_completion_tokens };
}

describe("a call of chat completions that stays one", () => {
  it.each([
    ["openai-reasons", { max_tokens: 50 }, { max_completion_tokens: 50 }],
    ["azure-reasons", { max_tokens: 50 }, { max_completion_tokens: 50 }],
    ["openai-reasons", { max_tokens: 9, max_completion_tokens: 50 }, { max_completion_tokens: 50 }],
    ["openai-other", { max_tokens: 50 }, { max_tokens: 50 }],
    ["openai-compatible-reasons", { max_tokens: 50 }, { max_tokens: 50 }],
  ])("T30: has at %s for %j the name that is taken there", async (name, given, gets) => {
    upstream.requests.length = 0;
    const messages = [{ role: "user", content: "Hi" }];
    const body = { model: `acme/${name}`, stream: true, messages, ...given };
    await (await gateway.post("/v1/chat/completions", body)).text();
    const { max_tokens, max_completion_tokens } = upstream.requests[0]!.body;
    expect({ max_tokens, max_completion_tokens }).toEqual(gets);
  });
});

const callers = names.filter((name) => name !== "chat");

describe.each(callers)("a %s call that is converted to chat completions", (from) => {
  it.each(["openai-reasons", "azure-reasons"])(
    "CONV-202 T30: has max_completion_tokens at %s, which refuses max_tokens",
    async (name) => {
      expect(await sent(from, name)).toEqual({ max_completion_tokens: 50 });
    },
  );

  it.each(["openai-other", "azure-other", "openai-compatible-reasons", "openai-compatible-other"])(
    "CONV-202: has max_tokens at %s",
    async (name) => {
      expect(await sent(from, name)).toEqual({ max_tokens: 50 });
    },
  );
});

// Counting tokens without a call: by the vendor if it can count, otherwise estimated, and never billed.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { changeKey, createKey, openSecrets, revokeKey } from "../../src/tenancy/index.ts";
import { costMs } from "../support/cost.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";

const model = (id: string, protocol: string, provider: string, more = "") => `
  - id: acme/${id}
    kind: text
    ${more}
    context_length: 100000
    max_output_tokens: 8000
    offers:
      - { provider: ${provider}, protocol: ${protocol}, upstream_model: talk-large, price: { input: "1", output: "10" } }`;

let gateway: GatewayUnderTest;
let upstream: Recorder;
beforeAll(async () => {
  upstream = await startRecorder(json({}));
  const provider = (id: string, dialect: string) =>
    `  - { id: ${id}, dialect: ${dialect}, base_url: "${upstream.url}/v1", api_key: ${id}-secret, tier: official, timeouts: { first_byte_s: 0.3 } }`;
  gateway = await startTestGateway({
    config: [
      "providers:",
      provider("anthropic", "anthropic"),
      provider("google", "google"),
      provider("other", "openai-compatible"),
      "models:",
      model("claude", "messages", "anthropic"),
      model(
        "adaptive",
        "messages",
        "anthropic",
        "reasoning: { kind: adaptive, values: [low, high], off: true }",
      ),
      model("gemini", "generate_content", "google"),
      model("copy", "messages", "other"),
      model("chat", "chat", "other"),
    ].join("\n"),
  });
});
afterAll(async () => {
  await gateway?.close();
  await upstream?.close();
});
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.answer(json({ input_tokens: 41, totalTokens: 42 }));
});

const messagesPath = "/v1/messages/count_tokens";
const geminiPath = (id: string) => `/v1beta/models/acme/${id}:countTokens`;

const message = { role: "user", content: "How long is this?" };
const bodyFor = (id: string, extra: object = {}) => ({
  model: `acme/${id}`,
  messages: [message],
  ...extra,
});
const contents = [{ role: "user", parts: [{ text: "How long is this?" }] }];

async function count(path: string, body: object): Promise<number> {
  const answer = await gateway.post(path, body);
  const {
    input_tokens: input,
    totalTokens,
    ...others
  } = (await answer.json()) as {
    input_tokens?: number;
    totalTokens?: number;
  };
  expect([answer.status, others]).toEqual([200, {}]);
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  expect([input, totalTokens].filter((one) => one !== undefined)).toHaveLength(1);
  return path === messagesPath ? input! : totalTokens!;
}

describe("a token count by the vendor", () => {
  it("returns the vendor's number; the request has all input under the upstream's model name", async () => {
    const body = bodyFor("claude", {
      system: "Be brief.",
      tools: [{ name: "look", input_schema: { type: "object" } }],
      max_tokens: 100,
      temperature: 1,
      stream: true,
      service_tier: "auto",
      metadata: { user_id: "u" },
    });
    expect(await count(messagesPath, body)).toBe(41);
    const {
      max_tokens: _1,
      temperature: _2,
      stream: _3,
      service_tier: _4,
      metadata: _5,
      ...input
    } = body as Record<string, unknown>;
    expect(upstream.requests).toMatchObject([
      {
        path: "/v1/messages/count_tokens",
        headers: { "x-api-key": "anthropic-secret", "anthropic-version": "2023-06-01" },
      },
    ]);
    expect(upstream.requests[0]!.body).toEqual({ ...input, model: "talk-large" });
  });

  it("sends no unsigned thinking to a vendor that requires signatures", async () => {
    const shown = { type: "thinking", thinking: "Hm.", signature: "gw_unsigned" };
    const said = { type: "text", text: "It is long." };
    const history = [message, { role: "assistant", content: [shown, said] }, message];
    expect(await count(messagesPath, bodyFor("claude", { messages: history }))).toBe(41);
    expect(upstream.requests[0]!.body["messages"]).toEqual([
      message,
      { role: "assistant", content: [said] },
      message,
    ]);
  });

  it("sends the input as the call itself would send it: with reasoning that the model takes", async () => {
    const thinking = { type: "enabled", budget_tokens: 2000 };
    const input = bodyFor("adaptive", { thinking, max_tokens: 4000 });
    for (const body of [input, bodyFor("adaptive", { thinking })])
      expect(await count(messagesPath, body)).toBe(41);
    const sent = {
      ...bodyFor("adaptive", { thinking: { type: "adaptive" } }),
      model: "talk-large",
    };
    expect(upstream.requests.map(({ body }) => body)).toEqual([sent, sent]);
  });

  it("T52: counts a whole generateContent request, with system instruction and tools", async () => {
    const systemInstruction = { parts: [{ text: "Be brief." }] };
    const tools = [{ functionDeclarations: [{ name: "look" }] }];
    const request = { contents, systemInstruction, tools };
    for (const body of [{ generateContentRequest: { model: "models/x", ...request } }, request]) {
      expect(await count(geminiPath("gemini"), body)).toBe(42);
    }
    const wanted = { generateContentRequest: { ...request, model: "models/talk-large" } };
    expect(upstream.requests.map((one) => one.body)).toEqual([wanted, wanted]);
    expect(upstream.requests[0]!.path).toBe("/v1/models/talk-large:countTokens");
  });

  it.each([
    "/v1beta/models/acme/gemini:countTokens",
    "/v1beta/acme/gemini:countTokens",
    "/v1/models/acme/gemini:countTokens",
    "/v1beta/models/acme%2Fgemini:@price:countTokens",
  ])("is reachable as %s", async (path) => {
    expect(await count(path, { contents })).toBe(42);
  });

  it.each([
    ["fails", json({ error: { message: "down" } }, 500)],
    ["refuses", json({ type: "error", error: { type: "x", message: "no" } }, 400)],
    ["returns no number", json({ input_tokens: "many" })],
    [
      "answers without JSON",
      (_request: unknown, response: { end(text: string): void }) => response.end("<html>"),
    ],
    ["never answers", () => {}],
  ])("is replaced by an estimate if the vendor %s", async (_how, answer) => {
    upstream.answer(answer);
    const tokens = await count(messagesPath, bodyFor("claude"));
    expect(upstream.requests).toHaveLength(1);
    expect(tokens).toBe(5 + 4);
  });
});

describe("the estimate of a token count", () => {
  const estimate = (extra: object = {}) => count(messagesPath, bodyFor("chat", extra));

  it("is made without a vendor request if the upstream has another protocol or cannot count", async () => {
    for (const id of ["chat", "copy"]) expect(await count(messagesPath, bodyFor(id))).toBe(9);
    expect(await count(geminiPath("chat"), { contents })).toBe(9);
    expect(await count(geminiPath("claude"), { contents })).toBe(9);
    expect(upstream.requests).toEqual([]);
  });

  it("T52: counts all input: system, tools, calls, results, thoughts, schemas and documents", async () => {
    const text = "the quick brown fox jumps over the lazy dog ".repeat(10);
    const base = await estimate();
    const tool = { name: "look", description: text, input_schema: { type: "object" } };
    const call = { type: "tool_use", id: "t", name: "look", input: { text } };
    const result = { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text }] };
    const schema = { type: "object", description: text };
    const plain = Buffer.from(text).toString("base64");
    const texts: Record<string, object> = {
      system: { system: text },
      "system blocks": { system: [{ type: "text", text }] },
      tools: { tools: [tool] },
      "tool schemas": { tools: [{ ...tool, description: "", input_schema: schema }] },
      "the vendor's own tools": {
        tools: [{ type: "memory_20250818", name: "memory", note: text }],
      },
      calls: { messages: [message, { role: "assistant", content: [call] }] },
      results: { messages: [message, { role: "user", content: [result] }] },
      thoughts: {
        messages: [message, { role: "assistant", content: [{ type: "thinking", thinking: text }] }],
      },
      "answer schemas": { output_config: { format: { type: "json_schema", schema } } },
      documents: {
        messages: [
          message,
          {
            role: "user",
            content: [
              {
                type: "document",
                source: { type: "base64", media_type: "text/plain", data: plain },
              },
            ],
          },
        ],
      },
    };
    for (const [what, extra] of Object.entries(texts)) {
      const more = (await estimate(extra)) - base;
      expect({ what, enough: more >= 90 && more < 150, more }).toMatchObject({
        what,
        enough: true,
      });
    }
  });

  it("counts a picture as a picture, not as the text of its bytes", async () => {
    const data = Buffer.alloc(300_000, 7).toString("base64");
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
    const messages = [
      { role: "user", content: [image, { type: "text", text: "How long is this?" }] },
    ];
    expect(await estimate({ messages })).toBe(9 + 1600);
    const inline = { inlineData: { mimeType: "image/png", data } };
    const parts = [inline, ...contents[0]!.parts];
    expect(await count(geminiPath("chat"), { contents: [{ role: "user", parts }] })).toBe(9 + 1600);
  });

  it("is fast for a very long text", async () => {
    const system = "word ".repeat(400_000);
    let tokens = 0;
    expect(await costMs(async () => (tokens = await estimate({ system })))).toBeLessThan(2_000);
    expect(tokens).toBeGreaterThan(300_000);
  });
});

describe("a token count", () => {
  it("is not billed, reserved or logged as a call, works without credit, and obeys the key's models and revocation", async () => {
    const secrets = await openSecrets({
      database: gateway.database,
      masterKey: undefined,
      dataDir: `${gateway.directory}/data`,
    });
    const context = { database: gateway.database, secrets, clock: systemClock };
    const { key, record } = await createKey(context, {
      workspaceId: gateway.workspaceId,
      name: "counting",
      createdBy: null,
    });
    const authorization = `Bearer ${key}`;
    const paths = [
      [messagesPath, bodyFor("claude")],
      [geminiPath("gemini"), { contents }],
    ] as const;
    for (const [path, body] of paths) {
      expect((await gateway.post(path, body, { authorization })).status).toBe(200);
    }
    const rows = await gateway.database.query("select id from request_log");
    expect(rows).toEqual([]);
    const balance = await gateway.ledger.balance(gateway.workspaceId);
    expect(balance).toMatchObject({ creditsNano: 0n, chargedNano: 0n, heldNano: 0n });

    // A key cannot count with a model that it may not call, and cannot count after it was revoked.
    await changeKey(context, { id: record.id }, { modelAllowlist: ["acme/chat"] });
    for (const [path, body] of paths) {
      expect((await gateway.post(path, body, { authorization })).status).toBe(403);
    }
    await revokeKey(context, { id: record.id });
    for (const [path, body] of paths) {
      expect((await gateway.post(path, body, { authorization })).status).toBe(401);
    }
  });

  it.each([
    [messagesPath, bodyFor("none"), 404, "not_found_error"],
    [messagesPath, { messages: [message] }, 400, "invalid_request_error"],
    [messagesPath, { model: "acme/claude" }, 400, "invalid_request_error"],
    [messagesPath, bodyFor("claude", { messages: [] }), 400, "invalid_request_error"],
    [messagesPath, bodyFor("claude", { system: 1 }), 400, "invalid_request_error"],
  ])("at %s with %j is refused in the messages shape", async (path, body, status, type) => {
    const answer = await gateway.post(path, body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ type: "error", error: { type } });
    expect(upstream.requests).toEqual([]);
  });

  it("is refused in the generateContent shape at generateContent paths", async () => {
    for (const [path, body, status] of [
      [geminiPath("none"), { contents }, 404],
      [geminiPath("gemini"), {}, 400],
      [geminiPath("gemini"), { generateContentRequest: { contents: 1 } }, 400],
      ["/v1beta/models/acme/gemini:embedContent", { contents }, 404],
    ] as const) {
      const answer = await gateway.post(path, body);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({
        error: { code: status, status: expect.any(String) },
      });
    }
  });

  it.each([messagesPath, geminiPath("gemini")])("at %s needs a key", async (path) => {
    const answer = await gateway.post(path, bodyFor("claude"), { authorization: "" });
    expect(answer.status).toBe(401);
  });
});

describe("the official SDKs", () => {
  it("@anthropic-ai/sdk counts tokens", async () => {
    const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
    const { input_tokens: tokens } = await client.messages.countTokens({
      model: "acme/chat",
      system: "Be brief.",
      messages: [{ role: "user", content: "How long is this?" }],
    });
    expect(tokens).toBeGreaterThan(9);
  });

  it("@google/genai counts tokens", async () => {
    const client = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    const { totalTokens } = await client.models.countTokens({
      model: "acme/gemini",
      contents: "Hi",
    });
    expect(totalTokens).toBe(42);
  });
});

// `POST /v1/embeddings`: forwarded, reserved and charged like any call, in the OpenAI format.
import { gzipSync } from "node:zlib";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { patiently } from "../support/patience.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";

/** Waits for the request log's row of a call. */
async function loggedRow(gateway: GatewayUnderTest, id: string) {
  return vi.waitFor(async () => {
    const [row] = await gateway.database.query<Record<string, unknown>>(
      "select * from request_log where id = $1",
      [id],
    );
    expect(row).toBeDefined();
    return row!;
  }, patiently);
}

describe("an embeddings call", () => {
  let gateway: GatewayUnderTest;
  let first: Recorder;
  let second: Recorder;
  beforeAll(async () => {
    [first, second] = await Promise.all([startRecorder(json({})), startRecorder(json({}))]);
    const provider = (id: string, { url }: Recorder) =>
      `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}/v1", api_key: ${id}-secret, tier: official }`;
    const offer = (id: string, usd: string, upstream = "vector-large") =>
      `      - { provider: ${id}, upstream_model: ${upstream}, price: { input: "${usd}", request: "0.001" } }`;
    gateway = await startTestGateway({
      config: [
        "providers:",
        provider("first", first),
        provider("second", second),
        provider("plain", first).replace(/\}$/, ", request: { remove: [encoding_format] } }"),
        "models:",
        "  - id: acme/plain",
        "    kind: embedding",
        "    context_length: 8192",
        "    offers:",
        offer("plain", "1"),
        "  - id: acme/vector",
        "    kind: embedding",
        "    context_length: 8192",
        "    offers:",
        offer("first", "0.5"),
        offer("second", "1"),
        "  - id: acme/near",
        "    kind: embedding",
        "    context_length: 8192",
        "    fallbacks: [acme/far]",
        "    offers:",
        offer("first", "0.5", "vector-near"),
        "  - id: acme/far",
        "    kind: embedding",
        "    context_length: 8192",
        "    offers:",
        offer("second", "4", "vector-far"),
        "  - id: acme/talk",
        "    kind: text",
        "    context_length: 8192",
        "    max_output_tokens: 100",
        "    offers:",
        '      - { provider: first, protocol: chat, upstream_model: t, price: { input: "1", output: "1" } }',
      ].join("\n"),
    });
    await gateway.credit("1");
  });
  afterAll(async () => {
    await gateway?.close();
    await Promise.all([first?.close(), second?.close()]);
  });

  const answer = {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.5, -0.25] }],
    model: "vector-large-2026",
    usage: { prompt_tokens: 1000, total_tokens: 1000 },
  };
  const madeId = expect.stringMatching(/^embd-[\da-f-]{36}$/);
  beforeEach(() => {
    for (const upstream of [first, second]) {
      upstream.requests.length = 0;
      upstream.answer(json(answer));
    }
  });
  const embed = (extra: object = {}, model = "acme/vector:@price") =>
    gateway.post("/v1/embeddings", { model, input: "Hello", ...extra });
  const charged = async () => (await gateway.ledger.balance(gateway.workspaceId)).chargedNano;
  const held = async () => (await gateway.ledger.balance(gateway.workspaceId)).heldNano;

  it("requests compressed vectors, and decompresses them", async () => {
    first.answer((request, response) => {
      expect(request.headers["accept-encoding"]).toBe("gzip, br, zstd");
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(`\ufeff${JSON.stringify(answer)}`));
    });
    const response = await embed();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ data: answer.data });
  });

  it("is sent with the upstream's model name, and answered with the canonical id", async () => {
    const response = await embed({ dimensions: 2, encoding_format: "float", user: "u", rare: [1] });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(await response.json()).toEqual({ ...answer, id: madeId, model: "acme/vector" });
    expect(first.requests).toMatchObject([
      { path: "/v1/embeddings", headers: { authorization: "Bearer first-secret" } },
    ]);
    expect(first.requests[0]!.body).toEqual({
      model: "vector-large",
      input: "Hello",
      dimensions: 2,
      encoding_format: "float",
      user: "u",
      rare: [1],
    });
    expect(second.requests).toEqual([]);
  });

  it.each([
    ["the vendor's id", "vec-1", "vec-1"],
    ["the text of a number", 7, "7"],
    ["a new id without one", undefined, madeId],
    ["a new id for null", null, madeId],
  ])("has %s, which Mistral's SDK requires", async (_what, id, told) => {
    first.answer(json({ ...answer, id }));
    expect(await (await embed()).json()).toMatchObject({ id: told });
  });

  it("is charged once, by the vendor's token count, and logged", async () => {
    const before = await charged();
    const response = await embed();
    // 1,000 tokens at 500 nano-USD each, and a call.
    expect((await charged()) - before).toBe(1_500_000n);
    await expect.poll(held).toBe(0n);
    const row = await loggedRow(gateway, response.headers.get("x-request-id")!);
    expect(row).toMatchObject({
      model: "acme/vector",
      provider: "first",
      protocol: "embeddings",
      upstream_protocol: "embeddings",
      status: "succeeded",
      usage: { inputTokens: 1000, outputTokens: 0 },
      usage_source: "upstream",
      cost_nano: 1_500_000n,
    });
  });

  it("is charged by an estimate if the vendor reports no usage, and the log says so", async () => {
    const { usage: _usage, ...silent } = answer;
    first.answer(json(silent));
    const before = await charged();
    const response = await embed({ input: ["x".repeat(30), [1, 2, 3, 4, 5]] });
    // A third of the characters, the given tokens, and 16 tokens of overhead.
    expect((await charged()) - before).toBe(1_000_000n + (10n + 5n + 16n) * 500n);
    const row = await loggedRow(gateway, response.headers.get("x-request-id")!);
    expect(row).toMatchObject({ usage_source: "estimated", usage: { outputTokens: 0 } });
  });

  it("TXT-10: gives OpenAI's SDK its vectors from a vendor that ignores the format, and from Google's without index and usage", async () => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    first.answer(json({ data: [{ embedding: [0.5, -0.25] }, { embedding: [2, 0] }] }));
    // Without a format the SDK asks for base64 and decodes it.
    const read = await client.embeddings.create({ model: "acme/vector:@price", input: ["a", "b"] });
    const vector = (index: number, embedding: number[]) => ({
      object: "embedding",
      index,
      embedding,
    });
    // A third of the characters, and 16 tokens of overhead.
    expect(read).toMatchObject({
      object: "list",
      data: [vector(0, [0.5, -0.25]), vector(1, [2, 0])],
      usage: { prompt_tokens: 17, total_tokens: 17 },
    });
    expect(first.requests[0]!.body).toMatchObject({ encoding_format: "base64" });
  });

  it("makes base64 for a vendor that gets no format, because it refuses the field", async () => {
    const response = await embed({ encoding_format: "base64" }, "acme/plain");
    const bytes = Buffer.from(new Float32Array(answer.data[0]!.embedding).buffer);
    expect(await response.json()).toMatchObject({
      data: [{ embedding: bytes.toString("base64") }],
    });
    expect(first.requests[0]!.body).not.toHaveProperty("encoding_format");
  });

  it.each([
    // Jina tells the total alone.
    [
      { total_tokens: 9, cost: 1 },
      { prompt_tokens: 9, total_tokens: 9, cost: 1 },
    ],
    [
      { prompt_tokens: 9, total_tokens: null },
      { prompt_tokens: 9, total_tokens: 9 },
    ],
    [
      { prompt_tokens: -9, total_tokens: -9 },
      { prompt_tokens: 18, total_tokens: 18 },
    ],
  ])("TXT-10: answers both counts where the vendor's usage is %j", async (usage, read) => {
    first.answer(json({ ...answer, usage }));
    const response = await embed();
    expect(await response.json()).toEqual({
      ...answer,
      id: madeId,
      model: "acme/vector",
      usage: read,
    });
  });

  it("is sent without its service tier, which is reported as dropped", async () => {
    const response = await embed({ service_tier: "flex" });
    expect(await response.json()).toMatchObject({ gw: { droppedParams: ["service_tier"] } });
    expect(first.requests[0]!.body).not.toHaveProperty("service_tier");
  });

  it.each([
    ["fails", json({ error: { message: "down" } }, 500)],
    ["answers something else", json({ object: "list" })],
    ["reports an error with status 200", json({ error: { message: "no" } })],
  ])("goes to the next provider if the first one %s, and is charged once", async (_how, broken) => {
    first.answer(broken);
    const before = await charged();
    const response = await embed();
    expect(response.status).toBe(200);
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
    expect((await charged()) - before).toBe(2_000_000n);
  });

  const down = json({ error: { message: "down" } }, 503);

  it("falls back to the model's own fallback if no provider answers, with that model's name and price", async () => {
    first.answer(down);
    const before = await charged();
    const response = await embed({}, "acme/near");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ model: "acme/far" });
    // 1,000 tokens at 4,000 nano-USD each, and a call.
    expect((await charged()) - before).toBe(5_000_000n);
    const row = await loggedRow(gateway, response.headers.get("x-request-id")!);
    expect(row).toMatchObject({ model: "acme/far", provider: "second", cost_nano: 5_000_000n });
  });

  it("takes fallbacks from the header, and checks them like the model", async () => {
    const call = (names: string) =>
      gateway.post(
        "/v1/embeddings",
        { model: "acme/near", input: "Hello" },
        { "x-gw-fallback-models": names },
      );
    expect(await (await call("acme/far")).json()).toMatchObject({ model: "acme/near" });
    first.answer(down);
    expect(await (await call("acme/far")).json()).toMatchObject({ model: "acme/far" });
    const none = await call("acme/none");
    expect(none.status).toBe(404);
    expect(await none.json()).toMatchObject({ error: { param: "x-gw-fallback-models" } });
    // A text model cannot be a fallback for embeddings.
    expect((await call("acme/talk")).status).toBe(400);
    // The header replaces the model's own fallback; an empty list means none.
    expect((await call(",")).status).toBeGreaterThanOrEqual(500);
  });

  it("reserves enough for the most expensive of its models", async () => {
    // A third of a million tokens: 0.17 USD at the model, 1.33 at its fallback. The workspace has less than a dollar.
    const input = "x".repeat(500_000);
    const refused = await embed({ input: [input, input] }, "acme/near");
    expect(refused.status).toBe(402);
    expect(first.requests).toEqual([]);
    const alone = await embed({ input: [input, input] }, "acme/vector:first");
    expect(alone.status).toBe(200);
  });

  it("passes a vendor's refusal on in its own words, uncharged", async () => {
    const error = {
      message: "too long",
      type: "invalid_request_error",
      param: "input",
      code: null,
    };
    first.answer(json({ error }, 400));
    const before = await charged();
    const response = await embed();
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error });
    expect(second.requests).toEqual([]);
    expect(await charged()).toBe(before);
    await expect.poll(held).toBe(0n);
  });

  it("is refused without a vendor request if the balance is below its highest possible cost", async () => {
    const response = await embed({ input: "x".repeat(6_000_000) });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ error: { code: "insufficient_balance" } });
    expect(first.requests).toEqual([]);
  });

  it.each([
    [{ input: undefined }, 400, "missing_required_parameter"],
    [{ input: "" }, 400, "invalid"],
    [{ input: [] }, 400, "invalid"],
    [{ input: [{}] }, 400, "invalid"],
    [{ input: [[]] }, 400, "invalid"],
    [{ dimensions: 0 }, 400, "integer_below_min_value"],
    [{ encoding_format: "hex" }, 400, "invalid_value"],
    [{ model: "acme/none" }, 404, "model_not_found"],
    [{ model: "acme/talk" }, 400, "unsupported_protocol"],
    [{ model: undefined }, 400, "missing_required_parameter"],
  ])(
    "is refused for %j in the OpenAI shape, before any vendor request",
    async (extra, status, code) => {
      const response = await embed(extra);
      expect(response.status).toBe(status);
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
      expect(error["code"]).toMatch(code);
      expect(first.requests).toEqual([]);
    },
  );

  it("chat completions refuse an embedding model", async () => {
    const body = { model: "acme/vector", messages: [{ role: "user", content: "Hi" }] };
    const response = await gateway.post("/v1/chat/completions", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "unsupported_protocol", message: expect.stringContaining("embeddings") },
    });
  });

  it("an embedding model is listed with its endpoint, parameters and price", async () => {
    const list = (await (await gateway.get("/v1/models")).json()) as { data: { id: string }[] };
    expect(list.data.find(({ id }) => id === "acme/vector")).toMatchObject({
      endpoints: ["embeddings"],
      architecture: { input_modalities: ["text"], output_modalities: ["embeddings"] },
      context_length: 8192,
      supported_parameters: { dimensions: { type: "integer", min: 1 } },
      pricing: [
        { billable: "input_tokens", unit: "million_tokens", price_usd: "0.5" },
        { billable: "requests", unit: "request", price_usd: "0.001" },
      ],
      providers: [{ id: "first" }, { id: "second" }],
    });
  });

  it("stays with one provider for the same end user", async () => {
    for (let call = 0; call < 12; call += 1) await embed({ user: "someone" }, "acme/vector");
    expect([first.requests.length, second.requests.length].toSorted((a, b) => a - b)).toEqual([
      0, 12,
    ]);
  });
});

describe("the official SDK on the sandbox", () => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway?.close());
  const client = () =>
    new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const model = "sandbox/embedding";

  it("embeddings.create returns the same vector for the same text, as base64 and as numbers", async () => {
    const { embeddings } = client();
    // Without a format the SDK asks for base64 and decodes it.
    const packed = await embeddings.create({ model, input: ["one", "two", "one"] });
    const plain = await embeddings.create({ model, input: "one", encoding_format: "float" });
    expect(packed.model).toBe(model);
    const [one, two, again] = packed.data.map(({ embedding }) => embedding);
    expect(one).toHaveLength(256);
    expect(again).toEqual(one);
    expect(two).not.toEqual(one);
    for (const [index, value] of plain.data[0]!.embedding.entries()) {
      expect(value).toBeCloseTo(one![index]!, 6);
    }
    expect(Math.hypot(...one!)).toBeCloseTo(1, 5);
    expect(packed.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  });

  it("embeddings.create returns vectors of the requested dimensions, also for tokens as input", async () => {
    const { embeddings } = client();
    const { data } = await embeddings.create({ model, input: [[1, 2], [3]], dimensions: 8 });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
  });

  it("embeddings.create throws the SDK's own error for a refusal", async () => {
    const { embeddings } = client();
    await expect(embeddings.create({ model, input: "x", dimensions: 5000 })).rejects.toMatchObject({
      status: 400,
      param: "dimensions",
    });
  });
});

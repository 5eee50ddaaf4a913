import { resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseUsd } from "../../src/base/money.ts";
import {
  checkConfig,
  configSchema,
  defaultSettings,
  environmentCatalog,
  mergeCatalogs,
  printConfig,
  modelAt,
  sandboxCatalog,
  type Config,
  type ImageModel,
  type TextModel,
} from "../../src/catalog/index.ts";
import { configIn, mistakesIn } from "../support/config-text.ts";

const environment = {
  OPENAI_API_KEY: "sk-openai",
  EMPTY: "",
  BODY_MB: "12.5",
  TRICKY: 'x", tier: official } # {',
};

const configOf = (text: string): Config => configIn(text, environment);

const mistakesOf = (text: string): string[] => mistakesIn(text, environment);

/** One of each setting that the file may hold. */
const completeFile = `
providers:
  - { id: openai, dialect: openai, base_url: https://api.openai.com/v1/, api_key: \${OPENAI_API_KEY}, tier: official }
  - { id: local, dialect: openai-compatible, base_url: http://127.0.0.1:9001/v1, api_key: none, tier: community }
  - { id: films, dialect: xai, base_url: https://films.example/v1, api_key: "\${OPENAI_API_KEY}" }
  - id: pool
    dialect: anthropic
    base_url: https://pool.example/v1
    credentials: [{ id: a, api_key: key-a, weight: 3 }, { id: b, api_key: key-b }]
    on_disconnect: drain
    timeouts: { connect_s: 0.5, first_byte_s: 60, idle_s: 30, total_s: 600 }
models:
  - id: acme/talk
    kind: text
    endpoints: [chat_completions, messages]
    context_length: 200000
    max_output_tokens: 32000
    reserve_output_tokens: 2000
    parameters: { temperature: { max: 1 }, reasoning_effort: { values: [low, high] }, seed: false }
    reasoning: { kind: adaptive, values: [low, high], off: true, off_as: between_tools, excludes: [stop] }
    tool_choice: { modes: [auto, none], forced_while_reasoning: false }
    structured_outputs: true
    prefill: false
    input_modalities: [text, image]
    output_modalities: [text]
    lifecycle: { stage: deprecated, retires_at: 2027-06-01, replacement: acme/talk-2 }
    offers:
      - { provider: local, protocol: chat, upstream_model: talk-large,
          price: { input: "0.50", cache_read: "0.05", cache_write: "0.625", output: "2.00" } }
      - provider: pool
        protocol: messages
        upstream_model: talk
        price: { input: "3", cache_write_1h: "7", output: "15", reasoning: "20", request: "0.001" }
        price_above: { input_tokens: 200000, price: { input: "6", output: "22.50" } }
        later_prices:
          - { from: 2027-01-01T12:00Z, price: { input: "4", output: "16" }, price_tiers: [
              { input_tokens: 1000, price: { input: "5", output: "17" } },
              { input_tokens: 2000, price: { input: "6", output: "18" } }] }
        record: { parameters: { seed: { max: 5 }, stop: false }, reasoning: { kind: budget, min: 1024, max: 9000, off: true },
          context_length: 100000, max_output_tokens: 1000 }
  - { id: acme/vector, kind: embedding, endpoints: [embeddings], context_length: 8192,
      offers: [{ provider: openai, upstream_model: vec, price: { input: "0.02" } }] }
  - &image { id: acme/a, kind: image, family: image-a, offers: [{ provider: openai, upstream_model: a, streaming: true,
      price: { input: "5", image_input: "8", output: "10", image_output: "30" } }] }
  - { <<: *image, id: acme/b, family: image-b }
  - { <<: *image, id: acme/t2, family: task-image-2 }
  - { id: acme/t1, kind: image, family: task-image-1, offers: [{ provider: openai, upstream_model: t, price: {
      output_image: { low: { 1K: "0.02", 2K: "0.04" }, medium: { 1K: "0.05", 2K: "0.08" } }, input_image: "0.002" } }] }
  - { id: acme/c, kind: image, family: image-c, offers: [{ provider: openai, upstream_model: c, price: { output_image: "0.03" } }] }
  - { id: acme/c2, kind: image, family: image-c, offers: [{ provider: openai, upstream_model: c,
      price: { output_image: { 1K: "0.03", 2K: "0.06" }, input_image: "0.01" } }] }
  - { id: acme/v1, kind: video, family: video-v1, endpoints: [tasks], offers: [{ provider: films, upstream_model: v,
      price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }] }
  - { id: acme/v15, kind: video, family: video-v1.5, offers: [{ provider: films, upstream_model: v,
      price: { output_second: { 480p: "0.05", 720p: "0.07", 1080p: "0.1" }, input_image: "0.01" } }] }
  - { id: acme/vs, kind: video, family: video-seconds, offers: [{ provider: films, upstream_model: v,
      price: { output_second: { 720p: "0.07" }, input_image: "0" } }] }
  - { id: acme/vt, kind: video, family: video-tokens, offers: [{ provider: films, upstream_model: v,
      price: { output_video_token: "7" } }] }
limits: { queue: { global: 10, per_workspace: 5 }, task_retry_s: 90, body_mb: \${BODY_MB} }
storage: { kind: s3, bucket: results, region: eu-west-1, retention_days: 0.5 }
console: { oidc: { issuer: https://id.example, client_id: tollgate, client_secret: s3cret-s3cret } }
cors: { origins: ["https://app.example.com", chrome-extension://abcdef] }
access_log: { sample: 0.25 }
retention: { request_log_days: 90, tasks_days: 30 }
exports: { to: "s3://audit/gateway", region: eu-central-1 }
hooks:
  - { name: guard, at: before, url: "http://guard:9000/check?a=b", secret: whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=, endpoints: [messages, tasks],
      workspaces: [ws_1], keys: [key_1], timeout_ms: 250, on_failure: allow }
  - { name: ear, at: after, module: package.json }
webhooks: { timeout_s: 5 }
`;

describe("a complete file", () => {
  const { catalog, settings } = configOf(completeFile);

  it("gives providers with their keys, tiers and timeouts, with defaults filled in", () => {
    expect(catalog.providers.get("openai")).toEqual({
      id: "openai",
      dialect: "openai",
      baseUrl: "https://api.openai.com/v1",
      tier: "official",
      credentials: [{ id: "default", apiKey: "sk-openai", weight: 1 }],
      onDisconnect: "abort",
      timeouts: { connectMs: 10_000, firstByteMs: 120_000, idleMs: 120_000, totalMs: 3_600_000 },
    });
    expect(catalog.providers.get("local")?.credentials[0]?.apiKey).toBe("");
    expect(catalog.providers.get("pool")).toMatchObject({
      tier: "community",
      credentials: [
        { id: "a", apiKey: "key-a", weight: 3 },
        { id: "b", apiKey: "key-b", weight: 1 },
      ],
      onDisconnect: "drain",
      timeouts: { connectMs: 500, firstByteMs: 60_000, idleMs: 30_000, totalMs: 600_000 },
    });
  });

  it("gives text models with prices in nano-dollars per million tokens", () => {
    expect(catalog.models.get("acme/talk")).toMatchObject({
      kind: "text",
      endpoints: ["chat_completions", "messages"],
      contextLength: 200_000,
      maxOutputTokens: 32_000,
      reserveOutputTokens: 2_000,
      parameters: { temperature: { max: 1 }, seed: false },
      offers: [
        {
          provider: "local",
          protocol: "chat",
          upstreamModel: "talk-large",
          price: { input: 500_000_000n, cacheRead: 50_000_000n, cacheWrite: 625_000_000n },
        },
        {
          price: {
            cacheWrite1h: parseUsd("7"),
            reasoning: parseUsd("20"),
            request: 1_000_000n,
            above: [{ inputTokens: 200_000, rates: { output: parseUsd("22.50") } }],
            later: [
              {
                fromMs: Date.UTC(2027, 0, 1, 12),
                price: { input: parseUsd("4"), above: [{}, { inputTokens: 2_000 }] },
              },
            ],
          },
        },
      ],
    });
  });

  it("TXT-12: gives models of every kind their endpoints; without a list, all of the kind", () => {
    const endpointsOf = (id: string) => catalog.models.get(id)?.endpoints;
    expect(["acme/vector", "acme/v1", "acme/v15", "acme/b"].map(endpointsOf)).toEqual([
      ["embeddings"],
      ["tasks"],
      ["tasks", "videos_generations"],
      ["images_edits", "tasks"],
    ]);
  });

  it("gives a model's record, with the changes of an offer", () => {
    const model = catalog.models.get("acme/talk") as TextModel;
    expect(model).toMatchObject({
      reasoning: {
        kind: "adaptive",
        values: ["low", "high"],
        off: true,
        offAs: "between_tools",
        excludes: ["stop"],
      },
      toolChoice: { modes: ["auto", "none"], forcedWhileReasoning: false },
      structuredOutputs: true,
      prefill: false,
      inputModalities: ["text", "image"],
      lifecycle: { retiresAtMs: Date.UTC(2027, 5, 1), replacement: "acme/talk-2" },
    });
    const [same, other] = model.offers.map((offer) => modelAt(model, offer));
    expect(same).toBe(model);
    expect(other).toMatchObject({
      parameters: { temperature: { max: 1 }, seed: { max: 5 }, stop: false },
      reasoning: { kind: "budget", min: 1_024, max: 9_000, off: true },
      maxOutputTokens: 1_000,
      prefill: false,
    });
    expect(modelAt(model, model.offers[1]!)).toBe(other);
  });

  it("gives media models of every family with their prices and endpoints", () => {
    const price = (id: string) => catalog.models.get(id)?.offers[0]?.price;
    expect(price("acme/t2")).toEqual({
      basis: "image_tokens",
      input: parseUsd("5"),
      imageInput: parseUsd("8"),
      output: parseUsd("10"),
      imageOutput: parseUsd("30"),
    });
    expect(price("acme/t1")).toMatchObject({
      basis: "image_tiers",
      outputImage: { medium: { "2K": parseUsd("0.08") } },
    });
    expect(price("acme/c")).toEqual({
      basis: "images",
      outputImage: parseUsd("0.03"),
      inputImage: 0n,
    });
    expect(price("acme/c2")).toMatchObject({ outputImage: { "2K": parseUsd("0.06") } });
    expect(price("acme/vs")).toMatchObject({ outputSecond: { "720p": parseUsd("0.07") } });
    expect(price("acme/vt")).toEqual({ basis: "video_tokens", outputVideoToken: parseUsd("7") });
    expect(price("acme/vector")).toMatchObject({ input: parseUsd("0.02") });
    expect(catalog.models.get("acme/v15")).toMatchObject({
      kind: "video",
      endpoints: ["tasks", "videos_generations"],
    });
    expect(catalog.models.size).toBe(12);
  });

  it("gives the settings", () => {
    expect(settings).toEqual({
      limits: {
        queue: { global: 10, perWorkspace: 5 },
        taskRetryMs: 90_000,
        connections: { unreadMs: 60_000 },
        bodyBytes: 13_107_200,
        // The limit of text bodies is never above the limit of all bodies.
        textBodyBytes: 13_107_200,
        bodiesUnderWayBytes: 268_435_456,
        isSet: { bodyBytes: true, textBodyBytes: false, bodiesUnderWayBytes: false },
        roundCalls: 64,
      },
      storage: expect.objectContaining({ kind: "s3", bucket: "results", retentionDays: 0.5 }),
      console: {
        oidc: { issuer: "https://id.example", clientId: "tollgate", clientSecret: "s3cret-s3cret" },
      },
      cors: { origins: ["https://app.example.com", "chrome-extension://abcdef"] },
      server: { keepAliveMs: 72_000 },
      accessLog: { sample: 0.25 },
      retention: { requestLogDays: 90, tasksDays: 30 },
      exports: {
        to: "s3://audit/gateway",
        what: ["requests", "ledger"],
        format: "jsonl",
        region: "eu-central-1",
      },
      telemetry: { propagate: "local" },
      tags: { metrics: [], usage: [] },
      hooks: [
        {
          name: "guard",
          at: "before",
          target: {
            url: "http://guard:9000/check?a=b",
            secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
          },
          endpoints: ["messages", "tasks"],
          workspaces: ["ws_1"],
          keys: ["key_1"],
          timeoutMs: 250,
          onFailure: "allow",
        },
        {
          name: "ear",
          at: "after",
          target: { module: "package.json", path: resolve("package.json") },
          timeoutMs: 10_000,
          onFailure: "refuse",
        },
      ],
      webhooks: { timeoutMs: 5_000 },
    });
  });

  it("fits the JSON Schema that editors get", () => {
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(configSchema());
    const document: unknown = parse(
      completeFile.replaceAll("${OPENAI_API_KEY}", "key").replaceAll("${BODY_MB}", "12"),
      { merge: true },
    );
    validate(document);
    expect(validate.errors).toBeNull();
    expect(validate({ providers: [{ id: "x" }] })).toBe(false);
  });
});

it("an empty file gives the default settings, no models and no providers", () => {
  for (const text of ["", "# nothing\n", "{}"]) {
    const { catalog, settings } = configOf(text);
    expect(settings).toEqual(defaultSettings);
    expect(catalog.models.size + catalog.providers.size).toBe(0);
  }
});

it("an image offer streams if its dialect does, unless the file says false", () => {
  const config = configOf(`
providers:
  - { id: o, dialect: openai, base_url: https://x/v1, api_key: k }
  - { id: x, dialect: xai, base_url: https://x/v1, api_key: k }
models:
  - id: acme/b
    kind: image
    family: image-b
    offers:
      - &offer { provider: o, upstream_model: m, price: { input: "1", image_input: "1", output: "1", image_output: "1" } }
      - { <<: *offer, streaming: false }
      - { <<: *offer, provider: x }
      - { <<: *offer, provider: x, streaming: true }
`);
  const { offers } = config.catalog.models.get("acme/b") as ImageModel;
  expect(offers.map(({ streaming }) => streaming)).toEqual([true, false, false, false]);
});

describe("placeholders", () => {
  const provider = (apiKey: string) =>
    configOf(
      `providers: [{ id: p, dialect: openai, base_url: "\${BASE:-https://x}/v1", api_key: ${apiKey} }]`,
    ).catalog.providers.get("p")!;

  it("may be quoted or not, whole or part of a text, with a default", () => {
    expect(provider("${OPENAI_API_KEY}").credentials[0]?.apiKey).toBe("sk-openai");
    expect(provider('"${OPENAI_API_KEY}"').credentials[0]?.apiKey).toBe("sk-openai");
    expect(provider("pre-${OPENAI_API_KEY}-post").credentials[0]?.apiKey).toBe(
      "pre-sk-openai-post",
    );
    expect(provider("${NOPE:-a, b: c}").credentials[0]?.apiKey).toBe("a, b: c");
    expect(provider("${EMPTY:-default}").credentials[0]?.apiKey).toBe("default");
    expect(provider("x").baseUrl).toBe("https://x/v1");
  });

  it("never become YAML, whatever their values contain", () => {
    expect(provider("${TRICKY}")).toMatchObject({
      tier: "community",
      credentials: [{ apiKey: environment.TRICKY }],
    });
  });

  it("cause one mistake with the variable's name if it is unset or empty", () => {
    const text = (name: string) =>
      `providers: [{ id: p, dialect: openai, base_url: https://x/v1, api_key: \${${name}} }]`;
    for (const name of ["NOPE", "EMPTY"]) {
      expect(mistakesOf(text(name))).toEqual([
        `tollgate.yaml:1:72 the environment variable ${name} is not set; set it, or give a default: \${${name}:-value}`,
      ]);
    }
  });

  it("keep a key made of digits as text, and turn a limit into a number", () => {
    const result = checkConfig(
      "providers: [{ id: p, dialect: openai, base_url: https://x/v1, api_key: ${DIGITS} }]\nlimits: { body_mb: ${DIGITS} }",
      { environment: { DIGITS: "1234" } },
    );
    expect(result).toMatchObject({
      config: { settings: { limits: { bodyBytes: 1234 * 2 ** 20 } } },
    });
  });
});

describe("printConfig", () => {
  it("prints a file that reads back unchanged, except keys written in the file", () => {
    const every = mergeCatalogs(
      sandboxCatalog("http://127.0.0.1:9000"),
      environmentCatalog({ XAI_API_KEY: "k", ARK_API_KEY: "k", GEMINI_API_KEY: "k" }),
      configOf(completeFile).catalog,
    );
    const { settings } = configOf(completeFile);
    const printed = printConfig({ catalog: every, settings, source: undefined });
    const again = configOf(printed.replaceAll(/"\*\*\*\*[^"]*"/g, `whsec_${"A".repeat(43)}=`));
    const withoutKeys = (catalog: typeof every) =>
      [...catalog.providers.values()].map((provider) => ({ ...provider, credentials: [] }));
    expect(again.catalog.models).toEqual(every.models);
    expect(withoutKeys(again.catalog)).toEqual(withoutKeys(every));
    expect(again.settings.limits).toEqual(settings.limits);
  });

  it("shows no secret from the file, and only the last four characters of a long one", () => {
    const text = printConfig(configOf(completeFile));
    for (const secret of ["sk-openai", "key-a", "s3cret-s3cret"])
      expect(text).not.toContain(secret);
    expect(text).toContain('client_secret: "****cret"');
    expect(text).toContain("api_key: none");
  });
});

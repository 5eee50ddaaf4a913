import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import {
  checkParameters,
  environmentCatalog,
  sandboxCatalog,
  supportedParameters,
  upperBound,
  type Narrowing,
  type TextModel,
  type TextProtocol,
} from "../../src/catalog/index.ts";

const sandbox = sandboxCatalog("http://127.0.0.1:9000");
const base = sandbox.models.get("sandbox/chat") as TextModel;
const narrowed = (parameters: Record<string, Narrowing | false>): TextModel => ({
  ...base,
  parameters,
});

describe("the sandbox's catalogue", () => {
  it("has every model of the design, and each offer names an existing provider", () => {
    expect([...sandbox.models.keys()]).toEqual([
      "sandbox/chat",
      "sandbox/responses",
      "sandbox/messages",
      "sandbox/generate-content",
      "sandbox/multi",
      "sandbox/embedding",
      "sandbox/image-model-a",
      "sandbox/image-model-b",
      "sandbox/task-image-model-1",
      "sandbox/task-image-model-2",
      "sandbox/image-model-c",
      "sandbox/video-model-v1",
      "sandbox/video-model-v1.5",
      "sandbox/video-model-seconds",
      "sandbox/video-model-tokens",
    ]);
    const named = [...sandbox.models.values()].flatMap((model) =>
      model.offers.map((offer) => offer.provider),
    );
    expect(named.filter((name) => !sandbox.providers.has(name))).toEqual([]);
  });

  it("has one offer per protocol in sandbox/multi", () => {
    const multi = sandbox.models.get("sandbox/multi") as TextModel;
    expect(multi.offers.map((offer) => offer.protocol)).toEqual([
      "chat",
      "responses",
      "messages",
      "generate_content",
    ]);
  });
});

describe("environmentCatalog", () => {
  it("has a provider for each vendor whose key is set, and no other", () => {
    const catalog = environmentCatalog({
      OPENAI_API_KEY: "a",
      ANTHROPIC_API_KEY: "b",
      GEMINI_API_KEY: "c",
      XAI_API_KEY: "d",
      DASHSCOPE_API_KEY: "e",
      ARK_API_KEY: "f",
      OTHER_API_KEY: "g",
    });
    expect([...catalog.providers.keys()]).toEqual([
      "openai",
      "anthropic",
      "google",
      "xai",
      "dashscope",
      "ark",
    ]);
    expect(catalog.providers.get("google")?.credentials[0]?.apiKey).toBe("c");
    const models = [...catalog.models.values()];
    const facts = { inputTokens: 1_000_000, answers: 1 };
    const texts = models.flatMap((model) => (model.kind === "text" ? [model] : []));
    const free = texts.filter((model) => upperBound(model, model.offers, facts) === 0n);
    expect(free.map(({ id }) => id).filter((id) => !/gemma|-free$/.test(id))).toEqual([]);
    const named = models.flatMap((model) => model.offers.map((offer) => offer.provider));
    expect(named.filter((name) => !catalog.providers.has(name))).toEqual([]);
  });

  it("treats an empty key as absent", () => {
    expect(environmentCatalog({ OPENAI_API_KEY: "" }).models.size).toBe(0);
    expect([...environmentCatalog({ XAI_API_KEY: "k" }).models.keys()]).toContain("xai/grok-4.7");
  });
});

describe("supportedParameters", () => {
  it("lists the protocol's exact domains", () => {
    expect(supportedParameters(base)).toMatchObject({
      temperature: { type: "number", min: 0, max: 2 },
      top_logprobs: { type: "integer", min: 0, max: 20 },
      verbosity: { type: "enum", values: ["low", "medium", "high"] },
      stream: { type: "boolean", default: false },
      tools: { type: "array" },
    });
  });

  it("narrows the domains by the model, and leaves out those that it lacks", () => {
    const model = narrowed({
      temperature: { max: 1, default: 0.7 },
      reasoning_effort: { values: ["low", "high"] },
      seed: false,
    });
    const supported = supportedParameters(model);
    expect(supported["temperature"]).toEqual({ type: "number", min: 0, max: 1, default: 0.7 });
    expect(supported["reasoning_effort"]).toEqual({ type: "enum", values: ["low", "high"] });
    expect(supported).not.toHaveProperty("seed");
  });
});

describe("MODELS-07: the listed domains of the chat endpoint", () => {
  const body = (name: string, value: unknown): JsonObject =>
    ({ model: "a/b", messages: [{ role: "user", content: "hi" }], [name]: value }) as JsonObject;
  const accepts = (name: string, value: unknown): boolean => {
    try {
      codecs.chat.direct.validate(body(name, value));
      return true;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  };
  const domains = Object.entries(supportedParameters(base));
  const list = (length: number) => Array.from({ length }, () => "x");

  it("contain every accepted value and bound, and nothing outside them is accepted", () => {
    const expected = domains.flatMap(([name, domain]) => {
      const bounded = (value: number) => (domain.type === "array" ? list(value) : value);
      return [
        ...(domain.values ?? []).map((value) => [name, value, true] as const),
        ...(domain.values === undefined ? [] : [[name, "no-such-value", false] as const]),
        ...(domain.min === undefined
          ? []
          : [
              [name, bounded(domain.min), true] as const,
              [name, bounded(domain.min - 1), false] as const,
            ]),
        ...(domain.max === undefined
          ? []
          : [
              [name, bounded(domain.max), true] as const,
              [name, bounded(domain.max + 1), false] as const,
            ]),
      ];
    });
    expect(expected.length).toBeGreaterThan(20);
    const found = expected.map(([name, value]) => [name, value, accepts(name, value)]);
    expect(found).toEqual(expected);
  });

  it("name the accepted type of each parameter, and no other type is accepted", () => {
    const samples = {
      integer: 5,
      number: 0.5,
      boolean: true,
      string: "x",
      object: { type: "text" },
      array: [],
      enum: undefined,
    };
    const plain = domains.filter(([, domain]) => domain.type !== "enum");
    expect(plain.filter(([name, { type }]) => !accepts(name, samples[type]))).toEqual([]);
    const other = (type: string) => (type === "object" ? 5 : { other: 1 });
    expect(plain.filter(([name, { type }]) => accepts(name, other(type)))).toEqual([]);
  });
});

describe("checkParameters", () => {
  const model = narrowed({
    temperature: { max: 1 },
    reasoning_effort: { values: ["low", "high"] },
    stop: { max: 2 },
    max_tokens: { multiple_of: 8 },
    top_p: { multiple_of: 0.1 },
    user: { pattern: "^[a-z]+$" },
    seed: false,
  });
  const verdict = (protocol: TextProtocol, body: Record<string, unknown>): string => {
    try {
      checkParameters(model, protocol, body);
      return "accepted";
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return `${error.status} ${error.code} ${error.param}`;
    }
  };

  it.each<[TextProtocol, Record<string, unknown>, string]>([
    ["chat", { temperature: 1, reasoning_effort: "low", stop: ["a", "b"] }, "accepted"],
    ["chat", { temperature: 1.5 }, "400 invalid_value temperature"],
    ["chat", { reasoning_effort: "medium" }, "400 invalid_value reasoning_effort"],
    ["chat", { stop: ["a", "b", "c"] }, "400 invalid_value stop"],
    ["chat", { max_tokens: 12 }, "400 invalid_value max_tokens"],
    ["chat", { max_completion_tokens: 12 }, "400 invalid_value max_completion_tokens"],
    ["chat", { top_p: 0.3 }, "accepted"],
    ["chat", { top_p: 0.35 }, "400 invalid_value top_p"],
    ["chat", { user: "A1" }, "400 invalid_value user"],
    ["messages", { metadata: { user_id: "A1" } }, "400 invalid_value metadata.user_id"],
    ["chat", { temperature: null, seed: 4 }, "accepted"],
    ["responses", { reasoning: { effort: "medium" } }, "400 invalid_value reasoning.effort"],
    ["responses", { reasoning: { effort: "high" }, stop: ["a", "b", "c"] }, "accepted"],
    ["messages", { stop_sequences: ["a", "b", "c"] }, "400 invalid_value stop_sequences"],
    [
      "generate_content",
      { generationConfig: { temperature: 2 } },
      "400 invalid_value generationConfig.temperature",
    ],
    ["generate_content", { generationConfig: { temperature: 0.2 } }, "accepted"],
  ])("checks %s %j: %s", (protocol, body, expected) => {
    expect(verdict(protocol, body)).toBe(expected);
  });

  it("accepts everything for a model that narrows nothing", () => {
    expect(() => checkParameters(base, "chat", { temperature: 99 })).not.toThrow();
  });
});

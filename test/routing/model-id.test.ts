import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import type { Catalog, Model } from "../../src/catalog/index.ts";
import { parseModelId, resolveModelId } from "../../src/routing/index.ts";
import { openScope } from "../../src/routing/scope.ts";
import { targetModel } from "../../src/routing/target.ts";

function codeOf(text: string): string {
  try {
    parseModelId(text);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.status} ${error.code} ${error.param}`;
  }
  throw new Error(`accepted: ${text}`);
}

describe("parseModelId", () => {
  it("RESP-03: a model id is vendor/model; an id without a vendor or a model is 404", () => {
    expect(parseModelId("acme/talk")).toEqual({ model: "acme/talk" });
    expect(parseModelId("acme/talk-1.5/large")).toEqual({ model: "acme/talk-1.5/large" });
    const texts = ["talk", "", "/talk", "acme/", "talk:@price", ":a", "acme/:openai"];
    expect(texts.map(codeOf)).toEqual(texts.map(() => "404 model_not_found model"));
  });

  it("an alias with a colon is read as a name, not as a suffix", () => {
    const names = {
      whole: (text: string) => (text === "talk:latest" ? "acme/talk" : undefined),
      any: (text: string) => (text === "chatty" ? "acme/talk" : undefined),
    };
    expect(parseModelId("talk:latest", names)).toEqual({ model: "acme/talk" });
    expect(parseModelId("chatty:@price", names)).toEqual({ model: "acme/talk", strategy: "price" });
  });

  it("ROUTE-02 ROUTE-03: an alias with a colon takes a suffix like an id", () => {
    const known = ["talk:8b", "house/talk:8b"];
    const whole = (text: string) => (known.includes(text) ? "acme/talk" : undefined);
    const names = { whole, any: whole };
    for (const name of known) {
      const model = "acme/talk";
      expect(parseModelId(`${name}:@price`, names)).toEqual({ model, strategy: "price" });
      expect(parseModelId(`${name}:openai`, names)).toEqual({ model, provider: "openai" });
      expect(() => parseModelId(`${name}:`, names)).toThrow("malformed suffix");
      expect(() => parseModelId(`${name}:@cheap`, names)).toThrow("no known strategy");
    }
    expect(() => parseModelId("house/talk:8b:openai:@price", names)).toThrow("two suffixes");
  });

  it("RESP-04: the id may end in a provider or in a strategy", () => {
    expect(parseModelId("acme/talk:openai")).toEqual({ model: "acme/talk", provider: "openai" });
    expect(parseModelId("acme/talk:sandbox-openai").provider).toBe("sandbox-openai");
    for (const strategy of ["price", "latency", "throughput", "balanced"]) {
      expect(parseModelId(`acme/talk:@${strategy}`)).toEqual({ model: "acme/talk", strategy });
    }
  });

  it("RESP-05 ROUTE-04: the two suffixes cannot be combined in any order, and neither can be given twice", () => {
    const texts = ["a/b:prov:@price", "a/b:@price:prov", "a/b:x:y", "a/b:@price:@price", "a/b::"];
    expect(texts.map(codeOf)).toEqual(texts.map(() => "400 invalid_model_suffix model"));
  });

  it("a malformed or unknown suffix is refused, never ignored", () => {
    const suffixes = [":", ":@", ":@cheapest", ":@PRICE", ":a b", ":@price ", ":-x", ":a/b"];
    const codes = suffixes.map((suffix) => codeOf(`acme/talk${suffix}`));
    expect(codes).toEqual(suffixes.map(() => "400 invalid_model_suffix model"));
  });
});

/** The commonest mistakes in a model id, and the messages to callers. */
describe("a model that does not exist", () => {
  const catalog = { providers: new Map(), models: new Map() } as Catalog;
  const ids = ["acme/talk-4.5", "acme/other", "resale/talk-4.5", "house/llama3-8b"];
  const models = new Map(ids.map((id) => [id, { id } as Model]));
  const messageOf = (text: string, { models }: Catalog): string => {
    const all = { ...catalog, models };
    const isAny = (_model: Model): _model is Model => true;
    try {
      const parsed = resolveModelId(text, all);
      targetModel({ catalog: all, parsed, scope: openScope, entryPoint: "messages" }, isAny);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error(`found: ${text}`);
  };

  it.each([
    ["talk-4.5", /form vendor\/model\. Did you mean "acme\/talk-4\.5"\?/],
    ["acme/talk-4-5", /does not exist\. Did you mean "acme\/talk-4\.5"\?/],
    ["Acme/Talk_4.5:@price", /"Acme\/Talk_4\.5" does not exist\. Did you mean "acme\/talk-4\.5"\?/],
    ["resale/talk45", /Did you mean "resale\/talk-4\.5"\?/],
    [
      "acme/unknown",
      /^The model "acme\/unknown" does not exist\. GET \/v1\/models lists those you can call\.$/,
    ],
    [
      "mistral/mistral-large-latest",
      /does not exist\. No model of Mistral is here: whoever runs this gateway sets MISTRAL_API_KEY/,
    ],
    ["house/llama3:8b", /"house\/llama3" does not exist\. Did you mean "house\/llama3-8b"\?/],
    ["llama3:8b", /form vendor\/model\. Did you mean "house\/llama3-8b"\?/],
    ["ollama/llama3", /No model of Ollama is here: .* sets OLLAMA_BASE_URL, where it answers/],
    ["alibaba/qwen-max:@price", /whoever runs this gateway sets DASHSCOPE_API_KEY/],
    [
      "sandbox/chat",
      /simulated vendors are off here: whoever runs this gateway sets TOLLGATE_SANDBOX=on/,
    ],
  ])("%s gets an error that says what to do", (text, message) => {
    expect(messageOf(text, { ...catalog, models })).toMatch(message);
  });

  it("the error does not call a vendor missing that has models", () => {
    const there = new Map([...models, ["mistral/small", models.get("acme/talk-4.5")!]]);
    expect(messageOf("mistral/large", { ...catalog, models: there })).toBe(
      'The model "mistral/large" does not exist. GET /v1/models lists those you can call.',
    );
  });

  it("a gateway without any model says so", () => {
    expect(messageOf("openai/gpt-5", catalog)).toMatch(/has no models yet: `tollgate doctor` says/);
  });
});

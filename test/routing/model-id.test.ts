import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { parseModelId } from "../../src/routing/index.ts";

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
  it("RESP-03: a model id is vendor/model; without a vendor there is no such model", () => {
    expect(parseModelId("acme/talk")).toEqual({ model: "acme/talk" });
    expect(parseModelId("acme/talk-1.5/large")).toEqual({ model: "acme/talk-1.5/large" });
    const texts = ["talk", "", "/talk", "acme/", "talk:@price", ":a", "acme/:openai"];
    expect(texts.map(codeOf)).toEqual(texts.map(() => "404 model_not_found model"));
  });

  it("another name with a colon in it is a name, not a suffix", () => {
    const names = {
      whole: (text: string) => (text === "talk:latest" ? "acme/talk" : undefined),
      any: (text: string) => (text === "chatty" ? "acme/talk" : undefined),
    };
    expect(parseModelId("talk:latest", names)).toEqual({ model: "acme/talk" });
    expect(parseModelId("chatty:@price", names)).toEqual({ model: "acme/talk", strategy: "price" });
  });

  it("RESP-04: the id may end in a provider or in a strategy", () => {
    expect(parseModelId("acme/talk:openai")).toEqual({ model: "acme/talk", provider: "openai" });
    expect(parseModelId("acme/talk:sandbox-openai").provider).toBe("sandbox-openai");
    for (const strategy of ["price", "latency", "throughput", "balanced"]) {
      expect(parseModelId(`acme/talk:@${strategy}`)).toEqual({ model: "acme/talk", strategy });
    }
  });

  it("RESP-05 ROUTE-04: the two forms cannot be combined, in either order or twice", () => {
    const texts = ["a/b:prov:@price", "a/b:@price:prov", "a/b:x:y", "a/b:@price:@price", "a/b::"];
    expect(texts.map(codeOf)).toEqual(texts.map(() => "400 invalid_model_suffix model"));
  });

  it("a malformed or unknown suffix is refused, never ignored", () => {
    const suffixes = [":", ":@", ":@cheapest", ":@PRICE", ":a b", ":@price ", ":-x", ":a/b"];
    const codes = suffixes.map((suffix) => codeOf(`acme/talk${suffix}`));
    expect(codes).toEqual(suffixes.map(() => "400 invalid_model_suffix model"));
  });
});

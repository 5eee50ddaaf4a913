/** The fallback models of a call: names, repetitions, and the reasons to refuse one. ROUTE; docs/routing.md "Other models". */
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import type { TextCall } from "../../src/calls/context.ts";
import { planWithFallbacks, withoutFallbacks } from "../../src/calls/fallbacks.ts";
import type { CallRecord } from "../../src/calls/record.ts";
import { openScope, plan, type ParsedModelId, type Plan } from "../../src/routing/index.ts";
import { catalogIn } from "../support/config-text.ts";
import { price, providerRow, textRow } from "./support.ts";

const names = ["one", "two", "three", "four", "five"];
const catalog = catalogIn(
  [
    "providers:",
    providerRow("first"),
    providerRow("second"),
    "models:",
    textRow(
      "acme/both",
      ["first", "second"].map((provider) => `provider: ${provider}, protocol: chat, ${price("1")}`),
    ),
    ...names.map((name) =>
      textRow(
        `acme/${name}`,
        [`provider: first, protocol: chat, ${price("1")}`],
        { one: "fallbacks: [acme/two, acme/three]", two: 'aliases: ["latest-*"]' }[name],
      ),
    ),
  ].join("\n"),
);
const planned = (parsed: ParsedModelId) =>
  plan({
    catalog,
    parsed,
    entryPoint: "chat_completions",
    scope: openScope,
    random: () => 0,
    stream: false,
  });

function others(named: object, by: typeof planned = planned): string[] {
  return plansOf(named, { model: "acme/one" }, by).map(({ model }) => model.id);
}

function plansOf(named: object, parsed: ParsedModelId, by = planned): readonly Plan[] {
  const call = { protocol: "chat", body: { value: {} }, ...named } as unknown as TextCall;
  const own = planned(parsed);
  const record = {} as CallRecord;
  const ofAnother = (of: ParsedModelId) => (of === parsed ? own : by(of));
  const [first, ...rest] = planWithFallbacks(record, { call, catalog, parsed, plan: ofAnother });
  expect(first).toBe(own);
  const noted = rest.map(({ explanation }) => explanation);
  expect(record.plan).toEqual({
    ...own.explanation,
    ...(noted.length > 0 && { fallbacks: noted }),
  });
  return rest;
}
const namedInBody = (...models: string[]) => ({ body: { value: { models } } });

describe("the fallback models of a call", () => {
  it("are each tried once, in order, and exclude the model itself", () => {
    expect(others(namedInBody("acme/one", "acme/three", "acme/two", "acme/three"))).toEqual([
      "acme/three",
      "acme/two",
    ]);
  });

  it("may be the model itself at another provider, each provider once", () => {
    const fallbacksOf = (provider: string | undefined, ...names: string[]) =>
      plansOf(namedInBody(...names), { model: "acme/both", provider }).map((each) => [
        each.offers.map((offer) => offer.provider),
        each.explanation.order,
      ]);
    const second = [["second"], ["second/chat"]];
    expect(fallbacksOf("first", "acme/both:second")).toEqual([second]);
    expect(fallbacksOf("first", "acme/both:first", "acme/both", "acme/both:second")).toEqual([
      second,
    ]);
    expect(fallbacksOf("first", "acme/one", "acme/one:first", "acme/both:second")).toEqual([
      [["first"], ["first/chat"]],
      second,
    ]);
    expect(fallbacksOf(undefined, "acme/both:second", "acme/both:@price")).toEqual([]);
  });

  it("are at most three, not counting repetitions", () => {
    const four = ["acme/two", "acme/three", "acme/four", "acme/five"];
    expect(others(namedInBody(...four.slice(0, 3), "acme/two", "acme/one"))).toHaveLength(3);
    expect(() => others(namedInBody(...four))).toThrow(
      expect.objectContaining({ code: "invalid_value", param: "models" }),
    );
  });

  it("cost one plan for each name, however often and in however many spellings a request repeats it", () => {
    const asked: ParsedModelId[] = [];
    const counted = (parsed: ParsedModelId) => {
      asked.push(parsed);
      return planned(parsed);
    };
    const spellings = Array.from({ length: 500 }, (_, index) => `latest-${index}`);
    const many = [...spellings, "acme/two", "acme/two:@price", "acme/two:@price", "acme/one"];
    expect(others(namedInBody(...many), counted)).toEqual(["acme/two"]);
    expect(asked).toEqual([
      { model: "acme/two" },
      { model: "acme/two", strategy: "price" },
      { model: "acme/one" },
    ]);
  });

  it("are the model's own if the request names none, without those that refuse the call", () => {
    expect(others({})).toEqual(["acme/two", "acme/three"]);
    const refusing = (parsed: ParsedModelId) => {
      if (parsed.model === "acme/two") throw new GatewayError("model_not_allowed", "Not this.");
      return planned(parsed);
    };
    expect(others({}, refusing)).toEqual(["acme/three"]);
  });

  it("do not hide an internal error while one of them is planned", () => {
    const broken = () => {
      throw new TypeError("a fault of ours");
    };
    expect(() => others({}, broken)).toThrow(TypeError);
    expect(() => others(namedInBody("acme/two"), broken)).toThrow(TypeError);
  });
});

it("are removed from the forwarded body only in chat", () => {
  const body = { model: "acme/one", models: ["acme/two"] };
  const forwarded = (protocol: string) =>
    withoutFallbacks({ protocol, body: { value: body } } as unknown as TextCall);
  expect(forwarded("chat")).toEqual({ model: "acme/one" });
  expect(forwarded("messages")).toBe(body);
});

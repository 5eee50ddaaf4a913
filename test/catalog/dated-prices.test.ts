/** Prices with a start date come into force by themselves at their time. docs/models.md; requirements MODELS-08, BILL. */
import { describe, expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import {
  catalogAt,
  checkConfig,
  pricesInForce,
  type Catalog,
  type TextModel,
} from "../../src/catalog/index.ts";
import { catalogIn } from "../support/config-text.ts";

const file = (later: string) => `
providers: [{ id: p, dialect: openai-compatible, base_url: https://p.example/v1, api_key: none }]
models:
  - id: a/b
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers:
      - provider: p
        protocol: chat
        upstream_model: b
        price: { input: "1", output: "2" }
        later_prices: ${later}
`;

const dated = `[
          { from: 2027-01-01, price: { input: "3", output: "4" }, price_above: { input_tokens: 10, price: { input: "5", output: "6" } } },
          { from: 2027-02-01T12:00Z, price: { input: "7", output: "8" } }]`;

const inputAt = (catalog: Catalog): bigint =>
  (catalog.models.get("a/b") as TextModel).offers[0]!.price.input / 1_000_000_000n;

describe("prices with a start date", () => {
  const catalog = catalogIn(file(dated));
  const plain = catalogIn(
    file("[]").replace("        later_prices: []\n", "").replace("a/b", "c/d"),
  );
  const at = (moment: string) => catalogAt(catalog, Date.parse(moment));

  it("apply from their time on, including tiers, and the last one without end", () => {
    const moments = [
      "2026-12-31T23:59:59.999Z",
      "2027-01-01T00:00:00Z",
      "2027-02-01T11:59:59Z",
      "2027-02-01T12:00:00Z",
      "2099-01-01T00:00:00Z",
    ];
    expect(moments.map((moment) => inputAt(at(moment)))).toEqual([1n, 3n, 3n, 7n, 7n]);
    const [offer] = (at("2027-01-02").models.get("a/b") as TextModel).offers;
    expect(offer?.price.above).toEqual([
      { inputTokens: 10, rates: expect.objectContaining({ input: 5_000_000_000n }) },
    ]);
    const [last] = (at("2027-03-01").models.get("a/b") as TextModel).offers;
    expect(last?.price).not.toHaveProperty("later");
    expect(last?.price.above).toBeUndefined();
  });

  it("leave the catalogue the same object until the first of them applies, and other models always", () => {
    expect(at("2026-12-31T23:59:59Z")).toBe(catalog);
    const both = { ...catalog, models: new Map([...catalog.models, ...plain.models]) };
    const later = catalogAt(both, Date.parse("2027-01-02"));
    expect(later).not.toBe(both);
    expect(later.models.get("c/d")).toBe(plain.models.get("c/d"));
  });

  it("change in a running gateway without a reload, and do not affect a catalogue that was read before", () => {
    const clock = manualClock(Date.parse("2026-12-31T23:00:00Z"));
    const current = pricesInForce(() => catalog, clock);
    const before = current();
    expect(current()).toBe(before);
    clock.advance(3_600_000);
    const after = current();
    expect([inputAt(before), inputAt(after)]).toEqual([1n, 3n]);
    expect(current()).toBe(after);
    clock.set(Date.parse("2027-02-01T12:00:00Z"));
    const last = current();
    expect(inputAt(last)).toBe(7n);
    expect(current()).toBe(last);
  });

  it("apply to a reloaded catalogue", () => {
    let source = catalog;
    const current = pricesInForce(() => source, manualClock(Date.parse("2027-01-15")));
    expect(inputAt(current())).toBe(3n);
    source = catalogIn(file(`[{ from: 2027-01-10, price: { input: "9", output: "9" } }]`));
    expect(inputAt(current())).toBe(9n);
  });

  it("are refused for days that do not exist, a wrong order, or two spellings of tiers", () => {
    const mistakes = (later: string) => {
      const result = checkConfig(file(later), { environment: {} });
      return "mistakes" in result ? result.mistakes.map(({ message }) => message) : [];
    };
    const price = `price: { input: "1", output: "1" }`;
    expect(mistakes(`[{ from: 2027-02-30, ${price} }]`)).toEqual(["there is no 2027-02-30"]);
    expect(
      mistakes(`[{ from: 2027-02-01, ${price} }, { from: 2027-02-01T00:00Z, ${price} }]`),
    ).toEqual(['"2027-02-01T00:00Z" does not come after "2027-02-01"']);
    const tier = `{ input_tokens: 5, ${price} }`;
    expect(
      mistakes(
        `[{ from: 2027-02-01, ${price}, price_above: ${tier}, price_tiers: [${tier}, ${tier}] }]`,
      ),
    ).toEqual(["price_above and price_tiers exclude each other", "5 does not come after 5"]);
  });
});

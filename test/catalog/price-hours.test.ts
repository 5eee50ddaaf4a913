/** Prices by the hour: which apply when, and what the configuration may say. docs/models.md "Prices by the hour"; BILL, MODELS-08, T64. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listModels } from "../../src/calls/index.ts";
import {
  catalogAt,
  pricesInForce,
  printConfig,
  type Catalog,
  type TextPrice,
} from "../../src/catalog/index.ts";
import { catalogIn, configIn, mistakesIn } from "../support/config-text.ts";
import { manualClock } from "../support/manual-clock.ts";

const file = (price: string) => `
providers: [{ id: p, dialect: openai-compatible, base_url: "https://p.example/v1", api_key: none }]
models:
  - { id: a/b, kind: text, context_length: 1000, max_output_tokens: 100, offers: [
      { provider: p, protocol: chat, upstream_model: b, ${price} }] }
`;
const usual = 'price: { input: "1", output: "2", request: "0.5" }';
const peak = 'price: { input: "3", output: "4" }';
const weekdays = "days: [mon, tue, wed, thu, fri]";
/** DeepSeek's hours in 2026. */
const deepseek = `${usual}, price_hours: [{ hours_utc: ["01:00-04:00", "06:00-10:00"], ${weekdays}, except: [2026-10-01], ${peak} }]`;
const night = `${usual}, price_hours: [{ hours_utc: ["22:00-06:00"], days: [fri], except: [2026-12-11], ${peak} }]`;
const halfHours = `${usual}, price_hours: [{ hours_utc: ["08:30-10:15"], ${peak} }]`;
const evening = `${usual}, price_hours: [{ hours_utc: ["14:00-24:00"], ${peak} }]`;
const wholeDays = `${usual}, price_hours: [{ hours_utc: ["00:00-24:00"], days: [sat, sun], ${peak} }]`;

const priceOf = (catalog: Catalog): TextPrice => {
  const model = catalog.models.get("a/b");
  return model?.kind === "text" ? model.offers[0]!.price : expect.unreachable();
};
const dollars = (price: TextPrice): bigint => price.input / 1_000_000_000n;
const inputAt = (price: string, moment: string): bigint =>
  dollars(priceOf(catalogAt(catalogIn(file(price)), Date.parse(moment))));

describe("prices by the hour", () => {
  it.each([
    ["a Monday's last minute before them", deepseek, "2026-11-30T00:59:59.999Z", 1n],
    ["their first moment", deepseek, "2026-11-30T01:00:00Z", 3n],
    ["their last moment", deepseek, "2026-11-30T03:59:59.999Z", 3n],
    ["the moment of their end", deepseek, "2026-11-30T04:00:00Z", 1n],
    ["the second span", deepseek, "2026-11-30T09:59:59Z", 3n],
    ["after the second span", deepseek, "2026-11-30T10:00:00Z", 1n],
    ["a Saturday", deepseek, "2026-12-05T02:00:00Z", 1n],
    ["an excepted Thursday", deepseek, "2026-10-01T02:00:00Z", 1n],
    ["the Thursday after it", deepseek, "2026-10-08T02:00:00Z", 3n],
    ["a Friday's night", night, "2026-12-04T22:00:00Z", 3n],
    ["the Saturday morning that belongs to it", night, "2026-12-05T05:59:59Z", 3n],
    ["the end of that night", night, "2026-12-05T06:00:00Z", 1n],
    ["a Friday's morning", night, "2026-12-04T05:00:00Z", 1n],
    ["an excepted Friday's night", night, "2026-12-11T23:00:00Z", 1n],
    ["the morning after an excepted Friday", night, "2026-12-12T01:00:00Z", 1n],
    ["the last minute of a day", evening, "2026-12-04T23:59:59Z", 3n],
    ["midnight", evening, "2026-12-05T00:00:00Z", 1n],
    ["the minute before a half hour", halfHours, "2026-12-05T08:29:59Z", 1n],
    ["a half hour", halfHours, "2026-12-05T08:30:00Z", 3n],
    ["the minute before a quarter", halfHours, "2026-12-05T10:14:59Z", 3n],
    ["a quarter", halfHours, "2026-12-05T10:15:00Z", 1n],
    ["a whole Sunday", wholeDays, "2026-12-06T23:59:59Z", 3n],
    ["a Monday's midnight", wholeDays, "2026-12-07T00:00:00Z", 1n],
  ])("apply by UTC: %s", (_name, price, moment, input) => {
    expect(inputAt(price, moment)).toBe(input);
  });

  it("T64: replace tiers too, and keep the rates of calls that they leave out", () => {
    const tiered = `${usual}, price_above: { input_tokens: 10, price: { input: "5", output: "6" } },
      price_hours: [{ hours_utc: ["01:00-02:00"], ${peak}, price_above: { input_tokens: 10, price: { input: "7", output: "8" } } }]`;
    const price = priceOf(catalogAt(catalogIn(file(tiered)), Date.parse("2026-11-30T01:00Z")));
    expect(price).toMatchObject({ request: 500_000_000n });
    expect(price.above).toEqual([
      {
        inputTokens: 10,
        rates: expect.objectContaining({ input: 7_000_000_000n, request: 500_000_000n }),
      },
    ]);
  });

  it("the first entry that includes a moment applies", () => {
    const both = `${usual}, price_hours: [{ hours_utc: ["01:00-02:00"], ${peak} }, { hours_utc: ["00:00-24:00"], price: { input: "9", output: "9" } }]`;
    const at = (moment: string) => inputAt(both, moment);
    expect([at("2026-11-30T01:30Z"), at("2026-11-30T02:00Z")]).toEqual([3n, 9n]);
  });

  it("come and go with later prices, which may have hours of their own", () => {
    const later = `${deepseek}, later_prices: [
      { from: 2027-01-04, price: { input: "5", output: "5" }, price_hours: [{ hours_utc: ["12:00-13:00"], price: { input: "7", output: "7" } }] },
      { from: 2027-02-01T12:30Z, price: { input: "8", output: "8" } }]`;
    const moments = ["2027-01-04T02:00Z", "2027-01-04T12:00Z", "2027-02-01T12:30Z"];
    expect(moments.map((moment) => inputAt(later, moment))).toEqual([5n, 7n, 8n]);
  });

  it("change in a running gateway without a reload, on time, and not for a catalogue that was read before", () => {
    const catalog = catalogIn(file(deepseek));
    const clock = manualClock(Date.parse("2026-11-30T00:59:59.999Z"));
    const current = pricesInForce(() => catalog, clock);
    const before = current();
    expect(current()).toBe(before);
    clock.advance(1);
    const during = current();
    expect(current()).toBe(during);
    clock.set(Date.parse("2026-11-30T04:00:00Z"));
    const after = current();
    expect([before, during, after].map((each) => dollars(priceOf(each)))).toEqual([1n, 3n, 1n]);
    expect(priceOf(catalogAt(during, clock.now()))).toEqual(priceOf(after));
  });

  it("a running gateway has at every minute the price that a fresh one has, also if its clock is set back", () => {
    const source = catalogIn(
      file(`${night}, later_prices: [{ from: 2026-12-06T12:00Z, ${evening} }]`),
    );
    const startMs = Date.parse("2026-12-04T00:00Z");
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { minLength: 1 }), (minutes) => {
        const clock = manualClock(startMs);
        const current = pricesInForce(() => source, clock);
        for (const minute of minutes) {
          clock.set(startMs + minute * 60_000);
          const now = current();
          expect(priceOf(now)).toEqual(priceOf(catalogAt(source, clock.now())));
          expect(current()).toBe(now);
        }
      }),
    );
  });

  it("leave the catalogue the same object at other hours", () => {
    const catalog = catalogIn(file(deepseek));
    expect(catalogAt(catalog, Date.parse("2026-11-30T00:59Z"))).toBe(catalog);
  });

  it("printing a configuration reads back as the same catalogue, at any hour", () => {
    const config = configIn(file(`${deepseek}, later_prices: [{ from: 2027-01-01, ${evening} }]`));
    expect(catalogIn(printConfig(config))).toEqual(config.catalog);
    const peakMs = Date.parse("2026-11-30T02:00Z");
    const during = { ...config, catalog: catalogAt(config.catalog, peakMs) };
    expect(catalogIn(printConfig(during))).toEqual(config.catalog);
  });

  it("MODELS-08: GET /v1/models has a row for each rate at some hours, at any hour, and the last that fits applies", () => {
    const catalog = catalogIn(file(deepseek));
    const rowsAt = (moment: string) =>
      listModels(catalogAt(catalog, Date.parse(moment)), undefined)[0]!.pricing;
    const when = {
      hours_utc: "01:00-04:00,06:00-10:00",
      days: "mon,tue,wed,thu,fri",
      except: "2026-10-01",
    };
    const inputs = rowsAt("2026-11-30T02:00Z").filter(
      ({ billable }) => billable === "input_tokens",
    );
    expect(inputs).toEqual([
      { billable: "input_tokens", unit: "million_tokens", price_usd: "1" },
      { billable: "input_tokens", unit: "million_tokens", price_usd: "3", when },
    ]);
    expect(rowsAt("2026-11-30T02:00Z")).toEqual(rowsAt("2026-11-30T12:00Z"));
  });
});

describe("the price of an embedding by the hour", () => {
  const vectors = (price: string) => `
providers: [{ id: p, dialect: openai-compatible, base_url: "https://p.example/v1", api_key: none }]
models:
  - { id: a/v, kind: embedding, context_length: 1000, offers: [{ provider: p, upstream_model: v, ${price} }] }
`;
  const price = `price: { input: "1", request: "0.5" },
    price_hours: [{ hours_utc: ["01:00-04:00"], days: [mon], price: { input: "3" } }]`;
  const [peakMs, usualMs] = [Date.parse("2026-11-30T02:00Z"), Date.parse("2026-12-01T02:00Z")];
  const at = (ms: number, of: Catalog = catalogIn(vectors(price))): TextPrice => {
    const model = catalogAt(of, ms).models.get("a/v");
    return model?.kind === "embedding" ? model.offers[0]!.price : expect.unreachable();
  };

  it("applies as that of text, and keeps the fee of a call", () => {
    expect([at(peakMs), at(usualMs)].map(dollars)).toEqual([3n, 1n]);
    expect(at(peakMs)).toMatchObject({ request: 500_000_000n, output: 0n });
  });

  it("is printed so that it reads back as the same catalogue, at any hour", () => {
    const config = configIn(vectors(price));
    for (const ms of [peakMs, usualMs]) {
      const printed = printConfig({ ...config, catalog: catalogAt(config.catalog, ms) });
      expect(catalogIn(printed)).toEqual(config.catalog);
    }
  });

  it("MODELS-08: is listed beside the usual one, at any hour", () => {
    const rowsAt = (ms: number) =>
      listModels(catalogAt(catalogIn(vectors(price)), ms), undefined)[0]!.pricing;
    const [unit, when] = ["million_tokens", { hours_utc: "01:00-04:00", days: "mon" }];
    expect(rowsAt(peakMs)).toEqual([
      { billable: "input_tokens", unit, price_usd: "1" },
      { billable: "requests", unit: "request", price_usd: "0.5" },
      { billable: "input_tokens", unit, price_usd: "3", when },
      { billable: "requests", unit: "request", price_usd: "0.5", when },
    ]);
    expect(rowsAt(usualMs)).toEqual(rowsAt(peakMs));
  });

  it("is one of `prices` too, and is checked as that of text", () => {
    const hours = (text: string) =>
      mistakesIn(`prices: { a/v: { input: "1", price_hours: [${text}] } }`, {});
    expect(hours(`{ hours_utc: ["01:00-02:00"], price: { input: "3" } }`)).toEqual([]);
    expect(hours(`{ hours_utc: ["01:00-01:00"], price: { input: "3" } }`)).toEqual([
      expect.stringContaining("prices.a/v.price_hours[0].hours_utc[0]"),
    ]);
    expect(hours(`{ hours_utc: ["01:00-02:00"], price: { input: "3", output: "1" } }`)).toEqual([
      expect.stringContaining("prices.a/v.price_hours[0].price.output: unknown key"),
    ]);
  });
});

describe("the check of a configuration", () => {
  const mistakes = (hours: string, price = usual) =>
    mistakesIn(file(`${price}, price_hours: [${hours}]`), {}).map((line) =>
      line.replace(/^\S+ models\[0\]\.offers\[0\]\./, ""),
    );

  it.each([
    ["25:00-26:00", `price_hours[0].hours_utc[0]`],
    ["1:00-2:00", `price_hours[0].hours_utc[0]`],
    ["24:00-01:00", `price_hours[0].hours_utc[0]`],
  ])("refuses hours such as %s, by their field, with an example", (span, field) => {
    const [line, ...others] = mistakes(`{ hours_utc: ["${span}"], ${peak} }`);
    expect(others).toEqual([]);
    expect(line).toContain(field);
    expect(line).toContain("01:00-04:00");
  });

  it("refuses empty hours, days that do not exist, unknown days, and hours without the tiers of the price", () => {
    expect(mistakes(`{ hours_utc: ["01:00-01:00"], ${peak} }`)).toEqual([
      'price_hours[0].hours_utc[0]: 01:00-01:00 begins and ends at one time; for the whole day, write "00:00-24:00"',
    ]);
    expect(mistakes(`{ hours_utc: ["01:00-02:00"], except: [2026-02-30], ${peak} }`)).toEqual([
      "price_hours[0].except[0]: there is no 2026-02-30",
    ]);
    expect(mistakes(`{ hours_utc: ["01:00-02:00"], days: [monday], ${peak} }`)[0]).toContain(
      "price_hours[0].days[0]",
    );
    const tiered = `${usual}, price_above: { input_tokens: 10, ${peak} }`;
    expect(mistakes(`{ hours_utc: ["01:00-02:00"], ${peak} }`, tiered)).toEqual([
      "price_hours[0]: has no tiers, and the price at other hours has; add its price_above or price_tiers",
    ]);
  });

  it("checks the hours of `prices` and of later prices alike", () => {
    const hours = `price_hours: [{ hours_utc: ["01:00-01:00"], ${peak} }]`;
    expect(mistakesIn(`prices: { deepseek/x: { input: "1", output: "2", ${hours} } }`, {})).toEqual(
      [expect.stringContaining("prices.deepseek/x.price_hours[0].hours_utc[0]")],
    );
    expect(
      mistakesIn(file(`${usual}, later_prices: [{ from: 2027-01-01, ${peak}, ${hours} }]`), {}),
    ).toEqual([expect.stringContaining("later_prices[0].price_hours[0].hours_utc[0]")]);
  });
});

/** The off-peak prices of LiteLLM's file, and their conversion to prices by the hour. docs.litellm.ai, "Off-Peak Pricing". */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { catalogAt, isCallable } from "../../src/catalog/index.ts";
import { convertLitellm } from "../../src/cli/litellm/convert.ts";
import { catalogIn } from "../support/config-text.ts";

const convert = (block: string, model = "openai/night", more = "") =>
  convertLitellm(
    `
model_list:
  - model_name: ${model}
    litellm_params: { model: ${model}, api_base: "https://n.example/v1", api_key: none,
      input_cost_per_token: 1e-06, output_cost_per_token: 2e-06, cache_read_input_token_cost: 1e-07 ${more} }
    model_info: { off_peak_pricing: ${block} }
`,
    "hours.yaml",
  );

/** The price of the first offer, as the file has it. */
function offerOf(block: string, model?: string, more?: string) {
  const { config, mistakes } = convert(block, model, more);
  expect(mistakes).toEqual([]);
  const { models } = parse(config) as { models: { offers: Record<string, unknown>[] }[] };
  return models[0]!.offers[0]!;
}
const hoursIn = (block: string) =>
  (offerOf(block)["price_hours"] as { hours_utc: string[]; days?: string[] }[]).map(
    ({ hours_utc: hours, days }) => [hours.join(" "), days?.join(" ")],
  );
const noteOf = (block: string) =>
  convert(block).rows.find(({ field }) => field === "model_list[0].model_info.off_peak_pricing");

const rates = "input_cost_per_token: 5e-07, output_cost_per_token: 1e-06";

describe("off_peak_pricing", () => {
  it("becomes hours of every day, with the usual rates where it has none", () => {
    expect(offerOf(`{ hours_utc: "16:30-00:30", ${rates} }`)).toMatchObject({
      price: { input: "1", output: "2", cache_read: "0.1" },
      price_hours: [
        { hours_utc: ["16:30-00:30"], price: { input: "0.5", output: "1", cache_read: "0.1" } },
      ],
    });
    expect(hoursIn(`{ hours_utc: ["00:00-00:00", "14:00-00:00"], ${rates} }`)).toEqual([
      ["00:00-24:00 14:00-00:00", undefined],
    ]);
    expect(noteOf(`{ hours_utc: "16:30-00:30", ${rates} }`)).toMatchObject({
      outcome: "changed",
      becomes: "models[openai/night].offers[].price_hours",
      note: expect.stringContaining("at its admission"),
    });
  });

  it("T64: replaces the rates of tiers too, where it has them", () => {
    const tier = ", input_cost_per_token_above_200k_tokens: 4e-06";
    expect(
      offerOf(`{ hours_utc: "01:00-02:00", output_cost_per_token: 1e-06 }`, undefined, tier),
    ).toMatchObject({
      price_above: { price: { input: "4", output: "2" } },
      price_hours: [
        {
          price: { input: "1", output: "1" },
          price_above: { input_tokens: 200_000, price: { input: "4", output: "1" } },
        },
      ],
    });
  });

  it("takes the usual rates from the list, if the entry has none", () => {
    const text = `
model_list:
  - model_name: ds
    litellm_params: { model: deepseek/deepseek-v4-pro, api_key: os.environ/DEEPSEEK_API_KEY }
    model_info: { off_peak_pricing: { hours_utc: "10:00-01:00", output_cost_per_token: 1e-06 } }
`;
    const { config, mistakes } = convertLitellm(text, "hours.yaml");
    expect(mistakes).toEqual([]);
    const { models } = parse(config) as {
      models: { offers: Record<string, Record<string, string>>[] }[];
    };
    const { price, price_hours: hours } = models[0]!.offers[0]!;
    expect(hours).toMatchObject([{ price: { ...price, output: "1" } }]);
  });

  it("is converted for embeddings by the price of their input", () => {
    expect(offerOf(`{ hours_utc: "01:00-02:00", ${rates} }`, "openai/embed-x")).toMatchObject({
      price: { input: "1" },
      price_hours: [{ hours_utc: ["01:00-02:00"], price: { input: "0.5" } }],
    });
  });

  it("has windows and weekdays in all spellings that LiteLLM reads", () => {
    expect(hoursIn(`{ hours_utc: ["9:00 - 17:5", " 22:00-06:00"], ${rates} }`)).toEqual([
      ["09:00-17:05 22:00-06:00", undefined],
    ]);
    const days = "[Tues, Thur, thurs, SUN, 1]";
    expect(
      hoursIn(`{ windows: [{ hours_utc: "01:00-02:00", weekdays: ${days} }], ${rates} }`),
    ).toEqual([["01:00-02:00", "sun mon tue thu"]]);
  });

  const shanghai = `{ weekday_timezone: Asia/Shanghai, windows: [ { hours_utc: ["10:00-01:00", "04:00-06:00"], weekdays: [mon, tue, wed, thu, fri] }, { hours_utc: "00:00-00:00", weekdays: [6, Sunday] } ], ${rates} }`;

  it("has weekdays of its own zone, which become those in UTC", () => {
    // From 16:00 UTC on it is the next day in Shanghai.
    expect(hoursIn(shanghai)).toEqual([
      ["10:00-16:00 00:00-01:00 04:00-06:00", "mon tue wed thu fri"],
      ["16:00-24:00", "sun mon tue wed thu"],
      ["00:00-16:00", "sun sat"],
      ["16:00-24:00", "fri sat"],
    ]);
  });

  it("has the same price at each hour of a week as LiteLLM's rule gives", () => {
    const { config } = convert(shanghai);
    const catalog = catalogIn(config);
    const startMs = Date.parse("2026-11-30T00:30Z");
    for (let hour = 0; hour < 168; hour += 1) {
      const ms = startMs + hour * 3_600_000;
      const [model] = [...catalogAt(catalog, ms).models.values()];
      const local = new Date(ms + 8 * 3_600_000).getUTCDay();
      const at = new Date(ms).getUTCHours();
      const inWindow = at >= 10 || at < 1 || (at >= 4 && at < 6);
      const isOffPeak = local === 0 || local === 6 || inWindow;
      const input = isCallable(model!) ? model.offers[0]!.price.input : undefined;
      expect([new Date(ms).toISOString(), input]).toEqual([
        new Date(ms).toISOString(),
        isOffPeak ? 500_000_000n : 1_000_000_000n,
      ]);
    }
  });

  it.each([
    [`{ hours_utc: "9-17", ${rates} }`, "cannot be read"],
    [`{ hours_utc: "25:00-26:00", ${rates} }`, "cannot be read"],
    [`{ ${rates} }`, "cannot be read"],
    [
      `{ windows: [{ hours_utc: "01:00-02:00", weekdays: [someday] }], ${rates} }`,
      "cannot be read",
    ],
    [`{ windows: "01:00-02:00", ${rates} }`, "cannot be read"],
    [`{ windows: [{ hours_utc: "01:00-02:00", weekdays: mon }], ${rates} }`, "cannot be read"],
    [
      `{ windows: [{ hours_utc: "00:00-00:00", override_dates: ["2026-10-01"] }], ${rates} }`,
      "override_dates",
    ],
    [`{ hours_utc: "00:00-00:00", weekdays: [sat, sun], ${rates} }`, "outside of windows"],
    [
      `{ weekday_timezone: Europe/Berlin, windows: [{ hours_utc: "01:00-02:00", weekdays: [mon] }], ${rates} }`,
      "summer time",
    ],
    [`{ hours_utc: "01:00-02:00", input_cost_per_token: cheap }`, "no rates"],
    [`{ hours_utc: "01:00-02:00" }`, "no rates"],
  ])("is reported and left out if its meaning is not certain: %s", (block, why) => {
    expect(noteOf(block)).toMatchObject({
      outcome: "not_supported",
      note: expect.stringContaining(why),
    });
    expect(offerOf(block)).not.toHaveProperty("price_hours");
  });
});

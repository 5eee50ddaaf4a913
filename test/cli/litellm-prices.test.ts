/** Prices of LiteLLM's file that depend on the length of a call or of a cache, and their conversion. */
import { expect, it } from "vitest";
import { parse } from "yaml";
import { convertLitellm, type Converted } from "../../src/cli/litellm/convert.ts";
import { offerPrice } from "../../src/cli/litellm/prices.ts";

interface Row {
  readonly id: string;
  readonly [name: string]: unknown;
}
interface File {
  readonly models: readonly (Row & { readonly offers: readonly Row[] })[];
}

const notesOf = ({ rows }: Converted, field: string) =>
  rows.filter((row) => row.field === field).map(({ outcome, note }) => `${outcome}: ${note ?? ""}`);

it("the converter keeps the catalog's rates for other things than tokens, which LiteLLM's fields cannot express", () => {
  const listed = { input: "3", output: "15", cache_read: "0.3", request: "0.01" };
  expect(offerPrice({ rates: { input: "1" }, tiers: [] }, listed)).toEqual({
    price: { input: "1", output: "15", request: "0.01" },
  });
  const tiers = [{ input_tokens: 200_000, price: { input: "6" } }];
  expect(offerPrice({ rates: {}, tiers }, listed)).toEqual({
    price: listed,
    price_above: { input_tokens: 200_000, price: { ...listed, input: "6" } },
  });
});

it("the converter takes over long-context tiers and one-hour cache writes; a tier inherits missing rates", () => {
  const text = `
model_list:
  - model_name: long
    litellm_params: { model: openai/long, api_base: https://long.example.com/v1, api_key: none,
      input_cost_per_token: 3e-06, output_cost_per_token: 1.5e-05, cache_read_input_token_cost: 3e-07,
      cache_creation_input_token_cost: 3.75e-06, cache_creation_input_token_cost_above_1hr: 6e-06,
      input_cost_per_token_above_200k_tokens: 6e-06, output_cost_per_token_above_200k_tokens: 2.25e-05,
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: 1.2e-05 }
  - model_name: steps
    litellm_params: { model: openai/steps, api_base: https://long.example.com/v1, api_key: none }
    model_info: { input_cost_per_token_above_256k_tokens: 4e-06, input_cost_per_token: 1e-06,
      output_cost_per_token: 2e-06, output_cost_per_token_above_32000_tokens: 3e-06 }
  - model_name: claude-sonnet-4-5
    litellm_params: { model: anthropic/claude-sonnet-4-5, input_cost_per_token_above_200k_tokens: 6e-06 }
  - model_name: vectors
    litellm_params: { model: text-embedding-3-small, input_cost_per_token: 1e-06,
      input_cost_per_token_above_128k_tokens: 2e-06 }
  - model_name: odd
    litellm_params: { model: openai/odd, api_base: https://long.example.com/v1, api_key: none,
      input_cost_per_token: 1e-06, output_cost_per_token: 1e-06,
      input_cost_per_token_above_0k_tokens: 1e-06, output_cost_per_token_above_200k_tokens: free }
`;
  const result = convertLitellm(text, "prices.yaml");
  expect(result.mistakes).toEqual([]);
  const file = parse(result.config) as File;
  const offer = (id: string) => file.models.find((model) => model.id === id)!.offers[0]!;
  const base = { input: "3", output: "15", cache_read: "0.3", cache_write: "3.75" };
  expect(offer("openai/long")).toMatchObject({
    price: { ...base, cache_write_1h: "6" },
    price_above: {
      input_tokens: 200_000,
      price: { ...base, input: "6", output: "22.5", cache_write_1h: "12" },
    },
  });
  expect(offer("openai/steps")).toMatchObject({
    price: { input: "1", output: "2" },
    price_tiers: [
      { input_tokens: 32_000, price: { input: "1", output: "3" } },
      { input_tokens: 256_000, price: { input: "4", output: "2" } },
    ],
  });
  // For a listed model the file may give only the tier.
  const claude = offer("anthropic/claude-sonnet-4-5") as Record<string, Record<string, unknown>>;
  expect(claude["price"]).toMatchObject({ input: "3", output: "15", cache_read: "0.3" });
  expect(claude["price_above"]).toEqual({
    input_tokens: 200_000,
    price: { ...claude["price"], input: "6" },
  });
  const field = (at: number, name: string) => `model_list[${at}].litellm_params.${name}`;
  const becomes = result.rows.filter(({ outcome }) => outcome === "changed");
  expect(becomes).toContainEqual(
    expect.objectContaining({
      field: field(0, "cache_creation_input_token_cost_above_1hr"),
      becomes: "models[long].offers[].price.cache_write_1h",
    }),
  );
  expect(notesOf(result, field(3, "input_cost_per_token_above_128k_tokens"))).toEqual([
    "not_supported: embeddings have one price, however long",
  ]);
  expect(notesOf(result, field(4, "input_cost_per_token_above_0k_tokens"))).toEqual([
    expect.stringContaining("not_supported"),
  ]);
  expect(notesOf(result, field(4, "output_cost_per_token_above_200k_tokens"))).toEqual([
    "not_supported: is no number: write the price",
  ]);
});

it("the converter takes over prices of web searches, per search or per answer, without making tokens free", () => {
  const sizes = (low: string, medium: string, high: string) =>
    `{ search_context_size_low: ${low}, search_context_size_medium: ${medium}, search_context_size_high: ${high} }`;
  const field = "search_context_cost_per_query";
  const text = `
model_list:
  - model_name: claude-sonnet-4-5
    litellm_params: { model: anthropic/claude-sonnet-4-5 }
    model_info: { ${field}: ${sizes("0.01", "1e-2", "0.01")} }
  - model_name: gemini-2.5-flash
    litellm_params: { model: gemini/gemini-2.5-flash, ${field}: 0.035 }
  - model_name: differs
    litellm_params: { model: openai/differs, api_base: https://far.example.com/v1, api_key: none,
      input_cost_per_token: 1e-06, output_cost_per_token: 2e-06, ${field}: ${sizes("0.03", "0.035", "0.05")} }
  - model_name: odd
    litellm_params: { model: openai/gpt-5, ${field}: free }
  - model_name: unknown
    litellm_params: { model: openai/of-nobodys-list, ${field}: 0.01 }
`;
  const result = convertLitellm(text, "prices.yaml");
  expect(result.mistakes).toEqual([]);
  const file = parse(result.config) as File;
  const price = (id: string) =>
    file.models.find((model) => model.id === id)!.offers[0]!["price"] as Record<string, string>;
  expect(price("anthropic/claude-sonnet-4-5")).toMatchObject({
    input: "3",
    cache_read: "0.3",
    web_search: "0.01",
  });
  expect(price("google/gemini-2.5-flash")).toMatchObject({ web_search_answer: "0.035" });
  expect(price("openai/differs")).toEqual({ input: "1", output: "2", web_search: "0.035" });
  expect(price("openai/odd")).not.toHaveProperty("web_search");
  expect(file.models.map(({ id }) => id)).not.toContain("openai/of-nobodys-list");
  expect(notesOf(result, `model_list[0].model_info.${field}`)).toEqual(["changed: USD per search"]);
  expect(notesOf(result, `model_list[2].litellm_params.${field}`)).toEqual([
    "changed: USD per search of any size: 0.035, the first of them",
  ]);
  expect(notesOf(result, `model_list[3].litellm_params.${field}`)).toEqual([
    "not_supported: is no number: write the price",
  ]);
});

it("the converter takes over prices of searches in files and in Google Maps", () => {
  const maps = "google_maps_grounding_cost_per_query";
  const files = "file_search_cost_per_1k_calls";
  const text = `
model_list:
  - model_name: gemini-2.5-flash
    litellm_params: { model: gemini/gemini-2.5-flash, ${maps}: 0.025 }
  - model_name: gemini-3.5-flash
    litellm_params: { model: gemini/gemini-3.5-flash }
    model_info: { ${maps}: 1.4e-2 }
  - model_name: gpt-5
    litellm_params: { model: openai/gpt-5, ${files}: 2.5 }
  - model_name: odd
    litellm_params: { model: openai/gpt-5-mini, ${files}: free }
  - model_name: vectors
    litellm_params: { model: text-embedding-3-small, ${files}: 2.5 }
`;
  const result = convertLitellm(text, "prices.yaml");
  expect(result.mistakes).toEqual([]);
  const file = parse(result.config) as File;
  const price = (id: string) => file.models.find((model) => model.id === id)!.offers[0]!["price"];
  expect(price("google/gemini-2.5-flash")).toMatchObject({ input: "0.3", map_answer: "0.025" });
  expect(price("google/gemini-3.5-flash")).toMatchObject({ map_search: "0.014" });
  expect(price("openai/gpt-5")).toMatchObject({ input: "1.25", file_search: "0.0025" });
  expect(price("openai/odd")).not.toHaveProperty("file_search");
  expect(notesOf(result, `model_list[2].litellm_params.${files}`)).toEqual([
    "changed: USD per search",
  ]);
  const refused = [3, 4].flatMap((at) =>
    notesOf(result, `model_list[${at}].litellm_params.${files}`),
  );
  expect(refused).toEqual([
    "not_supported: is no number: write the price",
    expect.stringContaining("not_supported: "),
  ]);
});

it("T64: the converter keeps the catalog's tiers of an entry that prices searches or hours alone", () => {
  const text = `
model_list:
  - model_name: searches
    litellm_params: { model: openai/gpt-5.4, file_search_cost_per_1k_calls: 2.5 }
  - model_name: nights
    litellm_params: { model: openai/gpt-5.5 }
    model_info: { off_peak_pricing: { hours_utc: "01:00-02:00", output_cost_per_token: 1e-06 } }
  - model_name: own
    litellm_params: { model: openai/gpt-5.4, input_cost_per_token: 1e-06, output_cost_per_token: 2e-06 }
`;
  const result = convertLitellm(text, "prices.yaml");
  expect(result.mistakes).toEqual([]);
  const offers = (parse(result.config) as File).models.map(({ offers: [first] }) => first!);
  const tier = { input_tokens: 272_000, price: { input: "5", output: "22.5" } };
  expect(offers[0]).toMatchObject({
    price: { input: "2.5", file_search: "0.0025" },
    price_above: tier,
  });
  expect(offers[1]).toMatchObject({
    price: { input: "5", output: "30" },
    price_above: { input_tokens: 272_000, price: { input: "10", output: "45" } },
    price_hours: [
      { price: { output: "1" }, price_above: { input_tokens: 272_000, price: { output: "1" } } },
    ],
  });
  expect(offers[2]).toMatchObject({ price: { input: "1", output: "2" } });
  expect(offers[2]).not.toHaveProperty("price_above");
});

it("the converter takes over separate prices of audio and images", () => {
  const text = `
model_list:
  - model_name: speaks
    litellm_params: { model: openai/speaks, api_base: https://long.example.com/v1, api_key: none,
      input_cost_per_token: 2.5e-06, output_cost_per_token: 1e-05, input_cost_per_audio_token: 4e-05,
      output_cost_per_audio_token: 8e-05, output_cost_per_image_token: 3e-05 }
`;
  const result = convertLitellm(text, "prices.yaml");
  expect(result.mistakes).toEqual([]);
  const [model] = (parse(result.config) as File).models;
  expect(model!.offers[0]).toMatchObject({
    price: {
      input: "2.5",
      output: "10",
      audio_input: "40",
      audio_output: "80",
      image_output: "30",
    },
  });
});

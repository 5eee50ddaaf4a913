/** `tollgate convert litellm` reports a field as taken over only if its value is in the written file. */
import { expect, it } from "vitest";
import { parse } from "yaml";
import { convertLitellm } from "../../src/cli/litellm/convert.ts";

interface File {
  readonly providers: readonly Record<string, unknown>[];
  readonly models: readonly Record<string, unknown>[];
}

function converted(text: string) {
  const { config, rows, mistakes } = convertLitellm(text, "config.yaml");
  expect(mistakes).toEqual([]);
  const outcomesOf = (field: string) =>
    rows.filter((row) => row.field === field).map(({ outcome }) => outcome);
  return { ...(parse(config) as File), outcomesOf };
}

const entry = (name: string, params: string): string =>
  `  - { model_name: ${name}, litellm_params: { ${params}, api_key: os.environ/KEY } }\n`;
const price = "input_cost_per_token: 0.000001, output_cost_per_token: 0.000001";
const address = "model_list[0].litellm_params.api_base";

it.each([
  ["a vendor's own address", "openai/gpt-4o", "https://api.openai.com/v1?tier=gold"],
  ["a Foundry resource", "azure_ai/gpt-4o", "https://f-1.services.ai.azure.com?tier=gold"],
])("the query in the address of %s is taken over into the provider", (_what, model, url) => {
  const { providers, outcomesOf } = converted(
    `model_list:\n${entry("a", `model: ${model}, api_base: "${url}", ${price}`)}`,
  );
  expect(providers).toMatchObject([{ query: { tier: "gold" } }]);
  expect(outcomesOf(address)).toEqual(["taken_over"]);
});

it("the API version in an Azure address acts like `api_version`", () => {
  const at = (query: string) =>
    converted(
      `model_list:\n${entry("a", `model: azure/gpt-4o, api_base: "https://a-1.openai.azure.com/openai/deployments/x?${query}"`)}`,
    ).providers;
  expect(at("api-version=2024-10-21")).toMatchObject([
    {
      base_url: "https://a-1.openai.azure.com/openai",
      query: { "api-version": "2024-10-21" },
    },
  ]);
  expect(at("api-version=preview")).toMatchObject([
    { base_url: "https://a-1.openai.azure.com/openai/v1", query: { "api-version": "preview" } },
  ]);
});

it("the API version in a Foundry address is left out and reported", () => {
  const url = "https://f-1.services.ai.azure.com/models?api-version=2024-05-01-preview";
  const { providers, outcomesOf } = converted(
    `model_list:\n${entry("a", `model: azure_ai/gpt-4o, api_base: "${url}", ${price}`)}`,
  );
  expect(providers).toMatchObject([{ base_url: "https://f-1.services.ai.azure.com/openai/v1" }]);
  expect(providers[0]).not.toHaveProperty("query");
  expect(outcomesOf(address)).toEqual(["taken_over", "changed"]);
});

const models = ["a", "b", "c", "d", "e"]
  .map((name) => entry(name, "model: openai/gpt-4o"))
  .join("");

it.each([
  [
    "no model gets",
    "default_fallbacks: [a]",
    `model_list:\n${entry("a", "model: openai/gpt-4o")}`,
    ["not_supported"],
  ],
  ["every other model gets", "default_fallbacks: [a]", `model_list:\n${models}`, ["taken_over"]],
  [
    "are more than three",
    "default_fallbacks: [a, b, c, d, e]",
    `model_list:\n${models}`,
    ["changed"],
  ],
])(
  "default fallbacks that %s are reported with their outcome",
  (_what, setting, list, outcomes) => {
    const { outcomesOf } = converted(`${list}litellm_settings: { ${setting} }\n`);
    expect(outcomesOf("litellm_settings.default_fallbacks")).toEqual(outcomes);
  },
);

it("fallbacks that name no model are reported as not supported", () => {
  const { outcomesOf } = converted(
    `model_list:\n${models}router_settings: { fallbacks: [b, { a: [b] }] }\n`,
  );
  expect(outcomesOf("router_settings.fallbacks[0]")).toEqual(["not_supported"]);
  expect(outcomesOf("router_settings.fallbacks[1].a")).toEqual(["taken_over"]);
});

it.each([
  ["all of them can be set", "{ X-Team: a }", ["taken_over"], { "X-Team": "a" }],
  ["one of them can be set", "{ X-Team: a, Host: b }", ["taken_over"], { "X-Team": "a" }],
  ["none can be set", "{ Host: b, Connection: close }", ["not_supported"], undefined],
])(
  "extra headers of which %s are reported with their outcome",
  (_what, headers, outcomes, written) => {
    const { providers, outcomesOf } = converted(
      `model_list:\n${entry("a", `model: openai/gpt-4o, extra_headers: ${headers}`)}`,
    );
    expect(outcomesOf("model_list[0].litellm_params.extra_headers")).toEqual(outcomes);
    expect(providers[0]!["headers"]).toEqual(written);
  },
);

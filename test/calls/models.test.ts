/** `GET /v1/models`: the description of a model, its prices by kind, and whether it streams. MODELS. */
import { expect, it } from "vitest";
import { findModel, listModels } from "../../src/calls/index.ts";
import { catalogIn } from "../support/config-text.ts";
import { price, providerRow, textRow } from "./support.ts";

const imagePrice = 'price: { input: "5", image_input: "8", output: "10", image_output: "40" }';
const catalog = catalogIn(
  [
    "providers:",
    providerRow("first"),
    providerRow("second"),
    "  - { id: scope, dialect: dashscope, base_url: https://scope.example/api/v1, api_key: secret }",
    "models:",
    textRow("acme/talk", [`provider: first, protocol: chat, ${price("1")}`], "description: Talks."),
    textRow("acme/quiet", [`provider: first, protocol: messages, ${price("2")}`]),
    `  - id: acme/vector
    kind: embedding
    context_length: 8000
    offers: [{ provider: first, upstream_model: up, price: { input: "0.02" } }]`,
    `  - id: acme/paint
    kind: image
    family: image-b
    offers:
      - { provider: first, upstream_model: up, ${imagePrice} }
      - { provider: second, upstream_model: up, streaming: false, ${imagePrice} }`,
    `  - id: acme/sketch
    kind: image
    family: image-c
    offers: [{ provider: scope, upstream_model: up, price: { output_image: "0.02" } }]`,
    `  - id: acme/sketches
    kind: image
    family: image-c
    offers:
      - { provider: scope, upstream_model: up, price: { output_image: "0.02" } }
      - { provider: first, upstream_model: up, price: { output_image: "0.02" } }`,
  ].join("\n"),
);
const listed = (id: string) => findModel(catalog, undefined, id)!;

it("MODELS: a description is the model's own, and empty where it has none", () => {
  expect(listed("acme/talk").description).toBe("Talks.");
  expect(listed("acme/quiet").description).toBe("");
});

it("MODELS-08: each kind lists the prices of its own billables", () => {
  const billables = (id: string) => listed(id).pricing.map(({ billable }) => billable);
  expect(billables("acme/talk")).toEqual([
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
  ]);
  expect(listed("acme/vector").pricing).toEqual([
    { billable: "input_tokens", unit: "million_tokens", price_usd: "0.02" },
  ]);
  expect(billables("acme/paint")).toEqual([
    "input_tokens",
    "input_image_tokens",
    "output_tokens",
    "output_image_tokens",
  ]);
});

it("a provider streams pictures if one of its own offers does; it always streams text, and never vectors", () => {
  const streams = (id: string) =>
    listed(id).providers.map((each) => [each.id, each.supports_streaming]);
  expect(streams("acme/paint")).toEqual([
    ["first", true],
    ["second", false],
  ]);
  expect(streams("acme/talk")).toEqual([["first", true]]);
  expect(streams("acme/vector")).toEqual([["first", false]]);
});

it("MODELS-07: parameters that conversion drops are not listed, and image models list their own parameters", () => {
  const names = (id: string) => Object.keys(listed(id).supported_parameters);
  expect(names("acme/talk")).toEqual(
    expect.arrayContaining(["seed", "n", "stream", "temperature"]),
  );
  expect(names("acme/quiet")).toEqual(expect.arrayContaining(["stream", "temperature", "stop"]));
  for (const lost of ["seed", "n", "presence_penalty"])
    expect(names("acme/quiet")).not.toContain(lost);
  expect(Object.values(listed("acme/quiet").supported_parameters)).not.toContain(undefined);
  expect(names("acme/paint")).toEqual(expect.arrayContaining(["prompt", "quality"]));
  expect(names("acme/paint")).not.toContain("temperature");
  expect(listModels(catalog, undefined)).toHaveLength(6);
});

it("MODELS-07: a media parameter is listed where at least one provider does not drop it", () => {
  const names = (id: string) => Object.keys(listed(id).supported_parameters);
  expect(names("acme/sketch")).toEqual(
    expect.arrayContaining(["prompt", "size", "aspect_ratio", "negative_prompt", "seed"]),
  );
  expect(names("acme/sketch")).not.toContain("user");
  expect(names("acme/sketches")).toEqual(expect.arrayContaining(["user", "negative_prompt"]));
});

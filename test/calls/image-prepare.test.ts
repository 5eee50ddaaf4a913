/** Which offers may answer an image call at once. The plan leaves out a vendor that makes images only as tasks, and says why. */
import { expect, it } from "vitest";
import type { ImageCall } from "../../src/calls/image-context.ts";
import { prepareImage } from "../../src/calls/image-prepare.ts";
import { catalogIn } from "../support/config-text.ts";
import { anyCaller, newHealth } from "./support.ts";

const rates = (usd: string) =>
  `{ input: "${usd}", image_input: "${usd}", output: "${usd}", image_output: "${usd}" }`;
const offer = (provider: string, usd: string) =>
  `      - { provider: ${provider}, upstream_model: up, price: ${rates(usd)} }`;
const catalog = catalogIn(
  [
    "providers:",
    `  - { id: slow, dialect: dashscope, base_url: "https://slow.example.com/api/v1", api_key: one, tier: official }`,
    `  - { id: quick, dialect: openai, base_url: "https://quick.example.com/v1", api_key: two, tier: official }`,
    "models:",
    "  - id: acme/make",
    "    kind: image",
    "    family: image-a",
    "    offers:",
    offer("slow", "1"),
    offer("quick", "2"),
    "  - id: acme/later",
    "    kind: image",
    "    family: image-a",
    "    offers:",
    offer("slow", "1"),
  ].join("\n"),
);

const prepare = (model: string) =>
  prepareImage({ catalog: () => catalog, health: newHealth() }, {
    id: "req_1",
    form: "images",
    model,
    caller: anyCaller,
    input: { form: "images", encoding: "json", fields: { prompt: "A boat" }, images: [] },
  } as unknown as ImageCall);

it("an offer whose vendor makes images only as tasks is left out, even if it is cheaper", () => {
  const { plan } = prepare("acme/make");
  expect(plan.explanation).toMatchObject({
    order: ["quick"],
    offers: [
      { provider: "slow", excluded: "its vendor makes images as tasks only" },
      { provider: "quick" },
    ],
  });
  expect(() => prepare("acme/later")).toThrow("No provider of the model");
});

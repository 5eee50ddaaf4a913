/** Checks of a provider that is added over the management API, rule by rule, and providers taken from a file. docs/management.md. */
import { describe, expect, it } from "vitest";
import { checkAdded } from "../../src/catalog/added-check.ts";
import { fileOf } from "../../src/catalog/added.ts";
import { modelNames } from "../../src/catalog/names.ts";
import { providerRows, type Catalog } from "../../src/catalog/index.ts";
import { catalogIn } from "../support/config-text.ts";

const nothing: Catalog = { providers: new Map(), models: new Map() };
const settings = { dialect: "openai-compatible", base_url: "https://p.example/v1" };
const key = { id: "default", apiKey: "sk-0123456789", weight: 1 };
const mistakesOf = (change: object, id = "p", credentials = [key]) =>
  checkAdded({ id, settings: { ...settings, ...change }, credentials }, nothing).map(
    ({ param, message }) => `${param} ${message}`,
  );

describe("an added provider", () => {
  it("has an id of at most 64 characters", () => {
    expect(mistakesOf({}, "p".repeat(64))).toEqual([]);
    expect(mistakesOf({}, "p".repeat(65))).toEqual(["id is longer than 64 characters"]);
  });

  const account = JSON.stringify({ type: "service_account", private_key: "k" });
  const machine = "only the configuration file may use the machine's own";
  it.each([
    [{ type: "aws" }, `auth.access_key_id is needed here; ${machine} credentials`],
    [
      { type: "aws", profile: "work" },
      "auth.profile is the machine's own, which only the configuration file may use; give access_key_id and secret_access_key",
    ],
    [{ type: "azure" }, `auth.client_secret is needed here; ${machine} identity`],
    [{ type: "google" }, "auth.service_account_key is needed here"],
    [{ type: "google", service_account_key: "/etc/key.json" }, "auth.service_account_key"],
    [{ type: "google", service_account_key: "{}" }, "auth.service_account_key is needed here"],
    [
      {
        type: "google",
        service_account_key: account.replace("service_account", "external_account"),
      },
      "auth.service_account_key is needed here",
    ],
  ])("may not use the machine's own identity: %j", (auth, said) => {
    const [first, ...others] = mistakesOf({ dialect: "openai-compatible", auth });
    expect(first).toContain(said);
    expect(others).toEqual([]);
  });

  it("is asked for no more if it brings its own identity", () => {
    const keys = { access_key_id: "id", secret_access_key: "0123456789" };
    const needed = (auth: object) =>
      mistakesOf({ auth }, "p", []).filter((mistake) => mistake.includes("is needed here"));
    expect(needed({ type: "aws", region: "us-east-1", ...keys })).toEqual([]);
    expect(needed({ type: "google", service_account_key: `\ufeff${account}\n` })).toEqual([]);
  });

  it("has no `credentials` in its row if it has none, and the word for a keyless one", () => {
    expect(fileOf({ id: "p", settings, credentials: [] }).providers).toEqual([
      { ...settings, id: "p" },
    ]);
    const [row] = fileOf({ id: "p", settings, credentials: [{ ...key, apiKey: "" }] }).providers;
    expect(row).toMatchObject({ credentials: [{ id: "default", api_key: "none", weight: 1 }] });
  });
});

describe("a provider of a file", () => {
  const file = `
providers:
  - { id: p, dialect: openai, base_url: "https://p.example/v1", api_key: k }
  - { id: q, dialect: openai, base_url: "https://q.example/v1", api_key: k }
models:
  - { id: a/b, offers: [{ provider: p, upstream_model: x }, { provider: q, upstream_model: y }] }
`;
  const rowOf = (id: string, text = file) => providerRows(text, id, { environment: {}, file: "f" });

  it("is taken with its models and its own offers alone", () => {
    expect(rowOf("q")).toMatchObject({
      row: {
        id: "q",
        base_url: "https://q.example/v1",
        models: [{ id: "a/b", offers: [{ provider: "q", upstream_model: "y" }] }],
      },
    });
    expect(rowOf("none")).toEqual({ row: undefined });
  });

  it("has no `models` if no model has an offer of it", () => {
    const { row } = rowOf("p", file.slice(0, file.indexOf("models:"))) as { row: object };
    expect(row).not.toHaveProperty("models");
    expect(row).toMatchObject({ id: "p" });
  });
});

it("a name is that of its model, of the longest pattern that it begins with, or of the default model", () => {
  const model = (id: string, aliases: string) =>
    `  - { id: ${id}, kind: text, context_length: 9, max_output_tokens: 9, aliases: ${aliases},
      offers: [{ provider: p, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }] }`;
  const catalog = catalogIn(`
providers: [{ id: p, dialect: openai-compatible, base_url: "https://p.example/v1", api_key: none }]
default_model: acme/rest
models:
${model("acme/long", "[gpt-5-*]")}
${model("acme/short", "[gpt-*, mine]")}
${model("acme/rest", "[other]")}
`);
  const names = modelNames(catalog);
  const asked = ["gpt-5-x", "gpt-4", "mine", "minex", "gpt-*", "acme/long"];
  expect(asked.map((name) => names.any(name))).toEqual([
    "acme/long",
    "acme/short",
    "acme/short",
    "acme/rest",
    "acme/short",
    "acme/long",
  ]);
  expect(["gpt-5-x", "gpt-*", "mine"].map((name) => names.whole(name))).toEqual([
    undefined,
    undefined,
    "acme/short",
  ]);
});

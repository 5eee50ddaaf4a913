/** Providers from file, variables and management API together: the operator's file has precedence. docs/models.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelNames } from "../../src/catalog/index.ts";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";
import { modelRow, must, providerBody } from "./support.ts";

const model = (id: string, provider: string, more = "") => `
  - id: ${id}
    kind: text
    context_length: 1000
    max_output_tokens: 100${more}
    offers: [{ provider: ${provider}, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }]`;
const provider = (id: string, key: string) =>
  `\n  - { id: ${id}, dialect: openai-compatible, base_url: "https://8.8.8.8/v1", api_key: ${key} }`;
const file = (providers: string, models: string) => `providers:${providers}\nmodels:${models}\n`;
const first = file(
  provider("own-openai", "${OPENAI_API_KEY}"),
  model("groq/llama-3.3-70b-versatile", "own-openai") +
    model("acme/named", "own-openai", "\n    aliases: [smart]"),
);

describe("the sources of providers", () => {
  let gateway: AdminGateway;
  beforeAll(async () => {
    gateway = await startAdminGateway({
      config: first,
      environment: { OPENAI_API_KEY: "k1", GROQ_API_KEY: "k2" },
    });
  });
  afterAll(() => gateway.close());

  const sources = () =>
    Object.fromEntries([...gateway.catalog().sources!].map(([id, { kind }]) => [id, kind]));
  const offersOf = (id: string) =>
    gateway
      .catalog()
      .models.get(id)
      ?.offers.map((offer) => offer.provider);

  it("combine a vendor's variable with the file, unless the file uses that variable itself", () => {
    expect(sources()).toEqual({ "own-openai": "file", groq: "environment" });
    expect(offersOf("openai/gpt-5.4")).toBeUndefined();
    expect(offersOf("groq/llama-3.1-8b-instant")).toEqual(["groq"]);
    // A model in the file has only the file's offers.
    expect(offersOf("groq/llama-3.3-70b-versatile")).toEqual(["own-openai"]);
  });

  it("refuse an added provider with an id of the file or a variable, and with names of other models", async () => {
    for (const [id, where] of [
      ["own-openai", "is defined in the configuration file, line 2; change it there."],
      ["groq", "comes from the environment's variables; change it there."],
    ] as const) {
      const { status, json } = await gateway.admin(
        "POST",
        "/providers",
        providerBody(id, "https://8.8.8.8"),
      );
      expect([status, json.error.code, json.error.param]).toEqual([409, "conflict", "id"]);
      expect(json.error.message).toBe(`The provider "${id}" ${where}`);
    }
    for (const row of [
      modelRow("acme/named", {
        kind: "embedding",
        max_output_tokens: undefined,
        offers: [{ upstream_model: "e", price: { input: "1" } }],
      }),
      modelRow("mine/one", { aliases: ["smart"] }),
      modelRow("mine/one", { aliases: ["acme/named"] }),
    ]) {
      const body = providerBody("mine", "https://8.8.8.8", { models: [row] });
      const { status, json } = await gateway.admin("POST", "/providers", body);
      expect([status, json.error.code]).toEqual([409, "conflict"]);
    }
  });

  it("hide an added provider while the file defines the same id", async () => {
    const body = providerBody("later", "https://8.8.8.8", {
      models: [modelRow("later/model"), modelRow("acme/named")],
    });
    must(await gateway.admin("POST", "/providers", body));
    expect(sources()["later"]).toBe("api");
    expect(offersOf("acme/named")).toEqual(["own-openai", "later"]);
    const path = join(gateway.directory, "tollgate.yaml");
    writeFileSync(path, first.replace("\nmodels:", `${provider("later", "k9")}\nmodels:`));
    await eventually(() => sources()["later"] === "file", "the file's provider");
    expect(offersOf("later/model")).toBeUndefined();
    expect(offersOf("acme/named")).toEqual(["own-openai"]);
    expect(gateway.catalog().providers.get("later")!.credentials[0]!.apiKey).toBe("k9");
    expect((await gateway.admin("DELETE", "/providers/later")).status).toBe(409);
    writeFileSync(path, first);
    await eventually(() => sources()["later"] === "api", "the added provider");
    expect(offersOf("acme/named")).toEqual(["own-openai", "later"]);
    must(await gateway.admin("DELETE", "/providers/later"));
  });

  it("leave out an added model while the file uses its id as an alias", async () => {
    const body = providerBody("mine", "https://8.8.8.8", { models: [modelRow("mine/fast")] });
    must(await gateway.admin("POST", "/providers", body));
    const meaning = () => modelNames(gateway.catalog()).any("mine/fast");
    expect(meaning()).toBe("mine/fast");
    const path = join(gateway.directory, "tollgate.yaml");
    writeFileSync(path, first.replace("[smart]", "[smart, mine/fast]"));
    await eventually(() => meaning() === "acme/named", "the alias of the file");
    writeFileSync(path, first);
    await eventually(() => meaning() === "mine/fast", "the added model");
    must(await gateway.admin("DELETE", "/providers/mine"));
  });
});

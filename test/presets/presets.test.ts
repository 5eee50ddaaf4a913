/** Every vendor by its variable alone, with its address at simulated vendors: models with prices, a call, its price. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { formatUsd } from "../../src/base/money.ts";
import {
  environmentCatalog,
  listedModels,
  localProviders,
  presetMistakes,
  shippedList,
  vendorRows,
  type Model,
  type TextModel,
} from "../../src/catalog/index.ts";
import { withoutFileVendors } from "../../src/catalog/presets.ts";
import { ledgerReaderOf } from "../money/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { allAt, every } from "./support.ts";

/** Vertex AI has no key: clouds.test.ts tests it. */
const vendors = vendorRows().filter(({ id }) => id !== "google-vertex");
/** Vendors whose prices the list does not have. */
const unpriced = new Set(["anyapi", "ollama-cloud", "sarvam", "snowflake-cortex", "the-grid-ai"]);
/** The `created` time of our own records. */
const ownRecords = 1_795_132_800;

describe("a vendor with only its variable set", () => {
  let upstream: Sandbox;
  let gateway: GatewayUnderTest;
  let listed: Map<string, { id: string; pricing?: unknown }>;

  beforeAll(async () => {
    upstream = await startSandbox({ host: "127.0.0.1", port: 0 });
    gateway = await startTestGateway({
      sandbox: "off",
      environment: { ...every("sandbox"), ...allAt(upstream.url) },
    });
    const { data } = (await (await gateway.get("/v1/models")).json()) as {
      data: { id: string }[];
    };
    listed = new Map(data.map((model) => [model.id, model]));
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** The vendor's text models, the dearest first, so that a call costs something if any model does. */
  const modelsOf = (id: string): TextModel[] =>
    [...gateway.catalog().models.values()]
      .flatMap((model) => (model.kind === "text" ? [model] : []))
      .filter(({ offers }) => offers.some(({ provider }) => provider === id))
      .sort((left, right) => Number(right.offers[0]!.price.output - left.offers[0]!.price.output));

  it("has no models if the list has no prices for it", () => {
    expect(vendors.map(({ id }) => id).filter((id) => modelsOf(id).length === 0)).toEqual([
      ...unpriced,
    ]);
  });

  it.each(vendors.filter(({ id }) => !unpriced.has(id)).map((row) => [row.variables[0], row.id]))(
    "lists its models with prices, and answers a call at its exact price: %s, %s",
    async (_variable, id) => {
      const models = modelsOf(id);
      expect(models.filter((model) => listed.get(model.id)?.pricing === undefined)).toEqual([]);
      // If a vendor has several paths, choose one that the simulated vendors have.
      const model = models.find(
        ({ offers: [offer] }) => id === "anthropic" || offer?.protocol !== "messages",
      )!;
      const { price, upstreamModel } = model.offers[0]!;
      const line = listedModels(shippedList(), new Set([id])).find(
        (one) => one.model === upstreamModel,
      );
      // The list does not have the prices of our own records.
      const said = model.created === ownRecords ? undefined : line?.price?.output;
      expect(formatUsd(price.output)).toBe(said ?? formatUsd(price.output));
      const response = await gateway.post("/v1/chat/completions", {
        model: model.id,
        max_tokens: 50,
        messages: [{ role: "user", content: "Hello!" }],
      });
      const answer = (await response.json()) as {
        usage: { prompt_tokens: number; completion_tokens: number };
      };
      expect({ status: response.status, answer }).toMatchObject({ status: 200 });
      const { prompt_tokens: input, completion_tokens: output } = answer.usage;
      const tokens = BigInt(input) * price.input + BigInt(output) * price.output;
      const row = await ledgerReaderOf(gateway.database).logRow(
        response.headers.get("x-request-id")!,
      );
      expect(row).toMatchObject({
        status: "succeeded",
        cost_nano: (tokens + 999_999n) / 1_000_000n + (price.request ?? 0n),
        usage_source: "upstream",
      });
    },
  );
});

describe("the variables of a vendor", () => {
  const addressOf = (environment: Record<string, string>, id = "mistral") =>
    environmentCatalog(environment).providers.get(id)?.baseUrl;

  it("set another address with ..._BASE_URL; an address without a path gets the vendor's path", () => {
    expect(addressOf({ MISTRAL_API_KEY: "k" })).toBe("https://api.mistral.ai/v1");
    const at = (address: string) => addressOf({ MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: address });
    expect(at("http://proxy:9000")).toBe("http://proxy:9000/v1");
    expect(at("http://proxy:9000/")).toBe("http://proxy:9000/v1");
    expect(at("http://proxy:9000/eu/v1/")).toBe("http://proxy:9000/eu/v1");
  });

  it("are reported without their value if they hold no address", () => {
    const environment = { MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: "user:password@host" };
    expect(presetMistakes(environment)).toEqual([
      "MISTRAL_BASE_URL is not an address such as https://api.mistral.ai/v1",
    ]);
    expect(presetMistakes({ MISTRAL_BASE_URL: "nonsense" })).toEqual([]);
    for (const address of ["https://user:password@host/v1", "https://password@host"]) {
      const named = { MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: address, OLLAMA_BASE_URL: address };
      const reason = "; a user and a password before the host would not be sent";
      expect(presetMistakes(named)).toEqual([
        `MISTRAL_BASE_URL is not an address such as https://api.mistral.ai/v1${reason}`,
      ]);
      expect(() => localProviders(named)).toThrow(
        `OLLAMA_BASE_URL is not an address such as http://127.0.0.1:11434${reason}`,
      );
    }
  });

  it("have aliases, and a vendor that needs several variables appears when all are set", () => {
    expect(addressOf({ GOOGLE_API_KEY: "k" }, "google")).toContain("generativelanguage");
    expect(addressOf({ CLOUDFLARE_API_KEY: "k" }, "cloudflare-workers-ai")).toBeUndefined();
    expect(
      addressOf({ CLOUDFLARE_API_KEY: "k", CLOUDFLARE_ACCOUNT_ID: "acc" }, "cloudflare-workers-ai"),
    ).toBe("https://api.cloudflare.com/client/v4/accounts/acc/ai/v1");
  });
});

it("a vendor whose variable the configuration file uses comes from the file alone, and others stay", () => {
  const environment = { OPENAI_API_KEY: "k", GROQ_API_KEY: "k" };
  const brought = environmentCatalog(environment);
  const rest = withoutFileVendors(brought, environment, new Set(["OPENAI_API_KEY"]));
  const isOf = (vendor: string) => (model: Model) => model.offers[0]?.provider === vendor;
  expect([...rest.providers.keys()]).toEqual(["groq"]);
  expect(rest.models.size).toBeGreaterThan(0);
  expect([...rest.models.values()]).toEqual([...brought.models.values()].filter(isOf("groq")));
  expect([...(rest.unpriced ?? [])].filter(([, { provider }]) => provider !== "groq")).toEqual([]);
  expect(withoutFileVendors(brought, environment, new Set(["OTHER"]))).toBe(brought);
});

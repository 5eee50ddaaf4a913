/**
 * Clouds configured by the variables of their own programs: models with prices, a call by key, by signature and by token, its
 * price.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { environmentCatalog, vendorStates } from "../../src/catalog/index.ts";
import { ledgerReaderOf } from "../money/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { allAt } from "./support.ts";

const region = { AWS_REGION: "us-east-1" };
const keys = { AWS_ACCESS_KEY_ID: "AKIASANDBOX", AWS_SECRET_ACCESS_KEY: "sandbox-secret" };

let upstream: Sandbox;
const gateways: GatewayUnderTest[] = [];
const directory = mkdtempSync(join(tmpdir(), "tollgate-presets-"));
const keyFile = join(directory, "key.json");

async function gatewayWith(environment: Record<string, string>): Promise<GatewayUnderTest> {
  const gateway = await startTestGateway({
    sandbox: "off",
    environment: { ...environment, ...allAt(upstream.url) },
  });
  gateways.push(gateway);
  return gateway;
}

/** Makes a call. Returns its answer, its cost, and the paths of the vendor's requests. */
async function call(gateway: GatewayUnderTest, model: string) {
  await fetch(`${upstream.url}/__journal`, { method: "DELETE" });
  const response = await gateway.post("/v1/chat/completions", {
    model,
    max_tokens: 50,
    messages: [{ role: "user", content: "Hello!" }],
  });
  const answer = (await response.json()) as {
    usage?: { prompt_tokens: number; completion_tokens: number };
  };
  const [offer] = gateway.catalog().models.get(model)!.offers;
  const price = offer!.price as { input: bigint; output: bigint };
  const { prompt_tokens: input = 0, completion_tokens: output = 0 } = answer.usage ?? {};
  const product = BigInt(input) * price.input + BigInt(output) * price.output;
  const row = await ledgerReaderOf(gateway.database).logRow(response.headers.get("x-request-id")!);
  const { data } = (await (await fetch(`${upstream.url}/__journal`)).json()) as {
    data: { path: string }[];
  };
  return {
    status: response.status,
    answer,
    cost: row?.cost_nano,
    expected: (product + 999_999n) / 1_000_000n,
    paths: data.map(({ path }) => decodeURIComponent(path)),
  };
}

beforeAll(async () => {
  upstream = await startSandbox({ host: "127.0.0.1", port: 0 });
  const key = await fetch(`${upstream.url}/vertex/service-account.json`);
  writeFileSync(keyFile, await key.text());
  process.env["GOOGLE_APPLICATION_CREDENTIALS"] = keyFile;
});
afterAll(async () => {
  delete process.env["GOOGLE_APPLICATION_CREDENTIALS"];
  for (const gateway of gateways) await gateway.close();
  await upstream.close();
  rmSync(directory, { recursive: true });
});

/** One model of each of Bedrock's three APIs, and the path of its requests. */
const ways = [
  ["amazon-bedrock/amazon.nova-2-lite-v1-0", "/model/amazon.nova-2-lite-v1:0/converse"],
  ["amazon-bedrock/us.anthropic.claude-opus-4-8", "/model/us.anthropic.claude-opus-4-8/invoke"],
  ["amazon-bedrock/openai.gpt-5.5", "/mantle/openai/v1/responses"],
] as const;

describe.each([
  ["a Bedrock key", { AWS_BEARER_TOKEN_BEDROCK: "sandbox" }],
  ["AWS's own keys", keys],
])("Bedrock with %s", (_how, credential) => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await gatewayWith({ ...region, ...credential });
  });

  it("lists its models, each with a price", async () => {
    const { data } = (await (await gateway.get("/v1/models")).json()) as {
      data: { id: string; pricing?: unknown }[];
    };
    expect(data.length).toBeGreaterThan(90);
    expect(data.filter(({ id }) => !id.startsWith("amazon-bedrock/"))).toEqual([]);
    expect(data.filter(({ pricing }) => pricing === undefined)).toEqual([]);
  });

  it.each(ways)("answers %s by %s at its exact price", async (model, path) => {
    const { status, answer, cost, expected, paths } = await call(gateway, model);
    expect({ status, answer }).toMatchObject({ status: 200 });
    expect(cost).toBe(expected);
    expect(cost).toBeGreaterThan(0n);
    expect(paths).toEqual([expect.stringContaining(path)]);
  });
});

/** The count request to the vendor, and the number in the gateway's answer. */
async function counted(gateway: GatewayUnderTest, path: string, body: object) {
  await fetch(`${upstream.url}/__journal`, { method: "DELETE" });
  const answer = await gateway.post(path, body);
  const { input_tokens: input, totalTokens } = (await answer.json()) as {
    input_tokens?: number;
    totalTokens?: number;
  };
  const { data } = (await (await fetch(`${upstream.url}/__journal`)).json()) as {
    data: { path: string; status: number; body: { input: Record<string, unknown> } }[];
  };
  return { tokens: input ?? totalTokens, asked: data };
}

describe.each([
  ["a Bedrock key", { AWS_BEARER_TOKEN_BEDROCK: "sandbox" }],
  ["signatures", keys],
])("Bedrock's CountTokens with %s", (_how, credential) => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await gatewayWith({ ...region, ...credential });
  });
  const messages = [{ role: "user", content: "How long is this, all in all?" }];
  const system = "Be brief.";
  const tools = [{ name: "look", description: "Looks.", input_schema: { type: "object" } }];
  const claude = "amazon-bedrock/us.anthropic.claude-opus-4-8";
  const nova = "amazon-bedrock/amazon.nova-2-lite-v1-0";

  it("T52: sends the invoke body for Claude, with all that the model reads", async () => {
    const body = { model: claude, messages, system, tools };
    const { tokens, asked } = await counted(gateway, "/v1/messages/count_tokens", body);
    expect(asked).toMatchObject([
      { path: expect.stringMatching(/us\.anthropic\.claude-opus-4-8\/count-tokens$/), status: 200 },
    ]);
    const { body: bytes } = asked[0]!.body.input["invokeModel"] as { body: string };
    expect(JSON.parse(Buffer.from(bytes, "base64").toString())).toEqual({
      max_tokens: 1,
      anthropic_version: "bedrock-2023-05-31",
      messages,
      system,
      tools,
    });
    const longer = {
      ...body,
      messages: [...messages, { role: "assistant", content: "word ".repeat(99) }, ...messages],
    };
    const more = await counted(gateway, "/v1/messages/count_tokens", longer);
    expect(more.tokens! - tokens!).toBeGreaterThan(90);
  });

  it("sends a max_tokens above the thinking budget for Claude, as a call would", async () => {
    // Newer models of Claude think without a budget.
    const model = "amazon-bedrock/us.anthropic.claude-haiku-4-5-20251001-v1-0";
    const body = { model, messages, thinking: { type: "enabled", budget_tokens: 2048 } };
    const { asked } = await counted(gateway, "/v1/messages/count_tokens", body);
    const { body: bytes } = asked[0]!.body.input["invokeModel"] as { body: string };
    expect(JSON.parse(Buffer.from(bytes, "base64").toString())).toMatchObject({ max_tokens: 2049 });
  });

  it.each([
    ["/v1/messages/count_tokens", { model: nova, messages, system, tools, temperature: 1 }],
    [
      `/v1beta/models/${nova}:countTokens`,
      {
        generateContentRequest: {
          contents: [{ role: "user", parts: [{ text: messages[0]!.content }] }],
          systemInstruction: { parts: [{ text: system }] },
          tools: [
            {
              functionDeclarations: [
                { name: "look", description: "Looks.", parameters: { type: "object" } },
              ],
            },
          ],
        },
      },
    ],
  ])("T52: sends a Converse model's request for %s in Converse's format", async (path, body) => {
    const { tokens, asked } = await counted(gateway, path, body);
    expect(asked).toMatchObject([{ path: expect.stringContaining("/count-tokens"), status: 200 }]);
    expect(Object.keys(asked[0]!.body.input["converse"] as object).sort()).toEqual([
      "messages",
      "system",
      "toolConfig",
    ]);
    expect(tokens).toBeGreaterThan(5);
  });

  it("is replaced by an estimate if the model has no such endpoint, or its request cannot be sent", async () => {
    const at = (model: string) =>
      counted(gateway, "/v1/messages/count_tokens", { model, messages });
    const mantle = await at("amazon-bedrock/openai.gpt-5.5");
    expect([mantle.asked, mantle.tokens! > 5]).toEqual([[], true]);
    const picture = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
    const refused = await counted(gateway, "/v1/messages/count_tokens", {
      model: nova,
      messages: [{ role: "user", content: [picture] }],
    });
    expect([refused.asked, refused.tokens! > 1_000]).toEqual([[], true]);
  });
});

describe("Vertex AI with its variables", () => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await gatewayWith({
      GOOGLE_APPLICATION_CREDENTIALS: keyFile,
      GOOGLE_CLOUD_PROJECT: "sandbox-project",
      GOOGLE_CLOUD_LOCATION: "us-central1",
    });
  });

  it.each([
    [
      "google-vertex/gemini-3.5-flash",
      "/publishers/google/models/gemini-3.5-flash:generateContent",
    ],
    [
      "google-vertex/claude-sonnet-5@default",
      "/publishers/anthropic/models/claude-sonnet-5@default",
    ],
    ["google-vertex/openai/gpt-oss-120b-maas", "/endpoints/openapi/chat/completions"],
  ])("answers %s by %s at its exact price", async (model, path) => {
    const { status, answer, cost, expected, paths } = await call(gateway, model);
    expect({ status, answer }).toMatchObject({ status: 200 });
    expect(cost).toBe(expected);
    expect(cost).toBeGreaterThan(0n);
    expect(paths).toEqual([expect.stringContaining(path)]);
  });
});

describe("the variables of a cloud", () => {
  const stateOf = (id: string, environment: Record<string, string>) =>
    vendorStates(environment, "").find((state) => state.id === id)!;
  const authOf = (environment: Record<string, string>, id = "amazon-bedrock") =>
    environmentCatalog(environment).providers.get(id)?.access?.auth;

  it("are listed as missing if unset, with the alternative variables of the vendor", () => {
    const state = stateOf("amazon-bedrock", {});
    expect(state.missing).toEqual(["AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION"]);
    expect(state.aliases).toContain("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  });

  it("are incomplete with half a key pair or without a region", () => {
    expect(stateOf("amazon-bedrock", { ...region, AWS_ACCESS_KEY_ID: "a" }).active).toBe(false);
    expect(stateOf("amazon-bedrock", keys)).toMatchObject({
      active: false,
      missing: ["AWS_REGION"],
    });
    // A signature contains the region, so it is required with any address.
    const elsewhere = { ...keys, BEDROCK_BASE_URL: "http://127.0.0.1:1" };
    expect(stateOf("amazon-bedrock", elsewhere).missing).toEqual(["AWS_REGION"]);
    expect(stateOf("amazon-bedrock", { ...keys, ...region }).active).toBe(true);
  });

  it("prefer a Bedrock key to AWS keys, which sign for the address's region and service", () => {
    expect(authOf({ ...region, ...keys, AWS_BEARER_TOKEN_BEDROCK: "b" })).toBeUndefined();
    expect(authOf({ ...region, ...keys })).toMatchObject({
      region: "us-east-1",
      service: "bedrock",
    });
    expect(authOf({ ...region, ...keys }, "amazon-bedrock-mantle")).toMatchObject({
      service: "bedrock-mantle",
    });
    const role = { AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/token" };
    expect(authOf({ ...region, ...role })).toEqual({
      type: "aws",
      region: "us-east-1",
      service: "bedrock",
    });
  });

  it("select the domain of Amazon's European Sovereign Cloud, and sign for its region", () => {
    const { providers } = environmentCatalog({
      AWS_REGION: "eusc-de-east-1",
      AWS_PROFILE: "models",
    });
    expect(providers.get("amazon-bedrock")).toMatchObject({
      baseUrl: "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu",
      access: { auth: { region: "eusc-de-east-1", service: "bedrock" } },
    });
  });

  it("select Vertex's own addresses for the global location and for groups of regions, and a switch set to false turns Vertex off", () => {
    const place = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "global" };
    const on = environmentCatalog({ ...place, GOOGLE_GENAI_USE_VERTEXAI: "true" });
    expect(on.providers.get("google-vertex")?.baseUrl).toBe(
      "https://aiplatform.googleapis.com/v1/projects/p/locations/global",
    );
    const grouped = { ...place, GOOGLE_CLOUD_LOCATION: "eu", GOOGLE_GENAI_USE_VERTEXAI: "true" };
    expect(environmentCatalog(grouped).providers.get("google-vertex")?.baseUrl).toBe(
      "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu",
    );
    const off = environmentCatalog({ ...place, GOOGLE_GENAI_USE_VERTEXAI: "false" });
    expect(off.providers.size).toBe(0);
  });
});

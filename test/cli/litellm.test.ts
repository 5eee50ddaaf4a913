/** `tollgate convert litellm`: its output passes the check and serves calls, and every input field is accounted for. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { convertLitellm, type Converted } from "../../src/cli/litellm/convert.ts";
import { perMillion } from "../../src/cli/litellm/prices.ts";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { patiently } from "../support/patience.ts";

const samples = new URL("litellm/", import.meta.url).pathname;
const names = readdirSync(samples);
const textOf = (name: string): string => readFileSync(join(samples, name), "utf8");

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-litellm-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Row {
  readonly id: string;
  readonly [name: string]: unknown;
}
interface File {
  readonly providers: readonly Row[];
  readonly models: readonly (Row & { readonly offers: readonly Row[] })[];
  readonly [name: string]: unknown;
}

function converted(name: string): Converted & { readonly file: File } {
  const result = convertLitellm(textOf(name), name);
  return { ...result, file: parse(result.config) as File };
}
const modelOf = ({ file }: { file: File }, id: string) =>
  file.models.find((model) => model.id === id)!;
const notesOf = ({ rows }: Converted, field: string) =>
  rows.filter((row) => row.field === field).map(({ outcome, note }) => `${outcome}: ${note ?? ""}`);

/** The paths of all leaves of a value. */
function fieldsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value))
    return value.flatMap((each, index) => fieldsOf(each, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, each]) =>
    fieldsOf(each, path === "" ? name : `${path}.${name}`),
  );
}

describe.each(names)("%s", (name) => {
  it("is converted to a file that passes the check, and no output contains a secret of the input", async () => {
    const out = join(directory, name);
    const printed = await tollgateHere(
      ["convert", "litellm", join(samples, name), "--out", out],
      {},
    );
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    const json = await tollgateHere(["convert", "litellm", join(samples, name), "--json"], {});
    const { variables } = JSON.parse(json.stdout) as Converted;
    const config = readFileSync(out, "utf8");
    const all = [config, printed.stdout, json.stdout, json.stderr].join("\n");
    expect(textOf(name)).toMatch(/marked-secret|wildcards|star/);
    expect(all).not.toContain("marked-secret");
    const environment = Object.fromEntries(
      variables.map((variable) => [
        variable.name,
        config.includes(`base_url: \${${variable.name}}`) ? "https://x.example.com/v1" : "x",
      ]),
    );
    const check = await tollgateHere(["config", "check", "--config", out], environment);
    expect(check).toMatchObject({ code: 0, stderr: "" });
    for (const variable of variables) expect(printed.stdout).toContain(`  ${variable.name}`);
  });

  it("is reported field by field", () => {
    const { rows } = converted(name);
    const reported = rows.map(({ field }) => field);
    const isReported = (field: string): boolean =>
      reported.some(
        (one) => one === field || field.startsWith(`${one}.`) || field.startsWith(`${one}[`),
      );
    const left = fieldsOf(parse(textOf(name))).filter((field) => !isReported(field));
    expect(left.filter((field) => !/^credential_list\[\d+\]\.credential_/.test(field))).toEqual([]);
    for (const { outcome, becomes, note } of rows)
      expect(outcome === "taken_over" ? becomes : note).toBeTruthy();
  });
});

it("the converter balances by rpm, keeps names as aliases, and sets fallbacks", () => {
  const result = converted("balanced.yaml");
  const gpt = modelOf(result, "azure/gpt-4o");
  expect(gpt).toMatchObject({
    aliases: ["gpt-4o"],
    fallbacks: ["anthropic/claude"],
    offers: [
      { provider: "azure", upstream_model: "gpt-4o-north", protocol: "chat", weight: 60 },
      { provider: "azure-south-2", upstream_model: "gpt-4o-south", weight: 20 },
    ],
  });
  expect(gpt.offers[0]!["price"]).toMatchObject({ input: "2.5", output: "10" });
  expect(result.file.providers).toMatchObject([
    {
      base_url: "https://north-1.openai.azure.com/openai",
      query: { "api-version": "2024-10-21" },
      api_key: "${AZURE_KEY_NORTH}",
      timeouts: { total_s: 300 },
    },
    { base_url: "https://south-2.openai.azure.com/openai/v1", api_key: "${AZURE_API_KEY}" },
    { id: "anthropic", dialect: "anthropic", api_key: "${ANTHROPIC_API_KEY}" },
    { base_url: "http://10.0.0.7:8000/v1", api_key: "none" },
  ]);
  expect(modelOf(result, "openai/house-model-large")).toMatchObject({
    context_length: 32768,
    max_output_tokens: 4096,
    offers: [{ price: { input: "0", output: "0" }, protocol: "chat" }],
  });
  expect(result.variables.filter(({ literal }) => literal).map(({ name }) => name)).toEqual([
    "ANTHROPIC_API_KEY",
    "AZURE_API_KEY",
  ]);
  expect(notesOf(result, "general_settings.master_key")).toEqual([
    expect.stringContaining("TOLLGATE_ADMIN_TOKEN"),
  ]);
});

it("the converter expands a vendor's wildcard to its models, and reports a wildcard for all vendors", () => {
  const result = converted("wildcards.yaml");
  const ids = result.file.models.map(({ id }) => id);
  expect(ids.filter((id) => id.startsWith("openai/gpt")).length).toBeGreaterThan(5);
  expect(ids.filter((id) => id === "openai/gpt-4o")).toHaveLength(1);
  expect(ids.filter((id) => id.startsWith("anthropic/claude")).length).toBeGreaterThan(3);
  const deep = result.file.models.filter(({ id }) => id.startsWith("deepseek/deep-deepseek"));
  expect(deep[0]!["aliases"]).toEqual([deep[0]!.id.slice("deepseek/".length)]);
  expect(notesOf(result, "model_list[4].litellm_params.model")).toEqual([
    expect.stringContaining("name each model"),
  ]);
  expect(notesOf(result, "model_list[5].litellm_params.model")).toEqual([
    expect.stringContaining("tollgate vendors"),
  ]);
  const aliased = (id: string) => result.file.models.find((model) => model.id === id)!["aliases"];
  expect(aliased("openai/gpt-4o-mini")).toEqual(["small"]);
  expect(aliased("openai/gpt-4o")).toContain("named");
  expect(deep.flatMap(({ aliases }) => aliases as string[])).toContain("deep");
  const aliasNotes = (alias: string) =>
    notesOf(result, `router_settings.model_group_alias.${alias}`);
  expect(aliasNotes("many")).toEqual([expect.stringContaining("many models here: name one")]);
  expect(aliasNotes("anybody")).toEqual([expect.stringContaining("models of * alone")]);
  expect(aliasNotes("openai/gpt-5")).toEqual([expect.stringContaining("is another model's")]);
});

it("the converter knows addresses, identities and protocols of the clouds", () => {
  const result = converted("clouds.yaml");
  const provider = (id: string) => result.file.providers.find((one) => one.id === id);
  expect(provider("azure")).toMatchObject({
    base_url: "${AZURE_SHARED_BASE}/openai/v1",
    api_key: "${AZURE_API_KEY}",
  });
  expect(provider("azure-id-3")).toMatchObject({
    base_url: "https://id-3.openai.azure.com/openai/v1",
    auth: { type: "azure", tenant_id: "t-1", client_id: "c-1", client_secret: "${CLIENT_SECRET}" },
  });
  expect(provider("bedrock")).toMatchObject({
    base_url: "https://bedrock-runtime.us-east-1.amazonaws.com",
    auth: { type: "aws", region: "us-east-1", access_key_id: "${AWS_ACCESS_KEY_ID}" },
  });
  expect(modelOf(result, "bedrock/sonnet").offers).toMatchObject([
    {
      protocol: "messages",
      upstream_model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      price: { input: "3.3", cache_read: "0.33", output: "16.5" },
    },
  ]);
  expect(modelOf(result, "vertex/flash-eu").offers).toMatchObject([
    { upstream_model: "gemini-3.5-flash", price: { input: "1.65", output: "9.9" } },
  ]);
  expect(modelOf(result, "bedrock/titan").offers).toMatchObject([
    { protocol: "converse", price: { input: "0.8", output: "1.6" } },
  ]);
  expect(provider("vertex")).toMatchObject({
    base_url: "https://aiplatform.googleapis.com/v1/projects/project-1/locations/global",
    auth: { type: "google", service_account_key: "/etc/keys/project-1.json" },
  });
  const addresses = result.file.providers.map(({ base_url: address }) => address);
  expect(addresses).toContain(
    "https://aiplatform.eu.rep.googleapis.com/v1/projects/project-2/locations/eu",
  );
  expect(addresses).toContain("https://bedrock-runtime.eusc-de-east-1.amazonaws.eu");
  expect(provider("azure-ai")).toMatchObject({
    base_url: "https://foundry-4.services.ai.azure.com/anthropic/v1",
  });
  expect(notesOf(result, "router_settings.routing_strategy")).toEqual([
    expect.stringContaining("routing.sort to latency"),
  ]);
});

it("the converter takes over order, other names, headers and exact prices", () => {
  const result = converted("routing.yaml");
  const chat = modelOf(result, "groq/chat");
  expect(chat).toMatchObject({
    aliases: ["chat", "gpt-4"],
    fallbacks: ["mistral/second"],
    offers: [
      { provider: "groq", weight: 3 },
      { provider: "togetherai", weight: 0 },
      {
        provider: "openai-models",
        weight: 1,
        price: { input: "1.25", output: "10", cache_read: "0.125" },
      },
    ],
  });
  expect(modelOf(result, "mistral/second")).toMatchObject({
    aliases: ["second", "hidden"],
    fallbacks: ["groq/chat"],
  });
  expect(modelOf(result, "openai/embed")).toMatchObject({ kind: "embedding" });
  expect(modelOf(result, "openai/no-price")).toBeUndefined();
  expect(notesOf(result, "model_list[4].litellm_params.model")).toContainEqual(
    expect.stringContaining("input_cost_per_token"),
  );
  expect(result.file).toMatchObject({
    default_model: "groq/chat",
    limits: { body_mb: 20 },
    retention: { request_log_days: 30 },
  });
  const house = result.file.providers.find(({ id }) => id === "openai-models")!;
  expect(house).toMatchObject({
    base_url: "https://models.example.com/v1",
    query: { tier: "gold", token: "${HEADER_TOKEN}" },
    headers: {
      "X-Team": "search",
      "X-Api-Key": "${HEADER_X_API_KEY}",
      "X-Trace": "${HEADER_X_TRACE}",
    },
  });
  const timeouts = result.file.providers.map((one) => one["timeouts"]);
  expect(timeouts).toContainEqual({ total_s: 20, first_byte_s: 4.5 });
  expect(timeouts).toContainEqual({ total_s: 600 });
});

it("the converter computes prices per million tokens without floating point", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.integer({ min: 0, max: 15 }),
      (digits, decimals) => {
        const text = digits.toString().padStart(decimals + 1, "0");
        const cut = text.length - decimals;
        const plain = decimals === 0 ? text : `${text.slice(0, cut)}.${text.slice(cut)}`;
        expect(perMillion(`${digits}e-${decimals}`)).toBe(perMillion(plain));
        const [whole, fraction = ""] = perMillion(plain)!.split(".");
        expect(BigInt(whole! + fraction.padEnd(9, "0"))).toBe(
          (digits * 10n ** 15n) / 10n ** BigInt(decimals),
        );
      },
    ),
  );
  for (const text of ["", ".", "free", "-1", "1e", "0x1", "NaN"])
    expect(perMillion(text)).toBeUndefined();
});

describe("wrong input: exit 2 and one line", () => {
  it.each([
    ["not a mapping", "just a text", "holds no settings"],
    ["not YAML", "a: [1", "is not valid YAML"],
    [
      "aliases without end",
      `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi"
        .split("")
        .map((one, index) => `${one}: &${one} [${`*${"abcdefghi"[index]!},`.repeat(9)}]`)
        .join("\n")}`,
      "is not valid YAML",
    ],
  ])("%s", async (_what, text, line) => {
    const file = join(directory, "wrong.yaml");
    writeFileSync(file, text);
    const { code, stdout, stderr } = await tollgateHere(["convert", "litellm", file], {});
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(line);
  });

  it("an existing file is not replaced without --force", async () => {
    const out = join(directory, "there.yaml");
    writeFileSync(out, "mine");
    const words = ["convert", "litellm", join(samples, "balanced.yaml"), "--out", out];
    expect(await tollgateHere(words, {})).toMatchObject({ code: 2 });
    expect(readFileSync(out, "utf8")).toBe("mine");
    expect(await tollgateHere([...words, "--force"], {})).toMatchObject({ code: 0 });
    expect(readFileSync(out, "utf8")).toContain("providers:");
  });

  it("input without any convertible model: exit 1, and nothing is written", async () => {
    const file = join(directory, "empty.yaml");
    writeFileSync(file, "model_list:\ngeneral_settings:\n  master_key: x");
    const { code, stdout, stderr } = await tollgateHere(["convert", "litellm", file], {});
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("No model could be converted");
  });
});

describe("a gateway that starts with a converted file", () => {
  let sandbox: Sandbox;
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, host: "127.0.0.1" });
    const config = `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_base: ${sandbox.url}/openai/v1, api_key: marked-secret-key,
      input_cost_per_token: 2.5e-06, output_cost_per_token: 0.00001 }
  - { model_name: broken, litellm_params: { model: openai/gpt-4o, api_base: "http://127.0.0.1:9/v1", api_key: none } }
  - { model_name: claude-3, litellm_params: { model: anthropic/claude-sonnet-4-5, api_base: ${sandbox.url}/anthropic, api_key: os.environ/CLAUDE_KEY } }
  - { model_name: vectors, litellm_params: { model: text-embedding-3-small, api_base: ${sandbox.url}/openai/v1, api_key: os.environ/CLAUDE_KEY } }
litellm_settings: { fallbacks: [{ broken: [gpt-4o] }] }
router_settings: { model_group_alias: { gpt-4: gpt-4o } }
`;
    const { config: text, variables } = convertLitellm(config, "config.yaml");
    const environment = Object.fromEntries(variables.map(({ name }) => [name, "sandbox"]));
    gateway = await startTestGateway({ config: text, environment });
    await gateway.credit("10");
  });
  afterAll(async () => {
    await gateway.close();
    await sandbox.close();
  });

  const ask = async (model: string) => {
    const messages = [{ role: "user", content: "Hi" }];
    const answer = await gateway.post("/v1/chat/completions", { model, messages });
    const body = (await answer.json()) as {
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    expect({ status: answer.status, body }).toMatchObject({ status: 200 });
    return { answer, body };
  };

  it("answers under the earlier names and fallbacks, at the earlier prices", async () => {
    const { answer, body } = await ask("gpt-4");
    const { prompt_tokens: input, completion_tokens: output } = body.usage;
    const nanos = BigInt(input) * 2_500n + BigInt(output) * 10_000n;
    const id = answer.headers.get("x-request-id")!;
    await vi.waitFor(async () => {
      const rows = await gateway.database.query<{ amount_nano: bigint }>(
        "select amount_nano from ledger_entries where reference = $1 and kind = 'charge'",
        [id],
      );
      expect(rows.map(({ amount_nano }) => amount_nano)).toEqual([nanos]);
    }, patiently);
    await ask("gpt-4o");
    await ask("broken");
    await ask("claude-3");
    const vectors = await gateway.post("/v1/embeddings", { model: "vectors", input: "Hi" });
    expect(vectors.status).toBe(200);
  });
});

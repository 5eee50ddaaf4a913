/** Access settings of single providers in the configuration file: which are refused, the place in the error, and what is printed. */
import { expect, it } from "vitest";
import { printConfig } from "../../src/catalog/index.ts";
import { configIn, mistakesIn } from "../support/config-text.ts";

const environment = { KEY: "the-key-itself-1234", OWN: "own-header-secret-5678" };

const fileOf = (lines: readonly string[]): string =>
  [
    "providers:",
    "  - id: p",
    "    dialect: openai-compatible",
    "    base_url: https://api.example.com/v1",
    "    api_key: ${KEY}",
    ...lines.map((line) => `    ${line}`),
    "",
  ].join("\n");

it.each([
  ["auth: { type: header }", "auth.name: missing; name the header"],
  ["auth: { type: bearer, name: x }", "auth.name: does not go with bearer; remove it"],
  ["auth: { type: magic }", '"magic" is not known'],
  ["auth: { kind: bearer }", "unknown key"],
  ['headers: { "a b": c }', "is not a header's name"],
  ["headers: { Host: c }", "cannot be set"],
  ['headers: { x: "a\\nb" }', "has a character that no header can have"],
  ["paths: { chatt: /x }", 'is no protocol; did you mean "chat"'],
  ["paths: { chat: x }", "is no path"],
  ['paths: { chat: "/x/{modell}" }', "has {modell}; allowed: {model}"],
  ["request: { add: { model: m } }", "is the gateway's own"],
  ["request: { add: { a: 1 }, remove: [a] }", "is removed as well"],
])("the access setting %s is refused with its line", (line, message) => {
  const text = mistakesIn(fileOf([line]), environment).join("\n");
  expect(text).toContain(message);
  expect(text).toContain("tollgate.yaml:6:");
});

const azure = (url: string, line = "") =>
  `providers:\n  - { id: p, dialect: azure, base_url: "${url}"${line} }\n`;
const current = "https://r.openai.azure.com/openai/v1";

it.each([
  ["https://r.openai.azure.com", "", "is no address of azure; write https://RESOURCE"],
  ["https://r.openai.azure.com/openai", "", "query.api-version: missing"],
  [current, ", auth: { type: azure, client_secret: s }", "auth.tenant_id: missing"],
  [current, ", api_key: ${KEY}, auth: { type: azure }", "api_key: does not go with auth"],
  [current, ", auth: { type: azure, region: x }", "auth.region: does not go with azure"],
  [current, ", auth: { type: bearer }", "api_key: missing"],
])("azure at %s%s is refused", (url, line, message) => {
  expect(mistakesIn(azure(url, line), environment).join("\n")).toContain(message);
});

it("vertex needs a project and a location in its address", () => {
  const text = azure("https://aiplatform.googleapis.com/v1").replace("azure", "vertex");
  expect(mistakesIn(text, environment).join("\n")).toContain(
    "is no address of vertex; write https://LOCATION-aiplatform.googleapis.com",
  );
});

it("a key of Vertex's express mode has an address without a project, at Google's one host for it", () => {
  const at = (url: string): string[] =>
    mistakesIn(azure(url, ", api_key: ${KEY}").replace("azure", "vertex"), environment);
  expect(at("https://aiplatform.googleapis.com/v1")).toEqual([]);
  expect(at("https://us-central1-aiplatform.googleapis.com/v1").join("\n")).toContain(
    "is no address of vertex",
  );
});

it.each([
  ["https://bedrock-runtime.us-east-1.amazonaws.com", "us-east-1", "bedrock"],
  ["https://bedrock-mantle.eu-central-1.api.aws/v1", "eu-central-1", "bedrock-mantle"],
  ["https://bedrock-runtime.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1", "bedrock"],
  ["https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1", "bedrock"],
  ["https://bedrock-runtime.us-isob-east-1.sc2s.sgov.gov", "us-isob-east-1", "bedrock"],
])("bedrock at %s without a key is signed for its region and service", (url, region, service) => {
  const text = azure(url).replace("dialect: azure", "dialect: bedrock");
  const config = configIn(text, environment);
  const { access } = config.catalog.providers.get("p")!;
  expect(access?.auth).toMatchObject({ type: "aws", region, service });
});

it("bedrock at an address without a region asks for the region", () => {
  const text = azure("http://localhost:1/bedrock").replace("dialect: azure", "dialect: bedrock");
  expect(mistakesIn(text, environment).join("\n")).toContain(
    "auth: missing: this address names no region; write auth: { type: aws",
  );
});

it("azure without a key uses the machine's identity", () => {
  const config = configIn(azure(current), environment);
  expect(config.catalog.providers.get("p")).toMatchObject({
    credentials: [{ apiKey: "" }],
    access: { auth: { type: "azure" } },
  });
});

it("access settings are printed as written, without their secrets, and read back unchanged", () => {
  const lines = [
    "auth: { type: query, name: key }",
    "headers: { X-Own-Key: ${OWN}, X-Title: t }",
    "query: { token: plain-secret-in-the-file, v: one }",
    "paths: { chat: /x }",
    "request: { add: { a: { b: 1 } }, remove: [user] }",
  ];
  const config = configIn(fileOf(lines), environment);
  const printed = printConfig(config);
  expect(printed).toContain("X-Own-Key: ${OWN}");
  expect(printed).not.toMatch(/own-header-secret|plain-secret-in/);
  const again = configIn(printed.replace(/\*{4}\w+/, "plain-secret-in-the-file"), environment);
  expect(again.catalog.providers).toEqual(config.catalog.providers);
});

const converse = (provider: string) =>
  [
    "providers:",
    `  - { id: p, api_key: "\${KEY}", ${provider} }`,
    "models:",
    "  - id: amazon/nova",
    "    kind: text",
    "    context_length: 1000",
    "    max_output_tokens: 100",
    "    offers:",
    '      - { provider: p, protocol: converse, upstream_model: n, price: { input: "1", output: "1" } }',
    "",
  ].join("\n");
const runtime = "https://bedrock-runtime.us-east-1.amazonaws.com";

it.each([
  [
    `dialect: openai-compatible, base_url: "${runtime}"`,
    'the provider "p" does not speak converse',
  ],
  [`dialect: bedrock, base_url: "${runtime}/openai/v1"`, 'the address of "p" does not speak'],
  [`dialect: bedrock, base_url: "${runtime}"`, "accepted"],
])("an offer of converse at %s is checked", (provider, message) => {
  const text = mistakesIn(converse(provider), environment).join("\n") || "accepted";
  expect(text).toContain(message);
});

const picture = (auth: string) =>
  [
    "providers:",
    `  - { id: p, dialect: openai, base_url: "https://api.example.com/v1", ${auth} }`,
    "models:",
    "  - id: acme/painter",
    "    kind: image",
    "    family: image-a",
    "    offers:",
    "      - provider: p",
    "        upstream_model: n",
    '        price: { input: "1", image_input: "1", output: "1", image_output: "1" }',
    "",
  ].join("\n");

it.each([
  ["auth: { type: azure }", "is authorized by the identity of a cloud"],
  ["auth: { type: google }", "is authorized by the identity of a cloud"],
  [
    "auth: { type: aws, region: us-east-1, service: s }",
    "is authorized by the identity of a cloud",
  ],
  ['api_key: "${KEY}"', "accepted"],
])("an image offer of a provider with %s is checked", (auth, message) => {
  const text = mistakesIn(picture(auth), environment).join("\n") || "accepted";
  expect(text).toContain(message);
});

/**
 * `config print`: a value from a variable is printed as that variable, so that the text starts the same gateway. A mask is
 * never printed.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  checkConfig,
  configJson,
  defaultSettings,
  environmentCatalog,
  environmentSource,
  printConfig,
  type Config,
} from "../../src/catalog/index.ts";
import { shownProvider } from "../../src/catalog/added.ts";
import { mask } from "../../src/catalog/secrets.ts";
import { configIn, mistakesIn } from "../support/config-text.ts";

const environment = {
  OPENAI_API_KEY: "sk-openai-0123456789",
  TEAM_A: "key-a-0123456789",
  TEAM_B: 'key "b" #{ ,',
  HOST: "https://pool.example",
  WEIGHT: "3",
  BODY_MB: "12.5",
  RATE: "2.50",
  S3_SECRET: "s3-secret-0123456789",
  OIDC_SECRET: "oidc-secret-0123456789",
  HOOK_SECRET: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
};

const secrets = Object.entries(environment).flatMap(([name, value]) =>
  /KEY|TEAM|SECRET/.test(name) ? [value] : [],
);

const configOf = (text: string): Config => configIn(text, environment);

/** Prints, checks the text, and compares the configuration that a start with it would have. */
function roundTrip(config: Config): string {
  const printed = printConfig(config);
  const again = configOf(printed);
  // Models that only the environment knows, without a price, are not in a file.
  const { unpriced: _none, ...catalog } = config.catalog;
  expect(again.catalog).toEqual(catalog);
  expect(again.settings).toEqual(config.settings);
  expect(printConfig(again)).toBe(printed);
  for (const secret of secrets) expect(printed).not.toContain(secret);
  return printed;
}

const completeFile = `
prompt_caching: auto
providers:
  - { id: openai, dialect: openai, base_url: https://api.openai.com/v1/, api_key: \${OPENAI_API_KEY}, tier: official }
  - { id: local, dialect: openai-compatible, base_url: "http://127.0.0.1:9001/v1", api_key: "\${LOCAL_KEY:-none}" }
  - id: pool
    dialect: anthropic
    base_url: \${HOST}/v1
    credentials:
      - { id: a, api_key: \${TEAM_A}, weight: \${WEIGHT} }
      - { id: b, api_key: "\${TEAM_B:-a default is a secret too}" }
  - { id: tokens, dialect: ark, base_url: "https://tokens.example/api/v3", api_key: \${TEAM_A} }
  - { id: films, dialect: xai, base_url: "\${FILMS:-https://films.example/it's "here"/v1}", api_key: \${TEAM_A} }
models:
  - id: acme/talk
    name: "\${NAME:-Talk: it's #1}"
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - &offer { provider: pool, protocol: messages, upstream_model: talk, price: &price { input: \${RATE}, output: "15" } }
      - { <<: *offer, provider: openai, protocol: chat, price: *price }
  - &image { id: acme/a, kind: image, family: image-a, offers: [{ provider: openai, upstream_model: a,
      price: { input: "5", image_input: "8", output: "10", image_output: "30" } }] }
  - { <<: *image, id: acme/b, family: image-b, offers: [{ provider: openai, upstream_model: a, streaming: false,
      price: { input: "5", image_input: "8", output: "10", image_output: "30" } }] }
  - { id: acme/v, kind: video, family: video-v1, offers: [{ provider: films, upstream_model: v,
      price: { output_second: { 480p: \${RATE}, 720p: { sound: "0.1", silent: "0.05" } }, input_image: "0" } }] }
  - { id: acme/t, kind: video, family: video-tokens, offers: [
      { provider: tokens, upstream_model: t, price: { output_video_token: "7" } },
      { provider: tokens, upstream_model: u, price: { output_video_token: { sound: "2.4", silent: "1.2" } } },
      { provider: tokens, upstream_model: w, price: { output_video_token: { 480p: "7", 1080p: { sound: "8", silent: "4" } } } }] }
limits: { body_mb: \${BODY_MB} }
storage: { kind: s3, bucket: b, access_key_id: id, secret_access_key: \${S3_SECRET} }
console: { oidc: { issuer: https://id.example, client_id: tollgate, client_secret: "\${OIDC_SECRET}" } }
hooks: [{ name: guard, at: before, url: "\${HOST}/check", secret: \${HOOK_SECRET} }]
`;

describe("a value that came from a variable", () => {
  const printed = roundTrip(configOf(completeFile));

  it.each([
    "api_key: ${OPENAI_API_KEY}",
    "api_key: ${LOCAL_KEY:-none}",
    "base_url: ${HOST}/v1",
    "weight: ${WEIGHT}",
    "api_key: ${TEAM_A}",
    // A secret's default would show the secret.
    "api_key: ${TEAM_B}\n",
    "input: ${RATE}",
    "480p: ${RATE}",
    "body_mb: ${BODY_MB}",
    "secret_access_key: ${S3_SECRET}",
    "client_secret: ${OIDC_SECRET}",
    "secret: ${HOOK_SECRET}",
    "url: ${HOST}/check",
  ])("is printed as %s", (line) => expect(printed).toContain(line));

  it("is printed as a quoted placeholder in JSON too", () => {
    const config = configOf(completeFile.replace('"here"', "here"));
    const again = configOf(JSON.stringify(configJson(config), null, 2));
    expect(again.catalog).toEqual(config.catalog);
    expect(again.settings).toEqual(config.settings);
    expect(configJson(configOf(completeFile))).toMatchObject({ limits: { body_mb: "${BODY_MB}" } });
  });

  it("is printed as a variable in anchors and merged entries too", () => {
    expect(printed.match(/input: \$\{RATE\}/g)).toHaveLength(2);
  });
});

it("a start without a file prints the vendors whose keys are in the environment", () => {
  const config = {
    catalog: environmentCatalog(environment),
    settings: defaultSettings,
    source: environmentSource(environment),
    digest: "",
  };
  const printed = roundTrip(config);
  expect(printed).toContain("api_key: ${OPENAI_API_KEY}\n");
});

describe("a masked key", () => {
  const provider = (apiKey: string) =>
    `providers: [{ id: p, dialect: openai, base_url: https://x/v1, api_key: "${apiKey}" }]`;

  it.each(["sk-in-the-file-0123", "sk-${HOST}", "short"])(
    "is refused when the printed file is read back: %s",
    (key) => {
      const printed = printConfig(configOf(provider(key)));
      expect(mistakesIn(printed, environment).join("\n")).toMatch(
        /^tollgate.yaml:\d+:\d+ providers\[0\]\.api_key: is a masked key, as `config print` shows it; write the key itself, best as \$\{VARIABLE\}$/,
      );
      expect(printed).not.toContain(key);
    },
  );

  it("replaces secrets recognised by a camelCase name, and all headers of a collector", () => {
    const secret = "hunter2-hunter2-hunter2";
    const text = `
providers: [{ id: p, dialect: openai, base_url: https://x/v1, api_key: none,
  query: { accessToken: ${secret}, subscriptionKey: ${secret} }, headers: { X-AuthToken: ${secret} },
  request: { add: { clientSecret: ${secret}, monkey: ape } } }]
telemetry: { otlp_headers: { x-honeycomb-team: ${secret}, x-other: "\${HOST:-${secret}}" } }
`;
    const printed = printConfig(configOf(text));
    expect(printed).not.toContain("hunter2-hunter2");
    expect(printed).toContain("monkey: ape");
    const result = checkConfig(printed, { environment });
    expect("mistakes" in result ? result.mistakes.map(({ path }) => path) : []).toEqual([
      "providers[0].headers.X-AuthToken",
      "providers[0].query.accessToken",
      "providers[0].query.subscriptionKey",
      "providers[0].request.add.clientSecret",
      "telemetry.otlp_headers.x-honeycomb-team",
    ]);
  });

  it("is refused at each place of a secret, and from a variable", () => {
    const text = `
providers: [{ id: p, dialect: openai, base_url: https://x/v1, credentials: [{ id: a, api_key: "****1234" }] },
  { id: q, dialect: openai, base_url: https://x/v1, api_key: \${MASKED} }]
storage: { kind: s3, bucket: b, secret_access_key: "****" }
console: { oidc: { issuer: https://id.example, client_id: c, client_secret: "****cret" } }
`;
    const result = checkConfig(text, { environment: { MASKED: "****6789" } });
    expect("mistakes" in result ? result.mistakes.map(({ path }) => path) : []).toEqual([
      "providers[0].credentials[0].api_key",
      "providers[1].api_key",
      "storage.secret_access_key",
      "console.oidc.client_secret",
    ]);
  });
});

it.each(["azure", "vertex", "bedrock"])(
  "the file of docs/%s.md, whose providers use a cloud identity, prints and reads back unchanged",
  (page) => {
    const text = readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), "utf8");
    const [, file] = /```yaml\n([^]*?)```/.exec(text)!;
    const names = [...file!.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
    const isPlain = /PROJECT|KEY|TOKEN/;
    const values = Object.fromEntries(
      names.map((name) => [name, isPlain.test(name) ? name : `https://${name}.example`]),
    );
    const config = configIn(file!, values);
    const printed = printConfig(config);
    expect(configIn(printed, values).catalog).toEqual(config.catalog);
    expect(printed).not.toContain("api_key: none");
  },
);

it("clouds whose variables are set are printed without a key", () => {
  const variables = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    GOOGLE_CLOUD_PROJECT: "p",
    GOOGLE_CLOUD_LOCATION: "global",
    GOOGLE_GENAI_USE_VERTEXAI: "true",
  };
  const catalog = environmentCatalog(variables);
  const source = environmentSource(variables);
  const printed = printConfig({ catalog, settings: defaultSettings, source });
  expect(printed).toMatch(/type: aws/);
  expect(printed).toMatch(/type: google/);
  expect(mistakesIn(printed, variables)).toEqual([]);
});

it("a masked secret shows its last four characters, and nothing of a short one", () => {
  expect(["", "x", "elevenchars", "twelve-chars"].map(mask)).toEqual([
    "none",
    "****",
    "****",
    "****hars",
  ]);
});

it("a provider in the management API shows no character of a secret", () => {
  const { catalog } = configIn(
    `providers: [{ id: p, dialect: openai-compatible, base_url: "https://p.example/v1",
      api_key: sk-0123456789abcdef, headers: { x-api-key: "sk-9876543210fedcba", x-token: "\${PLAIN}" } }]`,
    { PLAIN: "sk-5555555555wxyz" },
  );
  const shown = shownProvider(catalog.providers.get("p")!);
  expect(shown).toMatchObject({ headers: { "x-api-key": "****", "x-token": "****" } });
  expect(JSON.stringify(shown)).not.toMatch(/cdef|dcba|wxyz/);
});

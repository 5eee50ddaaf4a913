import { describe, expect, it } from "vitest";
import { checkConfig } from "../../src/catalog/index.ts";
import { mistakesIn } from "../support/config-text.ts";

const environment = { OPENAI_API_KEY: "sk-openai" };

const mistakesOf = (text: string): string[] => mistakesIn(text, environment);

describe("the mistakes of a file", () => {
  it("include a telemetry endpoint that is not an address, and a sample above 1", () => {
    expect(mistakesOf("telemetry: { otlp_endpoint: http://collector:4318 }")).toEqual([]);
    const [address, share] = mistakesOf("telemetry: { otlp_endpoint: collector, sample: 2 }");
    expect(address).toContain(
      '1:29 telemetry.otlp_endpoint: "collector" does not fit; the collector for traces',
    );
    expect(share).toContain("1:48 telemetry.sample: must be at most 1; the share of requests");
  });

  it("include numbers that no timer, date or database can hold", () => {
    const text = (seconds: number, count: number, days: number) => `providers:
  - { id: p, dialect: openai, base_url: "https://x/v1", api_key: k, timeouts: { connect_s: ${seconds}, total_s: ${seconds} } }
webhooks: { timeout_s: ${seconds} }
limits: { queue: { global: ${count}, per_workspace: ${count} }, connections: { unread_s: ${seconds} } }
storage: { kind: local, retention_days: ${days} }`;
    expect(mistakesOf(text(2_147_483, 2_147_483_647, 1_000_000))).toEqual([]);
    const said = mistakesOf(text(2_147_484, 2_147_483_648, 100_000_000)).map(
      (line) => /\w+: must be at most \d+/.exec(line)?.[0],
    );
    expect(said).toEqual([
      "connect_s: must be at most 2147483",
      "total_s: must be at most 2147483",
      "timeout_s: must be at most 2147483",
      "global: must be at most 2147483647",
      "per_workspace: must be at most 2147483647",
      "unread_s: must be at most 2147483",
      "retention_days: must be at most 1000000",
    ]);
  });

  it("include servers without a valid address, and headers that cannot be sent", () => {
    const of = (issuer: string, endpoint: string, header: string) =>
      mistakesOf(`console: { oidc: { issuer: "${issuer}", client_id: c, client_secret: s } }
storage: { kind: s3, bucket: b, endpoint: "${endpoint}" }
exports: { to: "s3://b/p", endpoint: "${endpoint}" }
telemetry: { otlp_endpoint: "http://collector:99999", otlp_headers: { "${header}": v } }`);
    expect(of("https://accounts.example.com/", "http://minio:9000", "x-key")).toEqual([
      'tollgate.yaml:4:29 telemetry.otlp_endpoint: "http://collector:99999" is not an address; write http://collector:4318',
    ]);
    expect(of("accounts.example.com", "minio:9000", "x key").slice(0, 3)).toEqual([
      'tollgate.yaml:1:28 console.oidc.issuer: "accounts.example.com" is not an address; write https://accounts.example.com',
      'tollgate.yaml:2:43 storage.endpoint: "minio:9000" is not an address; write http://minio:9000',
      'tollgate.yaml:3:38 exports.endpoint: "minio:9000" is not an address; write http://minio:9000',
    ]);
    const named = of("https://u:pw@idp", "http://u:pw@minio", "x key");
    expect(named.filter((line) => line.includes("names a user or a password"))).toHaveLength(3);
    expect(named.at(-1)).toContain("telemetry.otlp_headers.x key: cannot be sent as a header");
    expect(named.join("\n")).not.toContain("pw");
  });

  it("include hooks with missing, repeated or useless keys", () => {
    const secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const of = (...hooks: string[]) =>
      mistakesOf(["hooks:", ...hooks.map((hook) => `  - ${hook}`)].join("\n")).map((line) =>
        line.replace(/^tollgate.yaml:\d+:\d+ /, ""),
      );
    expect(of(`{ name: a, at: before, url: http://h/, secret: ${secret} }`)).toEqual([]);
    expect(
      of(
        "{ name: a, at: before }",
        "{ name: a, at: before, module: nowhere.mjs }",
        `{ name: b, at: after, url: http://h/, secret: ${secret}, on_failure: allow }`,
        "{ name: c, at: before, url: http://h/ }",
        `{ name: d, at: before, url: http://h/, module: package.json, secret: ${secret} }`,
        "{ name: e, at: during, url: http://h/, secret: short, timeout_ms: 0 }",
      ),
    ).toEqual([
      "hooks[0].url: missing; give url, or module",
      'hooks[1].name: the hook "a" is already there; give each its own name',
      "hooks[1].module: nowhere.mjs does not exist; name a file; a relative one is beside this file",
      "hooks[2].on_failure: a hook after the call cannot stop it; leave on_failure out, or write at: before",
      "hooks[3].secret: missing; make one: echo whsec_$(openssl rand -base64 32)",
      "hooks[4].module: url and module exclude each other; keep one of them",
      'hooks[5].at: "during" is not known; allowed: before, after',
      expect.stringMatching(/^hooks\[5\].secret: .* does not fit; the secret that signs requests/),
      expect.stringMatching(/^hooks\[5\].timeout_ms: must be at least 1;/),
    ]);
  });

  it.each([
    "https://app.example.com/",
    "app.example.com",
    "https://App.example.com",
    "https://*.example.com",
    "null",
  ])("include %s, which is no origin", (origin) => {
    expect(mistakesOf(`cors: { origins: ["${origin}"] }`)[0]).toContain(
      `cors.origins[0]: "${origin}" does not fit; an origin as browsers send it`,
    );
  });

  it("include a vendor's model name above 500 characters", () => {
    const named = (name: string) =>
      mistakesOf(
        [
          "providers:",
          "  - { id: p, dialect: openai-compatible, base_url: http://p/v1, api_key: none }",
          "models:",
          `  - { id: acme/talk, kind: text, context_length: 10, max_output_tokens: 5, offers: [{ provider: p, protocol: chat, upstream_model: ${name}, price: { input: "1", output: "1" } }] }`,
        ].join("\n"),
      );
    expect(named("m".repeat(500))).toEqual([]);
    expect(named("m".repeat(501)).join("\n")).toMatch(/offers\[0\]\.upstream_model: .*500/);
  });

  it("include an alias of two models, and an unknown default model", () => {
    const model = (id: string, aliases: string) =>
      `  - { id: ${id}, kind: text, aliases: [${aliases}], context_length: 10, max_output_tokens: 5, offers: [{ provider: p, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }] }`;
    const text = [
      "default_model: acme/tall",
      "providers:",
      "  - { id: p, dialect: openai-compatible, base_url: http://p/v1, api_key: none }",
      "models:",
      model("acme/talk", 'gpt, "gpt-*"'),
      model("acme/walk", '"gpt-*", acme/talk, "a*b"'),
    ].join("\n");
    expect(mistakesOf(text).map((line) => line.replace(/^tollgate.yaml:\d+:\d+ /, ""))).toEqual([
      'default_model: there is no model "acme/tall"; did you mean "acme/talk"?',
      'models[1].aliases[0]: "gpt-*" already means the model "acme/talk"; give each model names of its own',
      'models[1].aliases[1]: "acme/talk" already means the model "acme/talk"; give each model names of its own',
      'models[1].aliases[2]: "a*b" does not fit; a name without spaces; a star at its end makes it a prefix',
    ]);
  });

  it("include a fallback that is no text model, and one that is the model itself", () => {
    const model = (id: string, more: string) =>
      `  - { id: ${id}, kind: text, ${more} context_length: 10, max_output_tokens: 5, offers: [{ provider: p, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }] }`;
    const text = [
      "providers:",
      "  - { id: p, dialect: openai-compatible, base_url: http://p/v1, api_key: none }",
      "models:",
      model("acme/talk", "fallbacks: [acme/walk, acme/talk, acme/vectors],"),
      model("acme/walk", ""),
      '  - { id: acme/vectors, kind: embedding, context_length: 10, offers: [{ provider: p, upstream_model: m, price: { input: "1" } }] }',
    ].join("\n");
    expect(mistakesOf(text).map((line) => line.replace(/^tollgate.yaml:\d+:\d+ /, ""))).toEqual([
      "models[0].fallbacks[1]: this is the model itself; name another one",
      'models[0].fallbacks[2]: there is no text model "acme/vectors"; allowed: acme/talk, acme/walk',
    ]);
  });

  it("are reported all at once, each with its line, column, path and fix", () => {
    const text = `providers:
  - { id: openai, dialect: opnai, base_url: https://api.openai.com/v1, api_key: \${OPENAI_API_KEY} }
  - { id: local, dialect: openai-compatible, base_url: 127.0.0.1:9001/v1, api_key: \${NOPE}, teir: partner }
  - id: openai
    dialect: anthropic
    base_url: http://x/v1?y=1
models:
  - id: acme/talk
    kind: text
    endpoints: [chat_completions, respnses]
    context_length: -200000
    offers:
      - { provider: lcoal, protocol: smtp, upstream_model: talk,
          price: { input: 0.50, cache_read: "0,05", output: "2.00", extra: "1" } }
    parameters: { temprature: { max: 1 }, top_p: { max: 3 }, n: true }
  - id: acme/talk
    kind: txt
    offers: []
  - { id: clip, kind: video, family: video-v2 }
  - { id: acme/wrong, kind: image, family: video-v1, offers: [] }
  - id: acme/clip
    kind: video
    family: video-v1
    offers:
      - { provider: local, upstream_model: g, price: { output_second: { 480p: 0.05 }, input_image: "0.01" } }
      - { provider: local, upstream_model: g, price: { output_second: {}, input_image: "-1" } }
  - id: acme/pic
    kind: image
    family: image-c
    offers:
      - { provider: local, upstream_model: g, price: { output_image: 3 } }
  - 17
  - id: acme/small
    kind: text
    context_length: 1000
    max_output_tokens: 100
    reserve_output_tokens: 200
    offers: []
limits: { queue: { global: 0 }, body_mb: -1 }
storage: { kind: s3 }
stroage: {}
`;
    expect(mistakesOf(text)).toMatchInlineSnapshot(`
      [
        "tollgate.yaml:2:28 providers[0].dialect: "opnai" is not known; did you mean "openai"?",
        "tollgate.yaml:3:56 providers[1].base_url: "127.0.0.1:9001/v1" does not fit; http or https address including the version segment, such as https://api.openai.com/v1",
        "tollgate.yaml:3:84 the environment variable NOPE is not set; set it, or give a default: \${NOPE:-value}",
        "tollgate.yaml:3:93 providers[1].teir: unknown key; did you mean "tier"?",
        "tollgate.yaml:4:5 providers[2].api_key: missing; give api_key (\`none\` for a server that takes none) or credentials",
        "tollgate.yaml:4:9 providers[2].id: the provider "openai" is already there, at providers[0]; give each its own id",
        "tollgate.yaml:6:15 providers[2].base_url: "http://x/v1?****" is not an address without a query; write https://host/v1",
        "tollgate.yaml:8:5 models[0].max_output_tokens: missing; the most a call can produce",
        "tollgate.yaml:10:35 models[0].endpoints[1]: "respnses" is not known; did you mean "responses"?",
        "tollgate.yaml:11:21 models[0].context_length: must be at least 1; input and output tokens together",
        "tollgate.yaml:13:21 models[0].offers[0].provider: there is no provider "lcoal"; did you mean "local"?",
        "tollgate.yaml:13:38 models[0].offers[0].protocol: "smtp" is not known; allowed: chat, responses, messages, generate_content, converse",
        "tollgate.yaml:14:27 models[0].offers[0].price.input: must be text, not 0.5; put it in quotes: "0.50"",
        "tollgate.yaml:14:45 models[0].offers[0].price.cache_read: "0,05" does not fit; USD per million tokens read from a prompt cache; as input if absent, a decimal string such as "2.50"",
        "tollgate.yaml:14:69 models[0].offers[0].price.extra: unknown key; allowed: input, cache_read, explicit_cache_read, cache_write, cache_write_1h, output, reasoning, audio_input, audio_output, image_output, request, web_search, ...",
        "tollgate.yaml:15:19 models[0].parameters.temprature: unknown parameter; did you mean "temperature"?",
        "tollgate.yaml:15:50 models[0].parameters.top_p: does not narrow: max is above 1",
        "tollgate.yaml:15:65 models[0].parameters.n: true does not fit; false, or any of type, values, min, max, default, pattern, multiple_of",
        "tollgate.yaml:16:9 models[1].id: the model "acme/talk" is already there, at models[0]; give each its own id",
        "tollgate.yaml:17:11 models[1].kind: "txt" is not known; did you mean "text"?",
        "tollgate.yaml:19:11 models[2].id: "clip" does not fit; vendor/model, without spaces and colons",
        "tollgate.yaml:19:38 models[2].family: "video-v2" is not known; did you mean "video-v1"?",
        "tollgate.yaml:20:44 models[3].family: "video-v1" is not known; allowed: image-a, image-b, task-image-1, task-image-2, image-c",
        "tollgate.yaml:25:21 models[4].offers[0].provider: the dialect openai-compatible of the provider "local" makes no videos; dialects that make videos: xai, dashscope, ark",
        "tollgate.yaml:25:79 models[4].offers[0].price.output_second.480p: must be text, not 0.05; put it in quotes: "0.05"",
        "tollgate.yaml:26:21 models[4].offers[1].provider: the dialect openai-compatible of the provider "local" makes no videos; dialects that make videos: xai, dashscope, ark",
        "tollgate.yaml:26:71 models[4].offers[1].price.output_second: no resolution has a price; write 480p: "0.05"",
        "tollgate.yaml:26:88 models[4].offers[1].price.input_image: "-1" does not fit; USD per input image, a decimal string such as "2.50"",
        "tollgate.yaml:31:70 models[5].offers[0].price.output_image: must be text, not 3; put it in quotes: "3"",
        "tollgate.yaml:32:5 models[6]: must be a mapping, not 17",
        "tollgate.yaml:37:28 models[7].reserve_output_tokens: 200 is above max_output_tokens (100); at most 100",
        "tollgate.yaml:38:13 models[7].offers: must have at least one entry; at least one way to serve the model",
        "tollgate.yaml:39:28 limits.queue.global: must be at least 1; tasks in flight; 1000 if absent",
        "tollgate.yaml:39:42 limits.body_mb: must be above 0; largest request body in MB; 64 if absent, less with little memory",
        "tollgate.yaml:40:10 storage.bucket: missing; s3 needs a bucket",
        "tollgate.yaml:41:1 stroage: unknown key; did you mean "storage"?",
      ]
    `);
  });

  it("include invalid YAML, with its place", () => {
    expect(mistakesOf("providers: [\n  { id: a }\nmodels: 1")[0]).toMatch(
      /^tollgate\.yaml:3:\d+ not valid YAML: /,
    );
    expect(mistakesOf("limits: {}\nlimits: {}")).toEqual([
      "tollgate.yaml:2:1 not valid YAML: Map keys must be unique",
    ]);
    expect(mistakesOf("limits: {}\n---\nlimits: {}")).toEqual([
      "tollgate.yaml:2:1 a second document begins here; a configuration is one: take the line --- out",
    ]);
    expect(mistakesOf("just text")).toEqual([
      'tollgate.yaml:1:1 must be a mapping, not "just text"',
    ]);
  });

  it("quote only the beginning of a long text, so that a wrong file does not fill the log", () => {
    const long = "y".repeat(1_000_000);
    const shown = `${"y".repeat(80)}...`;
    expect(mistakesOf(long)).toEqual([`tollgate.yaml:1:1 must be a mapping, not "${shown}"`]);
    expect(mistakesOf(`models: ${long}`)).toEqual([expect.stringContaining(`not "${shown}"`)]);
  });

  it("include more than eight of one list", () => {
    const rows = Array.from({ length: 40 }, () => "  - { id: x, kind: 1 }").join("\n");
    const kinds = mistakesOf(`models:\n${rows}`).filter((line) => line.includes(".kind:"));
    expect(kinds).toHaveLength(40);
  });

  it("include a narrowing that widens, contradicts itself or is no pattern", () => {
    const text = (narrowing: string) => `models: [{ id: a/b, kind: text, context_length: 1,
      max_output_tokens: 1, offers: [], parameters: { ${narrowing} } }]`;
    const faults = (narrowing: string) =>
      mistakesOf(text(narrowing)).filter((line) => line.includes("parameters"));
    expect(faults("temperature: { max: 1 }")).toEqual([]);
    expect(faults("n: { min: 0 }")[0]).toMatch(/n: does not narrow: min is below 1$/);
    expect(faults("n: { min: 3, max: 2 }")[0]).toMatch(/n: does not narrow: min is above max$/);
    expect(faults("n: { type: string }")[0]).toMatch(/n: does not narrow: its type is integer$/);
    expect(faults("user: { pattern: '[' }")).toHaveLength(1);
    expect(faults("verbosity: { values: [huge] }")[0]).toMatch(/the value huge is outside/);
  });

  it("include reasoning settings that do not fit the kind, on the model and on its offers", () => {
    const keys = "id: a/b, kind: text, context_length: 1, max_output_tokens: 1";
    const faults = (reasoning: string) =>
      ["", "record: "].map((_place, index) => {
        const said = `reasoning: { ${reasoning} }`;
        const offers = index === 0 ? "[]" : `[{ record: { ${said} } }]`;
        const text = `models: [{ ${keys}, offers: ${offers}${index === 0 ? `, ${said}` : ""} }]`;
        return mistakesOf(text)
          .filter((line) => line.includes("reasoning"))
          .map((line) => line.replace(/^.*reasoning\.?/, ""));
      });
    const both = (line: string) => [[line], [line]];
    expect(faults("kind: adaptive, values: [low, max], off: true")).toEqual([[], []]);
    expect(faults("kind: effort")).toEqual(both("values: missing; effort needs values"));
    expect(faults("kind: none, min: 5")).toEqual(both("min: means nothing with none; remove it"));
    expect(faults("kind: effort, values: [none, low]")).toEqual(
      both("values: none is not an effort; write off: true"),
    );
    expect(faults("kind: budget, min: 5, max: 4")).toEqual(both("min: 5 is above max (4)"));
  });

  it("do not include an offer of a provider known from elsewhere, only of an unknown one", () => {
    const text = `models: [{ id: a/b, kind: text, context_length: 1, max_output_tokens: 1, offers: [
      { provider: sandbox-openai, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }] }]`;
    const known = checkConfig(text, {
      environment,
      knownProviders: [{ id: "sandbox-openai", dialect: "openai" }],
    });
    expect(known).toHaveProperty("config.catalog.models.size", 1);
    expect(mistakesOf(text)).toEqual([
      'tollgate.yaml:2:19 models[0].offers[0].provider: there is no provider "sandbox-openai"; the sandbox\'s providers are there where TOLLGATE_SANDBOX is on',
    ]);
  });

  it("include names that only variables define, and say so", () => {
    const text = `default_model: openai/gpt-4o
models: [{ id: a/b, kind: text, context_length: 1, max_output_tokens: 1, fallbacks: [openai/gpt-4o], offers: [
      { provider: openai, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }] }]`;
    const elsewhere = "name one that the file defines; those that variables bring do not count";
    expect(mistakesOf("default_model: openai/gpt-4o")).toEqual([
      `tollgate.yaml:1:16 default_model: there is no model "openai/gpt-4o"; ${elsewhere}`,
    ]);
    expect(mistakesOf(text)).toEqual([
      'tollgate.yaml:1:16 default_model: there is no model "openai/gpt-4o"; allowed: a/b',
      'tollgate.yaml:2:86 models[0].fallbacks[0]: there is no text model "openai/gpt-4o"; allowed: a/b',
      `tollgate.yaml:3:19 models[0].offers[0].provider: there is no provider "openai"; ${elsewhere}`,
    ]);
  });

  it("never quote a value that may be a secret", () => {
    const text = `providers: [{ id: p, dialect: openai, base_url: https://x/v1, api_key: 123456789 }]
console: { oidc: { issuer: https://i, client_id: c, client_secret: 987654321 } }`;
    expect(mistakesOf(text)).toEqual([
      "tollgate.yaml:1:72 providers[0].api_key: must be text, not a number; put it in quotes",
      "tollgate.yaml:2:68 console.oidc.client_secret: must be text, not a number; put it in quotes",
    ]);
  });

  it("never quote possible secrets in lists, addresses and headers, nor a key written in place of a file name", () => {
    const text = `providers:
  - { id: p, dialect: openai, base_url: "https://x/v1?key=hunter2", credentials: [hunter2], auth: hunter2 }
  - { id: q, dialect: vertex, base_url: "https://x/v1?key=hunter2", api_key: [hunter2], proxy: 7726,
      headers: { Authorization: 7726, x-token: 7726 } }
  - { id: r, dialect: bedrock, base_url: "https://x/v1", auth: { type: aws, session_token: 7726 } }
server: { tls: { cert: c, key: "-----BEGIN PRIVATE KEY----- hunter2" } }
telemetry: { otlp_endpoint: "https://x/?key=hunter2", otlp_headers: { authorization: 7726 } }`;
    const said = mistakesOf(text).join("\n");
    expect(said).not.toMatch(/hunter2|7726/);
    for (const shown of [
      'providers[0].base_url: "https://x/v1?****" is not an address without a query',
      "providers[0].credentials[0]: must be a mapping, not a string",
      "providers[0].auth: must be a mapping, not a string",
      "providers[1].headers.Authorization: must be text, not a number; put it in quotes",
      "server.tls.key: is the text of a PEM file, and not its name; name a PEM file",
    ])
      expect(said).toContain(shown);
  });

  it("never quote the value of a secret's variable, in any field", () => {
    const key = 'sk-in"the wrong place';
    const text = `providers: [{ id: p, dialect: \${HOUSE_KEY}, base_url: "\${HOUSE_KEY}", api_key: k }]
models: [{ id: a/b, kind: text, context_length: \${HOUSE_KEY}, max_output_tokens: 1, offers: [
  { provider: \${HOUSE_KEY}, protocol: chat, upstream_model: m, price: { input: "https://u:\${HOUSE_KEY}@x", output: \${PLAIN} } }] }]`;
    const said = mistakesIn(text, { HOUSE_KEY: key, PLAIN: "cheap" }).join("\n");
    expect(said).not.toContain("wrong place");
    for (const shown of [
      'base_url: "${HOUSE_KEY}" does not fit',
      'dialect: "${HOUSE_KEY}" is not known',
      'not "${HOUSE_KEY}"',
      'there is no provider "${HOUSE_KEY}"',
      'input: "https://u:${HOUSE_KEY}@x" does not fit',
      'output: "cheap" does not fit',
    ])
      expect(said).toContain(shown);
  });

  it("never quote a password before a host; in base URLs it is refused", () => {
    const text = `hooks:
  - { name: a, at: before, url: "\${ADDRESS}", secret: "\${S}" }
  - { name: b, at: before, url: "https://user:\${PART}@guard.example.com/x", secret: "\${S}" }
  - { name: c, at: before, url: "https://user:hunter2/odd@guard.example.com/x", secret: "\${S}" }
telemetry: { otlp_endpoint: "\${ADDRESS}" }
providers:
  - { id: p, dialect: openai, base_url: "\${ADDRESS}", api_key: none, tier: official }
  - { id: q, dialect: openai, base_url: "https://hunter2@x/v1?y=1", api_key: none, tier: official }`;
    const environment = {
      ADDRESS: "https://user:hunter2@guard.example.com",
      PART: "hunter2",
      S: `whsec_${"A".repeat(32)}`,
    };
    const said = mistakesIn(text, environment).join("\n");
    expect(said).not.toContain("hunter2");
    for (const index of [0, 1, 2])
      expect(said).toContain(`hooks[${index}].url: "https://****@guard.example.com`);
    expect(said).toContain('otlp_endpoint: "https://****@guard.example.com" does not fit');
    for (const index of [0, 1])
      expect(said).toContain(
        `providers[${index}].base_url: names a user or a password, which would not be sent;`,
      );
  });
});

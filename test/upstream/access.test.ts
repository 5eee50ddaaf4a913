/** Provider settings beyond its dialect arrive at the vendor, over real sockets. TXT-06, TXT-11. */
import { afterEach, describe, expect, it } from "vitest";
import { shownProvider, type Provider } from "../../src/catalog/index.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import {
  ask,
  askText,
  createPools,
  textBody,
  withoutCredentials,
  type TextRequest,
} from "../../src/upstream/index.ts";
import { catalogIn } from "../support/config-text.ts";
import { startRecorder } from "../support/recorder.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const key = "key-of-the-account";

/** A provider from a configuration file. */
function providerOf(baseUrl: string, lines: string): Provider {
  const indented = lines
    .trim()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  const text = `providers:\n  - id: p\n    dialect: openai-compatible\n    base_url: ${baseUrl}\n    api_key: ${key}\n${indented}\n`;
  return catalogIn(text).providers.get("p")!;
}

const ownBody = { model: "org/model 1", messages: [], temperature: 1, user: "u" };

async function sentRequest(
  lines: string,
  more: Partial<TextRequest> = {},
  body: JsonObject = ownBody,
) {
  const upstream = await startRecorder((_request, response) => void response.end("{}"));
  const pools = createPools();
  closers.push(
    () => upstream.close(),
    () => pools.close(),
  );
  const provider = providerOf(`${upstream.url}/v1`, lines);
  const ask = {
    provider,
    protocol: "chat",
    model: "org/model 1",
    stream: false,
    apiKey: key,
    caller: {},
    ...more,
  } as const;
  const written = JSON.stringify(textBody(body, ask));
  const exchange = await askText(pools, { ...ask, body: written }).answer;
  await exchange.readAll(1_000);
  return upstream.requests.at(-1)!;
}

describe("a provider's own settings", () => {
  it.each([
    ["auth: { type: bearer }", "authorization", `Bearer ${key}`],
    ["auth: { type: header, name: X-Own-Key }", "x-own-key", key],
  ])("send the key by %s", async (lines, name, value) => {
    const { headers } = await sentRequest(lines, { protocol: "messages" });
    expect(headers[name]).toBe(value);
    expect(JSON.stringify(headers).split(key)).toHaveLength(2);
  });

  it("send the key in the query, beside other parameters", async () => {
    const lines = 'auth: { type: query, name: key }\nquery: { api-version: "2026 10" }';
    const { path, headers } = await sentRequest(lines, {
      protocol: "generate_content",
      stream: true,
    });
    expect(path).toBe(
      `/v1/models/org/model%201:streamGenerateContent?alt=sse&api-version=2026%2010&key=${key}`,
    );
    expect(JSON.stringify(headers)).not.toContain(key);
  });

  it("send no key with auth type none", async () => {
    const { path, headers } = await sentRequest("auth: { type: none }");
    expect(JSON.stringify(headers) + path).not.toContain(key);
  });

  it("override the dialect's headers, in any case", async () => {
    const { headers } = await sentRequest("headers: { User-Agent: ours, X-Title: t }");
    expect(headers).toMatchObject({ "user-agent": "ours", "x-title": "t" });
  });

  it("choose a path for each protocol", async () => {
    const lines = 'paths: { chat: "/d/{model}/chat", generate_content: "/g/{model}:{method}" }';
    expect((await sentRequest(lines)).path).toBe("/v1/d/org/model%201/chat");
    const streamed = await sentRequest(lines, { protocol: "generate_content", stream: true });
    expect(streamed.path).toBe("/v1/g/org/model%201:streamGenerateContent?alt=sse");
    const whole = await sentRequest(lines, { protocol: "generate_content" });
    expect(whole.path).toBe("/v1/g/org/model%201:generateContent");
    expect((await sentRequest(lines, { protocol: "responses" })).path).toBe("/v1/responses");
  });

  it("add and remove fields without changing the caller's body", async () => {
    const body = { model: "m", messages: [], temperature: 1, user: "u" };
    const lines = "request: { add: { temperature: 0.5, own: { a: [1] } }, remove: [user] }";
    const { body: sent } = await sentRequest(lines, {}, body);
    expect(sent).toEqual({ model: "m", messages: [], temperature: 0.5, own: { a: [1] } });
    expect(body).toEqual({ model: "m", messages: [], temperature: 1, user: "u" });
  });

  it("apply to media too", async () => {
    const upstream = await startRecorder((_request, response) => void response.end("{}"));
    const pools = createPools();
    closers.push(
      () => upstream.close(),
      () => pools.close(),
    );
    const lines = "auth: { type: header, name: api-key }\nquery: { v: 1 }\nheaders: { X-T: t }";
    const provider = providerOf(upstream.url, lines.replace("v: 1", 'v: "1"'));
    await ask(pools.forMedia(upstream.url, 1_000), provider, {
      method: "POST",
      path: "/images",
      headers: { authorization: `Bearer ${key}` },
      body: "{}",
    });
    const { path, headers } = upstream.requests.at(-1)!;
    expect(path).toBe("/images?v=1");
    expect(headers).toMatchObject({ "api-key": key, "x-t": "t" });
    expect(headers).not.toHaveProperty("authorization");
  });

  it.each([
    "headers: { X-Other-Key: second-secret-of-ours, X-Title: application-name }",
    "headers: { apikey: second-secret-of-ours, X-Title: application-name }",
    "headers: { X-Password: second-secret-of-ours, X-Title: application-name }",
    "query: { access_token: second-secret-of-ours, api_version: application-name }",
    "query: { subscription_key: second-secret-of-ours, api_version: application-name }",
    "query: { accessToken: second-secret-of-ours, apiVersion: application-name }",
    "request: { add: { api_key: second-secret-of-ours, title: application-name } }",
    "request: { add: { account: { authToken: second-secret-of-ours, name: application-name } } }",
  ])(
    "a secret in %s is masked in the vendor's text and where it is shown; another value is not",
    (own) => {
      const provider = providerOf("http://x.test", own);
      const vendorText = "bad second-secret-of-ours for application-name";
      expect(withoutCredentials(provider, vendorText)).toBe(
        "bad [credential] for application-name",
      );
      const shown = JSON.stringify(shownProvider(provider));
      expect(shown).toContain("application-name");
      expect(shown).not.toContain("second-secret");
    },
  );
});

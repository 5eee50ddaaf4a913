/** The settings of a vendor's row arrive at the vendor, over real sockets. TXT-06, TXT-11. */
import { afterEach, describe, expect, it } from "vitest";
import { defaultTimeouts, type Provider } from "../../src/catalog/index.ts";
import {
  askText,
  createPools,
  ExchangeError,
  textBody,
  type TextRequest,
} from "../../src/upstream/index.ts";
import type { TextAsk, Vendor } from "../../src/upstream/vendors/types.ts";
import { startRecorder } from "../support/recorder.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const key = "key-of-the-account";
const ownBody = { model: "org/model 1", messages: [] };

/** A vendor that answers everything with `{}`, and a request for it. */
async function startVendor(basePath: string, ask: Partial<TextAsk> = {}) {
  const upstream = await startRecorder((_request, response) => void response.end("{}"));
  const pools = createPools();
  closers.push(
    () => upstream.close(),
    () => pools.close(),
  );
  const provider: Provider = {
    id: "p",
    dialect: "openai-compatible",
    baseUrl: upstream.url + basePath,
    tier: "community",
    credentials: [{ id: "default", apiKey: key, weight: 1 }],
    onDisconnect: "abort",
    timeouts: defaultTimeouts,
  };
  const request: TextRequest = {
    provider,
    protocol: "chat",
    model: "org/model 1",
    stream: false,
    apiKey: key,
    caller: {},
    body: "",
    ...ask,
  };
  const asked = async (vendor?: Vendor, more: Partial<TextRequest> = {}) => {
    const all = { ...request, ...more };
    const body = JSON.stringify(textBody(ownBody, all, vendor));
    const exchange = await askText(pools, { ...all, body, ...more }, vendor).answer;
    await exchange.readAll(1_000);
    return upstream.requests.at(-1)!;
  };
  return { upstream, pools, request, asked };
}

describe("a vendor without a row", () => {
  it.each([
    ["chat", "/v1/chat/completions", "authorization", `Bearer ${key}`],
    ["responses", "/v1/responses", "authorization", `Bearer ${key}`],
    ["embeddings", "/v1/embeddings", "authorization", `Bearer ${key}`],
    ["messages", "/v1/messages", "x-api-key", key],
    ["generate_content", "/v1/models/org/model%201:generateContent", "x-goog-api-key", key],
  ] as const)("is called in %s at %s, with its key in %s", async (protocol, path, name, value) => {
    const { asked } = await startVendor("/v1", { protocol });
    const request = await asked();
    expect(request.path).toBe(path);
    expect(request.headers[name]).toBe(value);
    expect(JSON.stringify(request.headers).split(key)).toHaveLength(2);
  });

  it("gets no key header if the provider takes no key", async () => {
    const { asked } = await startVendor("/v1", { apiKey: "" });
    expect((await asked()).headers).not.toHaveProperty("authorization");
  });
});

it.each([
  ["/v1beta", "embeddings", "/v1beta/openai/embeddings"],
  ["/v1beta", "chat", "/v1beta/openai/chat/completions"],
  ["/v1beta/openai/", "embeddings", "/v1beta/openai/embeddings"],
  ["/v1beta", "generate_content", "/v1beta/models/org/model%201:generateContent"],
] as const)("Google's API at %s is called in %s at %s", async (basePath, protocol, path) => {
  const { asked, request } = await startVendor(basePath, { protocol });
  const provider: Provider = { ...request.provider, dialect: "google" };
  expect((await asked(undefined, { provider })).path).toBe(path);
});

describe("a vendor's row", () => {
  it("can add a query, also to one that the protocol has", async () => {
    const { asked } = await startVendor("/v1");
    const vendor: Vendor = { query: "api-version=2026-10-01" };
    expect((await asked(vendor)).path).toBe("/v1/chat/completions?api-version=2026-10-01");
    const streamed = await asked(vendor, { protocol: "generate_content", stream: true });
    expect(streamed.path).toBe(
      "/v1/models/org/model%201:streamGenerateContent?alt=sse&api-version=2026-10-01",
    );
  });

  it("can set the path, the header of the key, further headers and the body", async () => {
    const { asked } = await startVendor("/openai");
    const sent = await asked({
      keyHeader: "api-key",
      headers: { "x-vendor": "yes" },
      path: (own, { model }) => `/deployments/${encodeURIComponent(model)}${own}`,
      body: ({ model: _inPath, ...rest }) => ({ ...rest, extra: 1 }),
    });
    expect(sent.path).toBe("/openai/deployments/org%2Fmodel%201/chat/completions");
    expect(sent.headers).toMatchObject({ "api-key": key, "x-vendor": "yes" });
    expect(sent.headers).not.toHaveProperty("authorization");
    expect(sent.body).toEqual({ messages: [], extra: 1 });
    expect(ownBody).toEqual({ model: "org/model 1", messages: [] });
  });

  it("can sign each request by its target and bytes, without sending the key", async () => {
    const { asked } = await startVendor("/v1");
    const sent = await asked({
      authorize: async ({ path }, body, { apiKey }) => {
        await Promise.resolve();
        return { authorization: `Signed ${path} ${String(body).length} ${apiKey.length}` };
      },
    });
    expect(sent.headers["authorization"]).toBe(
      `Signed /v1/chat/completions ${sent.text.length} ${key.length}`,
    );
    expect(JSON.stringify(sent.headers)).not.toContain(key);
  });

  it("does not send a request that was aborted during its authorization", async () => {
    const { upstream, pools, request } = await startVendor("/v1");
    const { promise, resolve } = Promise.withResolvers<Readonly<Record<string, string>>>();
    const asked = askText(pools, request, { authorize: () => promise });
    asked.abort();
    resolve({});
    const error = await asked.answer.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExchangeError);
    expect(error).toMatchObject({ failure: "aborted" });
    expect(upstream.requests).toEqual([]);
  });

  it("sends a body when its promise resolves, and never if the request was aborted before", async () => {
    const { upstream, pools, request, asked } = await startVendor("/v1");
    const body = Promise.withResolvers<string>();
    const aborted = askText(pools, { ...request, body: body.promise });
    aborted.abort();
    body.resolve("{}");
    await expect(aborted.answer).rejects.toMatchObject({ failure: "aborted" });
    expect(upstream.requests).toEqual([]);
    const written = '{"written":"elsewhere"}';
    expect((await asked(undefined, { body: Promise.resolve(written) })).text).toBe(written);
  });

  it("fails the request if its authorization fails", async () => {
    const { pools, request } = await startVendor("/v1");
    const refused = new ExchangeError("broken", "no token");
    const asked = askText(pools, request, { authorize: () => Promise.reject(refused) });
    await expect(asked.answer).rejects.toBe(refused);
  });

  it("can change the answer", async () => {
    const { pools, request } = await startVendor("/v1");
    const asked = askText(pools, request, {
      answer: (exchange) => {
        exchange.headers["content-type"] = "text/event-stream";
        return exchange;
      },
    });
    expect((await asked.answer).headers["content-type"]).toBe("text/event-stream");
  });
});

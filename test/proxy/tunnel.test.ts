/** Text and media calls to providers through real proxies: CONNECT and absolute form, streams, reused connections, named failures. */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { parseProxy, proxiesOf } from "../../src/base/proxy.ts";
import { Slots } from "../../src/base/slots.ts";
import type { Access, Provider } from "../../src/catalog/index.ts";
import { createPools } from "../../src/upstream/index.ts";
import { ask } from "../../src/upstream/media/ask.ts";
import { makeAuthority, makeCertificate } from "../support/certificate.ts";
import { startProxy, type ProxyOptions } from "../support/proxy.ts";
import { asker, resultOf } from "../upstream/http1-support.ts";
import { provider } from "../upstream/media-support.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const authority = makeAuthority();
const certificate = makeCertificate(["localhost"], { by: authority });

interface Upstream {
  readonly url: string;
  connections(): number;
}

async function serve(listener: RequestListener, tls: object | undefined): Promise<Upstream> {
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener);
  let connections = 0;
  server.on(tls ? "secureConnection" : "connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls ? "https" : "http"}://localhost:${port}`, connections: () => connections };
}

const hello: RequestListener = (request, response) =>
  void request.resume().on("end", () => response.end(`hi ${request.headers.host}`));

async function proxy(options: ProxyOptions = {}) {
  const started = await startProxy(options);
  closers.push(() => started.close());
  return started;
}

/** Sends requests like text calls and like media calls. */
function callsTo(url: string, variables: Record<string, string>, access?: Partial<Access>) {
  const pools = createPools({ quietMs: 0, proxies: proxiesOf(variables) });
  closers.push(() => pools.close());
  const testProvider: Provider = {
    ...provider("openai", url),
    access: { headers: {}, query: {}, paths: {}, request: { add: {}, remove: [] }, ...access },
  };
  const text = asker(url, {
    ...pools,
    get: (origin, connectMs) => pools.get(origin, connectMs, testProvider),
  });
  return {
    text: () => resultOf(text()),
    async media() {
      try {
        const pool = pools.forMedia(new URL(url).origin, 2_000, testProvider);
        const request = { method: "GET", path: "/v1/x", headers: {} } as const;
        const { status, body } = await ask(pool, testProvider, request);
        return { status, body: body.toString() };
      } catch (error) {
        return { failure: (error as { failure: string }).failure, message: String(error) };
      }
    },
  };
}

const tls = { tls: { ca: authority.cert, files: {} } };
const secret = "pass-word-7741";

describe.each(["text", "media"] as const)("a %s call", (kind) => {
  it("reaches an https upstream by CONNECT with the proxy's password, and reuses one connection", async () => {
    const upstream = await serve(hello, certificate);
    const via = await proxy({ user: `user:${secret}` });
    const calls = callsTo(upstream.url, { HTTPS_PROXY: via.url }, tls);
    const { host } = new URL(upstream.url);
    for (let call = 0; call < 3; call += 1)
      expect(await calls[kind]()).toMatchObject({ status: 200, body: `hi ${host}` });
    expect(via.asked).toEqual([`CONNECT ${host}`]);
    expect([via.connections(), upstream.connections()]).toEqual([1, 1]);
  });

  it("reaches an http upstream in absolute form over one connection, and does not pass on the proxy's password", async () => {
    const seen: unknown[] = [];
    const upstream = await serve((request, response) => {
      seen.push(request.headers["proxy-authorization"]);
      hello(request, response);
    }, undefined);
    const via = await proxy({ user: `user:${secret}` });
    const calls = callsTo(upstream.url, { http_proxy: via.url });
    const { host } = new URL(upstream.url);
    for (let call = 0; call < 3; call += 1)
      expect(await calls[kind]()).toMatchObject({ status: 200, body: `hi ${host}` });
    const method = kind === "text" ? "POST" : "GET";
    expect(via.asked).toEqual(Array(3).fill(`${method} ${upstream.url}/v1/x`));
    expect(via.connections()).toBe(1);
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  it("goes through a proxy with an https address if the proxy's authority is trusted", async () => {
    const upstream = await serve(hello, certificate);
    const own = makeCertificate(["localhost"]);
    const via = await proxy({ certificate: own });
    const url = via.url.replace("127.0.0.1", "localhost");
    const unknown = await callsTo(upstream.url, { HTTPS_PROXY: url }, tls)[kind]();
    expect(unknown).toMatchObject({
      failure: "proxy",
      message: expect.stringMatching(/PROXY_UNREACHABLE .*DEPTH_ZERO_SELF_SIGNED_CERT/),
    });
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, own.cert]);
    try {
      const calls = callsTo(upstream.url, { HTTPS_PROXY: url }, tls);
      for (let call = 0; call < 2; call += 1)
        expect(await calls[kind]()).toMatchObject({ status: 200 });
      expect(via.asked).toHaveLength(1);
    } finally {
      setDefaultCACertificates(trusted);
    }
  });

  it("skips the environment's proxy for a NO_PROXY host, and prefers the provider's own `proxy` setting", async () => {
    const upstream = await serve(hello, certificate);
    const [via, own] = [await proxy(), await proxy()];
    const direct = callsTo(upstream.url, { HTTPS_PROXY: via.url, NO_PROXY: "localhost" }, tls);
    expect(await direct[kind]()).toMatchObject({ status: 200 });
    const none = callsTo(upstream.url, { HTTPS_PROXY: via.url }, { ...tls, proxy: "none" });
    expect(await none[kind]()).toMatchObject({ status: 200 });
    expect(via.asked).toEqual([]);
    const named = { ...tls, proxy: parseProxy(own.url) };
    const other = callsTo(upstream.url, { HTTPS_PROXY: via.url, NO_PROXY: "localhost" }, named);
    expect(await other[kind]()).toMatchObject({ status: 200 });
    expect([via.asked.length, own.asked.length]).toEqual([0, 1]);
  });

  it.each([
    ["wrong credentials", { user: "user:other" }, "PROXY_407"],
    ["a forbidden host", { refuses: 403 }, "PROXY_403"],
    ["a host it cannot reach", { to: () => ({ host: "127.0.0.1", port: 1 }) }, "PROXY_502"],
  ])("reports %s as a proxy failure, without the password", async (_what, options, code) => {
    const upstream = await serve(hello, certificate);
    const via = await proxy(options);
    const url = via.url.replace(/\/\/(.*@)?/, `//user:${secret}@`);
    const result = await callsTo(upstream.url, { HTTPS_PROXY: url }, tls)[kind]();
    expect(result).toMatchObject({ failure: "proxy", message: expect.stringContaining(code) });
    expect(JSON.stringify(result)).not.toContain(secret);
    expect(JSON.stringify(result)).toContain(`http://127.0.0.1:${via.port}`);
    expect(upstream.connections()).toBe(0);
  });

  it("reports wrong credentials as a proxy failure in absolute form too", async () => {
    const upstream = await serve(hello, undefined);
    const via = await proxy({ user: "user:other" });
    const result = await callsTo(upstream.url, { http_proxy: via.url.replace(/\/\/.*@/, "//") })[
      kind
    ]();
    expect(result).toMatchObject({
      failure: "proxy",
      message: expect.stringContaining("PROXY_407"),
    });
  });

  it("reports an unreachable proxy, and a server that is not a proxy", async () => {
    const upstream = await serve(hello, certificate);
    const plain = callsTo("http://api.example.com", { http_proxy: "http://127.0.0.1:1" });
    expect(await plain[kind]()).toMatchObject({
      failure: "proxy",
      message: expect.stringMatching(/PROXY_UNREACHABLE http:\/\/127.0.0.1:1 .*ECONNREFUSED/),
    });
    const result = await callsTo(upstream.url, { HTTPS_PROXY: "http://127.0.0.1:1" }, tls)[kind]();
    expect(result).toMatchObject({
      failure: "proxy",
      message: expect.stringContaining("PROXY_UNREACHABLE http://127.0.0.1:1"),
    });
    const mailServer = createTcpServer((socket) => socket.end("220 mail ready\r\n"));
    await new Promise<void>((resolve) => mailServer.listen(0, "127.0.0.1", resolve));
    closers.push(() => void mailServer.close());
    const { port } = mailServer.address() as AddressInfo;
    const none = await callsTo(upstream.url, { HTTPS_PROXY: `127.0.0.1:${port}` }, tls)[kind]();
    expect(none).toMatchObject({
      failure: "proxy",
      message: expect.stringContaining("PROXY_MALFORMED"),
    });
  });

  it("times out if the proxy never answers", async () => {
    const upstream = await serve(hello, certificate);
    const silentServer = createTcpServer(() => undefined);
    await new Promise<void>((resolve) => silentServer.listen(0, "127.0.0.1", resolve));
    closers.push(() => void silentServer.close());
    const { port } = silentServer.address() as AddressInfo;
    const pools = createPools({ proxies: proxiesOf({ https_proxy: `127.0.0.1:${port}` }) });
    closers.push(() => pools.close());
    const result =
      kind === "text"
        ? await resultOf(asker(upstream.url, { ...pools, get: (at) => pools.get(at, 100) })())
        : await ask(pools.forMedia(upstream.url, 100), provider("openai", upstream.url), {
            method: "GET",
            path: "/",
            headers: {},
          }).catch((error: unknown) => error);
    expect(result).toMatchObject({
      failure: "connect",
      message: expect.stringContaining("ETIMEDOUT"),
    });
  });
});

it("a proxy that never answers CONNECT costs its connection's room once", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const silent = createTcpServer((socket) => void socket.resume().on("close", () => resolve()));
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  closers.push(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const slots = new Slots(10);
  const pools = createPools({ slots, proxies: proxiesOf({ https_proxy: `127.0.0.1:${port}` }) });
  closers.push(() => pools.close());
  const url = "https://api.example.com";
  const request = { method: "GET", path: "/", headers: {} } as const;
  const asked = ask(pools.forMedia(url, 100), provider("openai", url), request);
  await expect(asked).rejects.toMatchObject({ failure: "connect" });
  await closed;
  await nextTurn();
  expect(slots.taken).toBe(0);
});

it("a stream through a tunnel delivers each event as it arrives", async () => {
  let next: (() => void) | undefined;
  const upstream = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    next = () => response.end("data: 2\n\n");
  }, certificate);
  const via = await proxy();
  const pools = createPools({ proxies: proxiesOf({ HTTPS_PROXY: via.url }) });
  closers.push(() => pools.close());
  const testProvider: Provider = {
    ...provider("openai", upstream.url),
    access: { headers: {}, query: {}, paths: {}, request: { add: {}, remove: [] }, ...tls },
  };
  const opened = asker(upstream.url, {
    ...pools,
    get: (at) => pools.get(at, 2_000, testProvider),
  })();
  const exchange = await opened.answer;
  const seen: string[] = [];
  await new Promise<void>((resolve, reject) =>
    exchange.consume({
      data(chunk) {
        seen.push(chunk.toString());
        // The server sends the second event only after the first has arrived.
        next?.();
      },
      end: resolve,
      fail: reject,
    }),
  );
  expect(seen.join("")).toBe("data: 1\n\ndata: 2\n\n");
  expect(seen.length).toBeGreaterThan(1);
});

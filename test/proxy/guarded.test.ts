/** Callbacks and downloads through a proxy: guarded and pinned as without one. HOOK-07, HOOK-08, T77. */
import { createServer as createTlsServer } from "node:https";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { proxiesOf } from "../../src/base/proxy.ts";
import { createPools, download, guardedRequest, type Resolve } from "../../src/upstream/index.ts";
import { resolver } from "../addresses/servers.ts";
import { makeCertificate } from "../support/certificate.ts";
import { startProxy } from "../support/proxy.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(listener: RequestListener, tls?: object): Promise<number> {
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A proxy that connects every target to one server of ours, and connection pools that use it. */
async function proxyTo(port: number) {
  const via = await startProxy({ to: () => ({ host: "127.0.0.1", port }) });
  closers.push(() => via.close());
  const pools = createPools({ proxies: proxiesOf({ ALL_PROXY: via.url }) });
  closers.push(() => pools.close());
  return { via, pools };
}

const callback = (url: string, resolve: Resolve, pools: ReturnType<typeof createPools>) =>
  guardedRequest({
    url,
    method: "POST",
    headers: {},
    body: "{}",
    timeoutMs: 5_000,
    responseBytesMax: 100,
    https: true,
    allowPrivate: false,
    param: "webhook_url",
    resolve,
    dialRoutes: pools,
  });

it("a callback sends the checked address to the proxy, and the receiver's name to the receiver", async () => {
  const certificate = makeCertificate(["hooks.example"]);
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, certificate.cert]);
  closers.push(() => setDefaultCACertificates(trusted));
  const hosts: unknown[] = [];
  const port = await serve((request, response) => {
    hosts.push(request.headers.host);
    response.end("ok");
  }, certificate);
  const { via, pools } = await proxyTo(port);
  const answer = await callback(
    "https://hooks.example/x",
    resolver({ "hooks.example": [["93.184.216.34"], ["10.0.0.1"]] }),
    pools,
  );
  expect(answer.status).toBe(200);
  expect(via.asked).toEqual(["CONNECT 93.184.216.34:443"]);
  expect(hosts).toEqual(["hooks.example"]);
});

it.each([
  ["a name with a private address", "https://hooks.example/x", { "hooks.example": [["10.0.0.1"]] }],
  [
    "a name with a public and a private address",
    "https://hooks.example/",
    { "hooks.example": [["93.184.216.34", "127.0.0.1"]] },
  ],
  ["a private address as the host", "https://127.0.0.1/x", {}],
])(
  "a callback through the proxy is refused for a private address: %s",
  async (_what, url, names) => {
    const { via, pools } = await proxyTo(1);
    await expect(callback(url, resolver(names), pools)).rejects.toThrow("private or reserved");
    expect(via.asked).toEqual([]);
  },
);

it("a download over plain HTTP is tunnelled to the checked address too, after a redirect as well", async () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  const port = await serve((request, response) => {
    if (request.url === "/moved")
      response.writeHead(302, { location: "http://two.example/f" }).end();
    else response.writeHead(200, { "content-length": png.length }).end(png);
  });
  const { via, pools } = await proxyTo(port);
  const resolve = resolver({
    "one.example": [["93.184.216.34"]],
    "two.example": [["2606:2800:220:1::1"], ["10.0.0.1"]],
  });
  const request = {
    kind: "image",
    bytesMax: 1_000,
    idleMs: 5_000,
    totalMs: 5_000,
    providerUrl: "https://api.example/v1",
    allowPrivate: false,
    resolve,
    dialRoutes: pools,
  } as const;
  const got = await download({ ...request, url: "http://one.example/moved" }, async (body) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  });
  expect(got).toEqual(png);
  expect(via.asked).toEqual(["CONNECT 93.184.216.34:80", "CONNECT [2606:2800:220:1::1]:80"]);
  // The name now resolves to a private address.
  await expect(
    download({ ...request, url: "http://two.example/f" }, () => Promise.resolve(0)),
  ).rejects.toThrow("private or reserved");
  expect(via.asked).toHaveLength(2);
});

it("a provider's own authority is trusted for its own server only, not for other hosts of a download", async () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  const hosts = ["own.example", "other.example"];
  const certificate = makeCertificate(hosts);
  const port = await serve(
    (_request, response) => response.writeHead(200, { "content-length": png.length }).end(png),
    certificate,
  );
  const dialRoute = { name: "its own authority", tls: { ca: certificate.cert, files: {} } };
  const [own, other] = hosts.map((host) =>
    download(
      {
        url: `https://${host}:${port}/f`,
        kind: "image",
        bytesMax: 1_000,
        idleMs: 5_000,
        totalMs: 5_000,
        providerUrl: `https://own.example:${port}/v1`,
        allowPrivate: true,
        resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
        dialRoutes: { dialRoute: () => dialRoute },
      },
      async (body) => Buffer.concat(await Array.fromAsync(body)),
    ),
  );
  await expect(other).rejects.toMatchObject({ failure: "connect" });
  expect(await own).toEqual(png);
});

/** Who may read /metrics and the sandbox's journal: no callers behind a proxy, and no web pages. docs/operate.md "Metrics". */
import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

/** A GET with exactly these headers: fetch does not allow to set Host. */
function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (bytes: Buffer) => (text += bytes.toString()));
      response.on("end", () => resolve({ status: response.statusCode!, text }));
    });
    outgoing.on("error", reject).end();
  });
}

const metrics = /^process_resident_memory_bytes /m;
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

describe("/metrics without a token", () => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => (gateway = await startTestGateway({ environment: { HOST: "0.0.0.0" } })));
  afterAll(() => gateway.close());
  const url = (host: string) => `http://${host}:${new URL(gateway.url).port}/metrics`;

  it("is readable by a program on the gateway's machine", async () => {
    for (const host of ["127.0.0.1", "localhost"]) {
      const answer = await get(url(host));
      expect(answer.status).toBe(200);
      expect(answer.text).toMatch(metrics);
    }
  });

  it.each([
    ["X-Forwarded-For", { "x-forwarded-for": "127.0.0.1" }],
    ["Forwarded", { forwarded: "for=127.0.0.1" }],
    ["Via", { via: "1.1 proxy" }],
    ["X-Real-IP", { "x-real-ip": "127.0.0.1" }],
    ["a public Host, as HAProxy passes it on", { host: "gateway.example.com" }],
    ["a Host that a page has pointed here", { host: "evil.example:8080" }],
  ])("refuses a request through a local proxy: %s", async (_name, headers) => {
    const answer = await get(url("127.0.0.1"), headers);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("TOLLGATE_METRICS_TOKEN");
    expect(answer.text).not.toMatch(metrics);
  });

  it("refuses HTTP/1.0, which nginx uses by default without adding a header", async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () =>
        socket.write("GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n"),
      );
      let all = "";
      socket.on("data", (bytes: Buffer) => (all += bytes.toString()));
      socket.on("close", () => resolve(all)).on("error", reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
  });

  it.skipIf(ownAddress === undefined)("refuses another machine", async () => {
    expect((await get(url(ownAddress!))).status).toBe(403);
    expect((await get(url(ownAddress!), { "x-forwarded-for": "127.0.0.1" })).status).toBe(403);
    expect((await get(url(ownAddress!).replace("/metrics", "/healthz"))).status).toBe(200);
  });

  it.each([
    ["a public address", { TOLLGATE_PUBLIC_URL: "https://gateway.example.com" }],
    ["loopback among the trusted proxies", { TOLLGATE_TRUSTED_PROXIES: "loopback" }],
  ])("with %s refuses loopback too", async (_name, environment) => {
    const proxied = await startTestGateway({ environment });
    const refused = await get(`${proxied.url}/metrics`);
    expect(refused.status).toBe(403);
    // A direct scrape on the same machine gets the reason of the refusal.
    expect(refused.text).toContain("TOLLGATE_PUBLIC_URL or TOLLGATE_TRUSTED_PROXIES says");
    await proxied.close();
  });
});

it("TOLLGATE_METRICS_TOKEN admits its bearer from anywhere, and no other request", async () => {
  const gateway = await startTestGateway({ environment: { TOLLGATE_METRICS_TOKEN: "scrape-me" } });
  const url = `${gateway.url}/metrics`;
  const proxied = { "x-forwarded-for": "203.0.113.9", host: "gateway.example.com" };
  const right = await get(url, { ...proxied, authorization: "Bearer scrape-me" });
  expect(right.status).toBe(200);
  expect(right.text).toMatch(metrics);
  for (const authorization of [
    "Bearer scrape-m",
    "Bearer scrape-me2",
    "Basic scrape-me",
    "Bearer ",
  ]) {
    const wrong = await get(url, { authorization });
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('"code":"invalid_credential"');
  }
  expect((await get(url, { authorization: `Bearer ${gateway.key}` })).status).toBe(401);
  expect((await get(url)).text).toContain('"code":"missing_credential"');
  await gateway.close();
});

it("TOLLGATE_METRICS_PORT serves the metrics on their own port, and the gateway's port answers 404", async () => {
  const gateway = await startTestGateway({ environment: { TOLLGATE_METRICS_PORT: "0" } });
  const own = gateway.metricsUrl!;
  expect((await get(`${gateway.url}/metrics`)).status).toBe(404);
  expect(new URL(own).hostname).toBe("127.0.0.1");
  expect((await get(own)).text).toMatch(metrics);
  expect((await get(own.replace("metrics", "admin/v1/keys"))).status).toBe(404);
  expect((await get(own, { host: "evil.example" })).status).toBe(403);
  await gateway.close();
  await expect(get(own)).rejects.toThrow("ECONNREFUSED");
});

it("TOLLGATE_METRICS_PORT with a token requires that token", async () => {
  const gateway = await startTestGateway({
    environment: { TOLLGATE_METRICS_PORT: "0", TOLLGATE_METRICS_TOKEN: "scrape-me" },
  });
  expect((await get(gateway.metricsUrl!)).status).toBe(401);
  const right = await get(gateway.metricsUrl!, { authorization: "Bearer scrape-me" });
  expect(right.text).toMatch(metrics);
  await gateway.close();
});

it("a TOLLGATE_METRICS_PORT that another program has is reported by its own name", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const failed = startTestGateway({ environment: { TOLLGATE_METRICS_PORT: String(port) } });
  const { text } = await explain(await failed.catch((error: unknown) => error));
  expect(text).toMatch(new RegExp(`^port ${port} on .* choose another with TOLLGATE_METRICS_PORT`));
  other.close();
});

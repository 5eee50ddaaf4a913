/** Pipelined requests: the gateway handles them one at a time, in order, and only a limited number. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answerInOrder, waitingMax } from "../../src/http/front/pipelined.ts";
import { bytesOf, closeAll, openRaw, type RawClient } from "../attack/raw-clients.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const clients: RawClient[] = [];
afterEach(() => closeAll(clients.splice(0)));

/** Opens a connection with a request for the first path, and sends requests for the other paths in one write. */
function ask(url: string, paths: readonly string[]): RawClient {
  const [first = "", ...others] = paths;
  const client = openRaw(url, { path: first });
  client.socket.write(others.map((path) => bytesOf({ path })).join(""));
  clients.push(client);
  return client;
}

describe("a pipelined request", () => {
  /** Requests that have begun and were not answered yet. */
  const begun = new Map<string, ServerResponse>();
  const paths = () => [...begun.keys()];
  const server = createServer((raw, response) =>
    answerInOrder(raw.socket, response, () => void begun.set(raw.url!, response)),
  );
  beforeEach(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  afterEach(() => {
    begun.clear();
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = (path: string) => begun.get(path)!.end(`${path} is over`);

  it("starts when the answer before it has been sent", async () => {
    const client = ask(url(), ["/a", "/b", "/c"]);
    await expect.poll(paths).toEqual(["/a"]);
    answer("/a");
    await expect.poll(paths).toEqual(["/a", "/b"]);
    answer("/b");
    await expect.poll(paths).toEqual(["/a", "/b", "/c"]);
    answer("/c");
    await expect.poll(() => client.text()).toContain("/c is over");
    expect(client.text().match(/\/. is over/g)).toEqual(
      ["/a", "/b", "/c"].map((p) => `${p} is over`),
    );
  });

  it("never starts on a connection that has ended", async () => {
    const client = ask(url(), ["/a", "/b"]);
    await expect.poll(paths).toEqual(["/a"]);
    const closed = new Promise((resolve) => begun.get("/a")!.once("close", resolve));
    client.socket.destroy();
    await closed;
    const next = ask(url(), ["/c"]);
    await expect.poll(paths).toEqual(["/a", "/c"]);
    expect(next.closed()).toBe(false);
  });

  it("never starts after an answer that closes the connection", async () => {
    const client = ask(url(), ["/a", "/b"]);
    await expect.poll(paths).toEqual(["/a"]);
    begun.get("/a")!.setHeader("connection", "close");
    answer("/a");
    await expect.poll(() => client.closed()).toBe(true);
    expect(paths()).toEqual(["/a"]);
  });

  it("closes the connection if more than `waitingMax` wait", async () => {
    const many = Array.from({ length: waitingMax + 1 }, (_, at) => `/${at}`);
    const client = ask(url(), many);
    await expect.poll(paths).toEqual(["/0"]);
    client.socket.write(bytesOf({ path: "/more" }));
    await expect.poll(() => client.closed()).toBe(true);
    expect(paths()).toEqual(["/0"]);
  });
});

describe("a client that sends many requests in one write", () => {
  let gateway: GatewayUnderTest;
  beforeEach(async () => (gateway = await startTestGateway({ sandbox: "on" })));
  afterEach(() => gateway.close());

  it("is disconnected at 1,500 requests, and other callers are served", async () => {
    const many = Array.from({ length: 1_500 }, () => "/healthz");
    const client = ask(gateway.url, many);
    await expect.poll(() => client.closed()).toBe(true);
    expect((await gateway.get("/v1/key")).status).toBe(200);
  });

  it("gets one answer for each request, up to the limit", async () => {
    const many = Array.from({ length: waitingMax + 1 }, () => "/healthz");
    const client = ask(gateway.url, many);
    const statuses = () => client.text().match(/HTTP\/1\.1 200/g)?.length;
    await expect.poll(statuses).toBe(waitingMax + 1);
    expect(client.closed()).toBe(false);
  });
});

describe.each([
  ["the fast path", true],
  ["Node's HTTP", false],
] as const)("an incomplete request after a call, on %s", (_name, fastPath) => {
  let gateway: GatewayUnderTest;
  beforeEach(async () => {
    const receive = { headersMs: 300, requestMs: 60_000, checkMs: 50 };
    gateway = await startTestGateway({ sandbox: "on", fastPath, receive });
    await gateway.credit("1");
  });
  afterEach(() => gateway.close());

  it("gets 408 when the call has its answer, however long that took", async () => {
    const content = `Hi\n#sandbox {"delay_ms": 1500}`;
    const body = JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content }] });
    const authorization = `Bearer ${gateway.key}`;
    const path = "/v1/chat/completions";
    const client = openRaw(gateway.url, { path, headers: { authorization }, body });
    clients.push(client);
    client.socket.write("GET /healthz HTTP/1.1\r\nHo");
    await expect.poll(() => client.closed()).toBe(true);
    expect(client.text().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 408"]);
  });
});

/** Requests to an upstream, byte for byte: invalid ones, large ones, and TLS. */
import { createServer as createTcpServer, type Socket } from "node:net";
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from "node:tls";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../support/certificate.ts";
import {
  asker,
  listen,
  sleep,
  startRaw,
  resultOf,
  until,
  type RawUpstream,
} from "./http1-support.ts";

const ok = (lines = "", body = "hello"): string =>
  `HTTP/1.1 200 OK\r\n${lines}content-length: ${body.length}\r\n\r\n${body}`;
const answering = (text: string) => (socket: Socket) => void socket.write(text, "latin1");

describe("a request", () => {
  it("is a POST with its headers and the length of its body in bytes", async () => {
    const upstream = await startRaw(answering(ok()));
    const ask = asker(upstream.url);
    const host = upstream.url.slice("http://".length);
    const head = (length: number, more = "") =>
      `POST /v1/x HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${more}content-length: ${length}\r\n\r\n`;
    const bodies = ["", "{}", "é", "𝄞 and 中", "\ud800", "x".repeat(20_000), "é".repeat(20_000)];
    for (const [index, body] of bodies.entries()) {
      await resultOf(ask({ body, headers: { Accept: "a/b" } }));
      const bytes = Buffer.from(body);
      expect(upstream.requests[index]!.text).toBe(
        head(bytes.length, "Accept: a/b\r\n") + bytes.toString("latin1"),
      );
    }
    for (const body of ["{}", "é"]) {
      await resultOf(ask({ body, headers: { "x-name": "caf\xe9" } }));
      const bytes = Buffer.from(body);
      expect(upstream.requests.at(-1)!.text).toBe(
        head(bytes.length, "x-name: caf\xe9\r\n") + bytes.toString("latin1"),
      );
    }
  });

  it("goes to its own path, even if its headers are the same object as before", async () => {
    const upstream = await startRaw(answering(ok()));
    const ask = asker(upstream.url);
    const headers = {};
    for (const path of ["/a", "/b?c=d", "/a"]) await resultOf(ask({ path, headers }));
    expect(upstream.requests.map(({ text }) => text.split(" ")[1])).toEqual(["/a", "/b?c=d", "/a"]);
  });

  it.each([
    ["a line break in a value", { authorization: "Bearer a\r\nx: y" }, "authorization"],
    ["a line feed in a value", { authorization: "Bearer a\n" }, "authorization"],
    ["a NUL in a value", { authorization: "Bearer \0" }, "authorization"],
    ["letters beyond Latin-1", { authorization: "Bearer ключ" }, "authorization"],
    ["an invalid name", { "x y": "z" }, "name"],
    ["an empty name", { "": "z" }, "name"],
    ["a length of its own", { "Content-Length": "0" }, "Content-Length"],
    ["a coding of its own", { "transfer-encoding": "chunked" }, "transfer-encoding"],
  ])("with %s is not sent, and the error does not show the value", async (_, headers, named) => {
    const upstream = await startRaw(answering(ok()));
    const { failure, message } = await resultOf(asker(upstream.url)({ headers }));
    expect(failure).toBe("broken");
    expect(message).toContain(named);
    expect(message).not.toContain("Bearer");
    expect(upstream.sockets).toHaveLength(0);
  });

  it.each(["/a b", "/a\r\nx: y", "a", "/ü"])("to the path %j is not sent", async (path) => {
    const upstream = await startRaw(answering(ok()));
    expect(await resultOf(asker(upstream.url)({ path }))).toMatchObject({ failure: "broken" });
    expect(upstream.sockets).toHaveLength(0);
  });

  it("with 30 MB arrives complete", async () => {
    const upstream = await startRaw(answering(ok()));
    const body = `${"x".repeat(30_000_000)}é`;
    expect((await resultOf(asker(upstream.url)({ body }))).body).toBe("hello");
    expect(upstream.requests[0]!.text).toHaveLength(
      Buffer.byteLength(body) + upstream.requests[0]!.text.indexOf("\r\n\r\n") + 4,
    );
  });

  it("gets its answer if it is refused before it is sent completely, and its connection is closed", async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.once("data", () => {
        // Stop reading.
        socket.pause();
        socket.write(ok("", "too large").replace("200 OK", "413 Too Large"));
      });
    });
    const ask = asker(`http://127.0.0.1:${await listen(server)}`);
    const body = "x".repeat(30_000_000);
    expect(await resultOf(ask({ body }))).toMatchObject({ status: 413, body: "too large" });
    expect(await resultOf(ask({ body }))).toMatchObject({ status: 413, body: "too large" });
    expect(sockets).toHaveLength(2);
  });
});

describe("a connection over TLS", () => {
  const certificate = makeCertificate(["localhost"]);
  const servers = (upstream: RawUpstream, name: string) =>
    upstream.url.replace("http", "https").replace("127.0.0.1", name);
  const start = (names: string[] = []) =>
    startRaw(answering(ok()), (listener) =>
      createTlsServer({ ...certificate, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
        names.push(
          `${String(socket.servername)} ${String(socket.alpnProtocol)} ${socket.isSessionReused()}`,
        );
        listener(socket);
      }),
    );

  it("is refused if its certificate is not trusted", async () => {
    const upstream = await start();
    expect(await resultOf(asker(servers(upstream, "localhost"))())).toMatchObject({
      failure: "tls",
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it("sends its host name, speaks HTTP/1.1, resumes sessions, and slows the server when paused", async () => {
    const before = getCACertificates("default");
    setDefaultCACertificates([...before, certificate.cert]);
    try {
      const names: string[] = [];
      const upstream = await start(names);
      const ask = asker(servers(upstream, "localhost"));
      expect(await resultOf(ask())).toMatchObject({ body: "hello" });
      expect((await resultOf(ask())).body).toBe("hello");
      expect(names).toEqual(["localhost http/1.1 false"]);
      const { port } = new URL(upstream.url);
      expect(upstream.requests[0]!.text).toContain(`host: localhost:${port}\r\n`);
      upstream.answer(answering(ok("connection: close\r\n")));
      await resultOf(ask());
      await resultOf(ask());
      expect(names[1]).toBe("localhost http/1.1 true");
      expect((await resultOf(asker(servers(upstream, "127.0.0.1"))())).body).toBe("hello");
      expect(names[2]).toBe("false http/1.1 false");
      await holdsBack(upstream, ask);
    } finally {
      setDefaultCACertificates(before);
    }
  });
});

async function holdsBack(upstream: RawUpstream, ask: ReturnType<typeof asker>): Promise<void> {
  let sent = 0;
  upstream.answer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const fill = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) sent += 65_536;
      if (!socket.destroyed) socket.once("drain", fill);
    };
    fill();
  });
  const opening = ask();
  const exchange = await opening.answer;
  let received = 0;
  exchange.consume({ data: (chunk) => void (received += chunk.length), end() {}, fail() {} });
  exchange.pause();
  await sleep(100);
  const [sentBefore, receivedBefore] = [sent, received];
  await sleep(100);
  expect(received).toBe(receivedBefore);
  expect(sent - sentBefore).toBeLessThan(8_000_000);
  exchange.resume();
  await until(() => received > receivedBefore + 8_000_000);
  opening.abort();
}

/**
 * Connections of the fast path: which requests it answers, that all others reach Node unchanged, and the format of its answers.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { bytesOf, closing, harmless, oddities, type Parts } from "./fast-path-oddities.ts";
import type { RequestBody } from "../../src/http/exchange.ts";
import {
  answerWhole,
  fast,
  labels,
  openClient,
  other,
  pause,
  plainRequest,
  answeringText,
  useServers,
  wholeAnswers,
  type FastAnswer,
} from "./fast-path-support.ts";

const { start, startHeld } = useServers();

/** Sends requests in sequence, each after the answer to the one before. */
async function sendInSequence(port: number, requests: readonly string[]): Promise<string[]> {
  const client = openClient(port);
  for (const [index, request] of requests.entries()) {
    client.socket.write(request);
    await client.until((text) => wholeAnswers(text) > index);
  }
  client.socket.destroy();
  return labels(client.text());
}

describe("the choice between the fast path and Node", () => {
  it("the fast path answers plain requests, one after another on one connection", async () => {
    const { port } = await start();
    expect(await sendInSequence(port, [fast, fast, fast])).toEqual(["fast", "fast", "fast"]);
  });

  it("Node answers from the first other request on", async () => {
    const { port } = await start();
    expect(await sendInSequence(port, [fast, other, fast])).toEqual(["fast", "node", "node"]);
    expect(await sendInSequence(port, [other, fast])).toEqual(["node", "node"]);
  });

  it("Node answers a request whose head arrives in pieces, wherever it is cut", async () => {
    const { port } = await start();
    for (let cut = 1; cut < fast.length - "{}".length; cut += 7) {
      const client = openClient(port);
      client.socket.write(fast.slice(0, cut));
      await pause(15);
      client.socket.write(fast.slice(cut));
      expect(labels(await client.until((text) => wholeAnswers(text) > 0))).toEqual(["node"]);
      client.socket.destroy();
    }
  });

  it("the fast path answers a request whose body arrives in many reads, and the requests after it", async () => {
    const { port } = await start();
    const large = plainRequest("/v1/a", "a".repeat(300_000));
    expect(await sendInSequence(port, [large, fast, large, fast])).toEqual([
      "fast",
      "fast",
      "fast",
      "fast",
    ]);
  });

  it("a body reaches its reader byte for byte, wherever it is cut", async () => {
    const bodies: string[] = [];
    const { port } = await start({ handle: answeringText("fast", (body) => bodies.push(body)) });
    const body = "0123456789".repeat(3);
    const request = plainRequest("/v1/a", body);
    const client = openClient(port);
    for (let missing = 0; missing <= body.length; missing += 1) {
      client.socket.write(request.slice(0, request.length - missing));
      await pause(5);
      if (missing > 0) client.socket.write(request.slice(request.length - missing));
      await client.until((text) => wholeAnswers(text) > missing);
    }
    client.socket.destroy();
    expect(bodies).toEqual(Array.from({ length: body.length + 1 }, () => body));
  });

  it("Node answers a request that arrives in one read with the end of a body, after that body's answer", async () => {
    const { port } = await start();
    const client = openClient(port);
    const large = plainRequest("/v1/a", "a".repeat(100));
    client.socket.write(large.slice(0, -50));
    await pause();
    client.socket.write(large.slice(-50) + other);
    const text = await client.until((so) => wholeAnswers(so) > 1);
    expect(labels(text)).toEqual(["fast", "node"]);
    client.socket.destroy();
  });

  it("an unread body waits in the socket until its answer, and is then read and discarded", async () => {
    const taken: { response: FastAnswer; body: RequestBody }[] = [];
    const { port } = await start({
      handle: (_request, response, body) => taken.push({ response, body }) > 0,
    });
    const client = openClient(port);
    client.socket.write(plainRequest("/v1/a", "a".repeat(30_000_000)));
    await expect.poll(() => taken.length).toBe(1);
    const { response, body } = taken[0]!;
    await pause(100);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    answerWhole(response);
    await client.until((text) => wholeAnswers(text) > 0);
    await expect.poll(() => body).toMatchObject({ readableEnded: true });
    client.socket.write(fast);
    await expect.poll(() => taken.length).toBe(2);
    client.socket.destroy();
  });

  it("Node answers two requests that arrive in one write, in order", async () => {
    const { port } = await start();
    const client = openClient(port);
    client.socket.write(fast + other);
    expect(labels(await client.until((text) => wholeAnswers(text) > 1))).toEqual(["node", "node"]);
    client.socket.destroy();
  });

  it("the server counts the connections of both", async () => {
    const { port, server } = await start();
    const clients = [openClient(port), openClient(port)];
    clients[0]!.socket.write(fast);
    clients[1]!.socket.write(other);
    for (const client of clients) await client.until((text) => wholeAnswers(text) > 0);
    const count = await new Promise((resolve) =>
      server.getConnections((_error, number) => resolve(number)),
    );
    expect(count).toBe(2);
    for (const { socket } of clients) socket.destroy();
  });
});

describe("an odd request", () => {
  const body = '{"model":"a"}';
  const plain: Parts = {
    line: "POST /v1/a HTTP/1.1",
    headers: ["Host: gateway", "Content-Type: text/plain", `Content-Length: ${body.length}`],
    body,
  };
  /** Sends bytes and returns everything received until the connection ends, without Date headers. */
  async function answerTo(port: number, bytes: Buffer): Promise<string> {
    const client = openClient(port);
    client.socket.write(bytes);
    await client.until((text) => wholeAnswers(text) > 0);
    client.socket.end();
    return (await client.closed).replaceAll(/Date: .*\r\n/g, "");
  }

  it.each(oddities)("is answered as without the fast path: %s", async (_name, change) => {
    const [first, second] = [await start(), await start({ fast: false })];
    const bytes = bytesOf(change(plain));
    const answer = await answerTo(first.port, bytes);
    expect(answer).not.toContain("fast");
    expect(answer).toBe(await answerTo(second.port, bytes));
  });

  it.each([...harmless, ...closing])("is answered by the fast path: %s", async (_name, change) => {
    const { port } = await start();
    expect(labels(await answerTo(port, bytesOf(change(plain))))).toEqual(["fast"]);
  });
});

describe("bytes that arrive during a call", () => {
  it("are kept as the next requests, which Node answers", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    client.socket.write(fast);
    await pause();
    client.socket.write(other);
    await pause();
    expect(client.text()).toBe("");
    answerWhole(response);
    const text = await client.until((so) => wholeAnswers(so) > 2);
    expect(labels(text)).toEqual(["fast", "node", "node"]);
    client.socket.destroy();
  });

  it("wait in the socket above a limit, and then arrive completely", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    const large = plainRequest("/v1/a", "a".repeat(30_000_000));
    client.socket.write(large + other);
    await pause(100);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    answerWhole(response);
    const text = await client.until((so) => wholeAnswers(so) > 2);
    expect(labels(text)).toEqual(["fast", "node", "node"]);
    client.socket.destroy();
  });

  it("get 400 from Node after the answer if they are noise", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    client.socket.write("noise\r\n\r\n");
    await pause();
    answerWhole(response);
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 [^]*fastHTTP\/1\.1 400 /);
  });

  it("are ignored if they are an empty line after a body", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    client.socket.write("\r\n");
    await pause();
    answerWhole(response);
    client.socket.write(fast);
    expect(labels(await client.until((so) => wholeAnswers(so) > 1))).toEqual(["fast", "node"]);
    client.socket.destroy();
  });
});

describe("the last request of a connection", () => {
  const last = fast.replace("\r\n", "\r\nConnection: close\r\n");

  it.each(["content-length", "chunks"])(
    "is answered with `Connection: close`, and the connection is closed: %s",
    async (how) => {
      const { port, next, server } = await startHeld();
      const accepted = once(server, "connection") as Promise<[Socket]>;
      const client = openClient(port);
      client.socket.write(last);
      const response = await next();
      // Bytes after the last request are ignored.
      client.socket.write(fast);
      const [socket] = await accepted;
      await expect.poll(() => socket.bytesRead).toBe(last.length + fast.length);
      response.writeHead(200, how === "chunks" ? {} : { "content-length": 4 });
      response.end("fast");
      const text = await client.closed;
      const body = how === "chunks" ? "4\r\nfast\r\n0\r\n\r\n" : "fast";
      expect(text).toMatch(new RegExp(`^HTTP/1.1 200 [^]*\r\n\r\n${body}$`));
      expect(text).toContain("\r\nConnection: close\r\n");
      expect(text).not.toContain("Keep-Alive");
    },
  );

  it("is answered even if its body still arrives", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    const large = plainRequest("/v1/a", "a".repeat(3_000_000));
    client.socket.write(large.replace("\r\n", "\r\nConnection: close\r\n"));
    answerWhole(await next());
    expect(labels(await client.closed)).toEqual(["fast"]);
  });

  it("does not change the answer to the request before it", async () => {
    const { port } = await start();
    const client = openClient(port);
    client.socket.write(fast);
    expect(await client.until((text) => wholeAnswers(text) > 0)).toContain("keep-alive");
    client.socket.write(last);
    expect(labels(await client.closed)).toEqual(["fast", "fast"]);
  });
});

describe("an answer of the fast path", () => {
  it("is sent in chunks if it is a stream, with its head and first text together", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    response.setHeader("x-early", "1");
    response.writeHead(200, { "content-type": "text/plain" });
    await pause();
    expect(client.text()).toBe("");
    response.write("Grüße");
    response.write("");
    response.end("");
    const text = await client.until((so) => so.endsWith("0\r\n\r\n"));
    expect(Buffer.from(text, "latin1").toString()).toMatch(
      /^HTTP\/1\.1 200 OK\r\nx-early: 1\r\ncontent-type: text\/plain\r\nDate: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=72\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nGrüße\r\n0\r\n\r\n$/,
    );
    client.socket.destroy();
  });

  it("is sent in one write per turn of the event loop", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    const reads: string[] = [];
    client.socket.on("data", (bytes: Buffer) => reads.push(bytes.toString()));
    response.writeHead(200, {});
    for (const text of ["a", "b", "c"]) expect(response.write(text)).toBe(true);
    await client.until((so) => so.includes("\nc\r\n"));
    response.write("d");
    response.end("e");
    await client.until((so) => so.endsWith("0\r\n\r\n"));
    expect(reads).toEqual([
      expect.stringMatching(/\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n$/),
      "1\r\nd\r\n1\r\ne\r\n0\r\n\r\n",
    ]);
    client.socket.destroy();
  });

  it("throws for header values with line breaks or characters beyond Latin-1", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    expect(() => response.setHeader("x-a", "b\r\nset-cookie: c")).toThrow(TypeError);
    expect(() => response.writeHead(200, { "x-a": "b\nc" })).toThrow(TypeError);
    expect(() => response.writeHead(200, { "x-a": "\u0100" })).toThrow(TypeError);
    expect(response.headersSent).toBe(false);
    answerWhole(response);
    expect(() => response.writeHead(200, {})).toThrow("already");
    expect(await client.until((so) => wholeAnswers(so) > 0)).not.toContain("set-cookie");
    client.socket.destroy();
  });

  it("ignores writes after its end", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const first = await next();
    answerWhole(first, "one");
    client.socket.write(fast);
    const second = await next();
    first.write("late");
    first.end("late");
    answerWhole(second, "two");
    const text = await client.until((so) => wholeAnswers(so) > 1);
    expect(text).toMatch(/one[^]*two$/);
    expect(text).not.toContain("late");
    client.socket.destroy();
  });

  it("slows down for a slow reader, which gets all of it", async () => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    client.socket.pause();
    response.writeHead(200, {});
    const piece = "x".repeat(100_000);
    let drains = 0;
    let written = 0;
    const go = (): void => {
      while (written < 120) {
        written += 1;
        if (!response.write(piece)) return;
      }
      response.end("");
    };
    response.on("drain", () => {
      drains += 1;
      go();
    });
    go();
    await pause(100);
    // The kernel's buffers hold a part of it.
    expect(written).toBeLessThan(120);
    client.socket.resume();
    const text = await client.until((so) => so.endsWith("0\r\n\r\n"));
    expect(text.split(piece)).toHaveLength(120 + 1);
    expect(drains).toBeGreaterThan(0);
    client.socket.destroy();
  });

  it("blocks further requests of its connection until the client reads it", async () => {
    const { port, next, server } = await startHeld();
    let requests = 0;
    server.on("request", () => (requests += 1));
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    client.socket.pause();
    answerWhole(response, "y".repeat(12_000_000));
    client.socket.write(fast);
    await pause(100);
    expect(requests).toBe(0);
    client.socket.resume();
    expect(labels(await client.until((so) => so.endsWith("node")))).toEqual(["node"]);
    client.socket.destroy();
  });
});

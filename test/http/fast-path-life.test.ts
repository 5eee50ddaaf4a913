// The life of a connection on the fast path: clients that leave, timeouts, the server's end. All as with Node.
import { once } from "node:events";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { BodyStream } from "../../src/http/exchange.ts";
import {
  answerWhole,
  fast,
  labels,
  openClient,
  pause,
  plainRequest,
  useServers,
  wholeAnswers,
  type FastAnswer,
  type Client,
} from "./fast-path-support.ts";

const { start, startHeld } = useServers();

describe("clients that leave", () => {
  it.each([
    ["reset", (client: Client) => client.socket.resetAndDestroy()],
    ["close", (client: Client) => client.socket.destroy()],
    ["end their side", (client: Client) => client.socket.end()],
  ])("abort the call's response when they %s during the answer", async (_name, leave) => {
    const { port, next } = await startHeld();
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    const gone = new Promise<void>((resolve) => response.on("close", resolve));
    response.writeHead(200, {});
    response.write("first");
    await client.until((text) => text.includes("first"));
    leave(client);
    await gone;
    expect(response.destroyed).toBe(true);
    expect(response.write("more")).toBe(true);
    response.end("");
  });

  it("leave no open connection behind when they leave between calls", async () => {
    const { port, server } = await start();
    for (const leave of ["end", "destroy", "resetAndDestroy"] as const) {
      const client = openClient(port);
      client.socket.write(fast);
      await client.until((text) => wholeAnswers(text) > 0);
      client.socket[leave]();
      await client.closed;
    }
    const count = () =>
      new Promise((resolve) => server.getConnections((_error, number) => resolve(number)));
    await expect.poll(count).toBe(0);
  });
});

describe("a timeout of a connection", () => {
  it("is a `clientError` if no request has come", async () => {
    const { port, server } = await start({ checkMs: 20, headersMs: 100 });
    const client = openClient(port);
    const [error] = (await once(server, "clientError")) as [{ code: string }, unknown];
    expect(error.code).toBe("ERR_HTTP_REQUEST_TIMEOUT");
    client.socket.destroy();
  });

  it("closes a silent connection without a `clientError` listener, and an idle one", async () => {
    const { port } = await start({ checkMs: 20, headersMs: 100, keepAliveMs: 100 });
    const [silent, idle] = [openClient(port), openClient(port)];
    idle.socket.write(fast);
    expect(await silent.closed).toBe("");
    expect(labels(await idle.closed)).toEqual(["fast"]);
  });

  it("does not end a running call", async () => {
    const { port, next } = await startHeld({ checkMs: 20, headersMs: 100, keepAliveMs: 100 });
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    await pause(400);
    answerWhole(response);
    expect(labels(await client.closed)).toEqual(["fast"]);
  });

  it("does not close a connection whose answer the client has not read yet", async () => {
    const { port, server, next } = await startHeld({ checkMs: 20, keepAliveMs: 50 });
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const client = openClient(port);
    client.socket.write(fast);
    client.socket.pause();
    const [socket] = await accepted;
    const response = await next();
    response.writeHead(200, {});
    // Write until the kernel's buffers are full; less than the socket's high-water mark waits.
    while (socket.writableLength === 0) {
      response.write("x".repeat(8_192));
      await nextTurn();
    }
    response.end("the end");
    expect(socket.writableNeedDrain).toBe(false);
    // A connection that was answered later is closed as idle.
    const idle = openClient(port);
    idle.socket.write(fast);
    answerWhole(await next());
    await idle.closed;
    client.socket.resume();
    expect(await client.closed).toContain("the end\r\n0\r\n\r\n");
  });

  it("is enforced by Node with 408 for an incomplete head", async () => {
    const { port } = await start({ checkMs: 20, headersMs: 100 });
    const client = openClient(port);
    client.socket.write(fast.slice(0, 30));
    expect(await client.closed).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("a body that still arrives", () => {
  const partialRequest = plainRequest("/v1/a", "a".repeat(100)).slice(0, -50);

  it.each([
    ["reset", (client: Client) => client.socket.resetAndDestroy()],
    ["close", (client: Client) => client.socket.destroy()],
  ])("gives its reader an error when clients %s in the middle of it", async (_name, leave) => {
    const { port, body } = await startReading();
    const client = openClient(port);
    client.socket.write(partialRequest);
    const reading = await body();
    const broken = new Promise((resolve) => reading.on("error", resolve));
    leave(client);
    await broken;
    expect(reading).toMatchObject({ destroyed: true, readableEnded: false });
  });

  it("is a `clientError` if it ends too soon", async () => {
    const { port, server, body } = await startReading();
    const client = openClient(port);
    client.socket.write(partialRequest);
    await body();
    const errorEvent = once(server, "clientError");
    client.socket.end();
    const [error] = (await errorEvent) as [{ code: string }, unknown];
    expect(error.code).toBe("HPE_INVALID_EOF_STATE");
    client.socket.destroy();
  });

  it("is a `clientError` if it takes too long, and an answer that has begun is cut", async () => {
    const { port, server, body, responses } = await startReading();
    const silent = openClient(port);
    const errorEvent = once(server, "clientError");
    silent.socket.write(partialRequest);
    await body();
    const [error] = (await errorEvent) as [{ code: string }, unknown];
    expect(error.code).toBe("ERR_HTTP_REQUEST_TIMEOUT");
    silent.socket.destroy();
    const answered = openClient(port);
    answered.socket.write(partialRequest);
    await body();
    responses.at(-1)!.writeHead(200, {});
    responses.at(-1)!.write("first");
    expect(await answered.closed).toMatch(/first\r\n$/);
  });

  it("delays the close of the server until its answer has ended", async () => {
    const { port, server, body, responses } = await startReading({ requestMs: 60_000 });
    const client = openClient(port);
    client.socket.write(partialRequest);
    await body();
    const closed = once(server, "close");
    server.close();
    server.closeIdleConnections();
    client.socket.write("a".repeat(50));
    answerWhole(responses[0]!);
    expect(labels(await client.until((text) => wholeAnswers(text) > 0))).toEqual(["fast"]);
    server.closeAllConnections();
    await closed;
  });

  /** Starts a server that reads every body and leaves the answers to the test. */
  async function startReading({ requestMs = 200 } = {}) {
    const bodies: BodyStream[] = [];
    const responses: FastAnswer[] = [];
    const server = await start({
      checkMs: 20,
      requestMs,
      handle: (_request, response, body) => {
        responses.push(response);
        if (Buffer.isBuffer(body)) return true;
        body.on("data", () => undefined);
        return bodies.push(body) > 0;
      },
    });
    const body = async (): Promise<BodyStream> => {
      await expect.poll(() => bodies.length).toBeGreaterThan(0);
      return bodies.shift()!;
    };
    return { ...server, responses, body };
  }
});

describe("a closing server", () => {
  it("closes idle connections at once, and busy ones after their answer", async () => {
    const { port, server, next } = await startHeld();
    const [idle, busy] = [openClient(port), openClient(port)];
    idle.socket.write(fast);
    answerWhole(await next());
    await idle.until((text) => wholeAnswers(text) > 0);
    busy.socket.write(fast);
    const response = await next();
    const closed = once(server, "close");
    server.close();
    await idle.closed;
    answerWhole(response);
    await busy.until((text) => wholeAnswers(text) > 0);
    // The gateway does this repeatedly while it stops.
    server.closeIdleConnections();
    expect(labels(await busy.closed)).toEqual(["fast"]);
    await closed;
  });

  it("closes all connections if `closeAllConnections` is called", async () => {
    const { port, server, next } = await startHeld();
    const [fresh, busy] = [openClient(port), openClient(port)];
    busy.socket.write(fast);
    const response = await next();
    const gone = new Promise<void>((resolve) => response.on("close", resolve));
    server.closeAllConnections();
    await Promise.all([fresh.closed, busy.closed, gone]);
    expect(fresh.socket.destroyed && busy.socket.destroyed).toBe(true);
  });
});

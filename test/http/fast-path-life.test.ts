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

const { start, startByHand } = useServers();

describe("clients that leave", () => {
  it.each([
    ["reset", (client: Client) => client.socket.resetAndDestroy()],
    ["close", (client: Client) => client.socket.destroy()],
    ["end their side", (client: Client) => client.socket.end()],
  ])("the call is told when they %s in mid-answer", async (_name, leave) => {
    const { port, next } = await startByHand();
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

  it("between calls: nothing is left of the connection", async () => {
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

describe("time", () => {
  it("a connection that never says anything is a client's error like any other", async () => {
    const { port, server } = await start({ checkMs: 20, headersMs: 100 });
    const client = openClient(port);
    const [error] = (await once(server, "clientError")) as [{ code: string }, unknown];
    expect(error.code).toBe("ERR_HTTP_REQUEST_TIMEOUT");
    client.socket.destroy();
  });

  it("without anybody for such errors it is closed; so is one that is idle too long", async () => {
    const { port } = await start({ checkMs: 20, headersMs: 100, keepAliveMs: 100 });
    const [silent, idle] = [openClient(port), openClient(port)];
    idle.socket.write(fast);
    expect(await silent.closed).toBe("");
    expect(labels(await idle.closed)).toEqual(["fast"]);
  });

  it("a call may take longer than both", async () => {
    const { port, next } = await startByHand({ checkMs: 20, headersMs: 100, keepAliveMs: 100 });
    const client = openClient(port);
    client.socket.write(fast);
    const response = await next();
    await pause(400);
    answerWhole(response);
    expect(labels(await client.closed)).toEqual(["fast"]);
  });

  it("a connection whose answer waits for its client is not idle", async () => {
    const { port, server, next } = await startByHand({ checkMs: 20, keepAliveMs: 50 });
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

  it("a request that is begun and never ended is timed by Node", async () => {
    const { port } = await start({ checkMs: 20, headersMs: 100 });
    const client = openClient(port);
    client.socket.write(fast.slice(0, 30));
    expect(await client.closed).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("a body on its way", () => {
  const begun = plainRequest("/v1/a", "a".repeat(100)).slice(0, -50);

  it.each([
    ["reset", (client: Client) => client.socket.resetAndDestroy()],
    ["close", (client: Client) => client.socket.destroy()],
  ])("its reader is told when they %s in the middle of it", async (_name, leave) => {
    const { port, body } = await startReading();
    const client = openClient(port);
    client.socket.write(begun);
    const reading = await body();
    const broken = new Promise((resolve) => reading.on("error", resolve));
    leave(client);
    await broken;
    expect(reading).toMatchObject({ destroyed: true, readableEnded: false });
  });

  it("one that ends too soon is a client's error like any other", async () => {
    const { port, server, body } = await startReading();
    const client = openClient(port);
    client.socket.write(begun);
    await body();
    const told = once(server, "clientError");
    client.socket.end();
    const [error] = (await told) as [{ code: string }, unknown];
    expect(error.code).toBe("HPE_INVALID_EOF_STATE");
    client.socket.destroy();
  });

  it("one that takes for ever is a client's error too, and cuts an answer that has begun", async () => {
    const { port, server, body, responses } = await startReading();
    const silent = openClient(port);
    const told = once(server, "clientError");
    silent.socket.write(begun);
    await body();
    const [error] = (await told) as [{ code: string }, unknown];
    expect(error.code).toBe("ERR_HTTP_REQUEST_TIMEOUT");
    silent.socket.destroy();
    const answered = openClient(port);
    answered.socket.write(begun);
    await body();
    responses.at(-1)!.writeHead(200, {});
    responses.at(-1)!.write("first");
    expect(await answered.closed).toMatch(/first\r\n$/);
  });

  it("holds the server's end up until its answer is over", async () => {
    const { port, server, body, responses } = await startReading({ requestMs: 60_000 });
    const client = openClient(port);
    client.socket.write(begun);
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

describe("the end of the server", () => {
  it("idle connections are closed at once, busy ones when their answer is over", async () => {
    const { port, server, next } = await startByHand();
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

  it("all connections are closed where that is asked for", async () => {
    const { port, server, next } = await startByHand();
    const [fresh, busy] = [openClient(port), openClient(port)];
    busy.socket.write(fast);
    const response = await next();
    const gone = new Promise<void>((resolve) => response.on("close", resolve));
    server.closeAllConnections();
    await Promise.all([fresh.closed, busy.closed, gone]);
    expect(fresh.socket.destroyed && busy.socket.destroyed).toBe(true);
  });
});

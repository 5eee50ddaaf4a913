/** Several listeners of one server: each round of the event loop accepts one connection per listener, and all close together. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { BoundSocket, connect, type AddressInfo, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { countConnections, listenOnAll, whenClosed } from "../../src/http/front/listeners.ts";
import { stopServer } from "../../src/http/index.ts";

const host = "127.0.0.1";
const nothing = (): void => undefined;
const stopping = { refuse: nothing, answerWaiting: nothing, endStreams: nothing };

/** A server that listens with `count` sockets on one port. */
async function listening(count: number, server = createServer()): Promise<Server> {
  const first = new BoundSocket({ host, port: 0, reusePort: true });
  const { port } = first.address();
  const more = Array.from(
    { length: count - 1 },
    () => new BoundSocket({ host, port, reusePort: true }),
  );
  await listenOnAll(server, [first, ...more]);
  return server;
}

/** Rounds of the event loop that the server needs to accept `count` waiting connections. */
async function roundsFor(server: Server, count: number): Promise<number> {
  const taken: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    taken.push(socket);
    socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  // The kernel completes the connections while this process is busy.
  const clients = Array.from({ length: count }, () => connect(port, host).on("error", nothing));
  let rounds = 0;
  while (taken.length < count) {
    await nextTurn();
    rounds += 1;
  }
  for (const client of clients) client.destroy();
  await stopServer(server, stopping, 1_000);
  return rounds;
}

describe.runIf(process.platform === "linux")("several listeners", () => {
  it("with eight of them, accept 64 waiting connections in at most half of the event-loop rounds of one listener", async () => {
    const one = await roundsFor(await listening(1), 64);
    const eight = await roundsFor(await listening(8), 64);
    expect(one).toBeGreaterThanOrEqual(64);
    expect(eight).toBeLessThanOrEqual(one / 2);
  });

  it("add fewer than five `close` listeners to the server, so that Node prints no warning", async () => {
    const server = await listening(32);
    expect(server.listenerCount("close")).toBeLessThan(5);
    await stopServer(server, stopping, 1_000);
  });

  it("close together: calls in flight on any of them are answered first, and counted until then", async () => {
    const answers: (() => void)[] = [];
    const server = await listening(
      8,
      createServer((_request, response) => void answers.push(() => response.end("whole"))),
    );
    const { port } = server.address() as AddressInfo;
    const calls = Array.from({ length: 24 }, async () => {
      const answer = await fetch(`http://${host}:${port}/`);
      return answer.text();
    });
    while (answers.length < calls.length) await nextTurn();
    expect(await countConnections(server)).toBe(calls.length);
    let isClosed = false;
    void whenClosed(server).then(() => (isClosed = true));
    const stopped = stopServer(server, stopping, 60_000);
    // No listener accepts connections any more.
    while (server.listening) await nextTurn();
    await expect(once(connect(port, host), "connect")).rejects.toThrow("ECONNREFUSED");
    expect(isClosed).toBe(false);
    for (const answer of answers) answer();
    expect(await Promise.all(calls)).toEqual(calls.map(() => "whole"));
    await stopped;
    expect(await countConnections(server)).toBe(0);
  });
});

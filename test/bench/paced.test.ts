/** Load that does not wait for answers, where none come. */
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { drivePaced } from "../../bench/load/paced.ts";

it("requests beyond twice the connections fail, and no more are opened: a bench must not run out of descriptors", async () => {
  const accepted = new Set<Socket>();
  const server = createServer((socket) => accepted.add(socket.on("error", () => undefined)));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const target = {
    url: `http://127.0.0.1:${port}`,
    streamed: false,
    requests: [[Buffer.from("GET / HTTP/1.1\r\n\r\n")]],
  };
  const options = { perSecond: 1_000, seconds: 1, connections: 50 };
  const over = new AbortController();
  const driven = drivePaced(target, { ...options, signal: over.signal });
  // The requests that were sent wait for an answer until then.
  setTimeout(() => accepted.forEach((socket) => socket.destroy()), 1_500);
  const [second] = await driven;
  server.close();
  expect(accepted.size).toBe(100);
  expect(second?.failures).toBe(1_000);
});

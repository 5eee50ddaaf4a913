/** Load that does not wait for answers, against a server that gives none. */
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { drivePaced } from "../../bench/load/paced.ts";

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

/** A server that takes connections and never answers. */
async function startSilent() {
  const accepted = new Set<Socket>();
  const server = createServer((socket) => accepted.add(socket.on("error", () => undefined)));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const requests = [[Buffer.from("GET / HTTP/1.1\r\n\r\n")]];
  return { accepted, target: { url: `http://127.0.0.1:${port}`, streamed: false, requests } };
}

it("requests beyond twice the connections fail without opening more, so that a bench does not run out of descriptors", async () => {
  const { accepted, target } = await startSilent();
  const options = { perSecond: 1_000, seconds: 1, connections: 50 };
  const over = new AbortController();
  const driven = drivePaced(target, { ...options, signal: over.signal });
  // Until then the sent requests wait for an answer.
  setTimeout(() => accepted.forEach((socket) => socket.destroy()), 1_500);
  const [second] = await driven;
  expect(accepted.size).toBe(100);
  expect(second?.failures).toBe(1_000);
});

it("requests without an answer at the end count as failed", async () => {
  const { target } = await startSilent();
  const { signal } = new AbortController();
  const options = { perSecond: 200, seconds: 0.2, connections: 50, graceMs: 10, signal };
  const [second] = await drivePaced(target, options);
  expect(second).toMatchObject({ failures: 40, servedMs: { length: 0 }, refusedMs: { length: 0 } });
});

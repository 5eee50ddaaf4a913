/** Stopping a gateway: which connections it waits for. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";

it("a connection that a client opened without a request does not delay the stop", async () => {
  const gateway = await startTestGateway();
  const { hostname, port } = new URL(gateway.url);
  const silent = connect(Number(port), hostname).resume();
  await once(silent, "connect");
  // When a later connection is answered, the gateway has accepted this one.
  expect((await fetch(`${gateway.url}/healthz`)).ok).toBe(true);
  const ended = once(silent, "close");
  const fromMs = performance.now();
  await gateway.close();
  await ended;
  // Running calls would have 20 s to end.
  expect(performance.now() - fromMs).toBeLessThan(18_000);
});

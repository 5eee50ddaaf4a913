/** Only one gateway takes a port, even if two start together. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { canShare, GatewayPort } from "../../src/cli/workers/gateway-port.ts";
import { closeListeners, listenOnAll } from "../../src/http/front/listeners.ts";

const host = "127.0.0.1";

describe.runIf(canShare())("a port of the gateway", () => {
  it("belongs to one gateway from when it is taken, even before its workers listen", async () => {
    const one = await GatewayPort.take(host, 0);
    await expect(GatewayPort.take(host, one.port)).rejects.toMatchObject({
      code: "EADDRINUSE",
      syscall: "listen",
      address: host,
      port: one.port,
    });
    const server = createServer();
    await listenOnAll(server, one.places());
    one.settled();
    expect((server.address() as AddressInfo).port).toBe(one.port);
    await expect(GatewayPort.take(host, one.port)).rejects.toThrow("EADDRINUSE");
    closeListeners(server);
    // At once: a gateway that restarts finds its port free.
    (await GatewayPort.take(host, one.port)).settled();
  });

  it("is free again after it could not be taken", async () => {
    const other = createServer().listen(0, host);
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    await expect(GatewayPort.take(host, port)).rejects.toThrow("EADDRINUSE");
    await new Promise((resolve) => other.close(resolve));
    (await GatewayPort.take(host, port)).settled();
  });

  it("can belong to two gateways at two addresses", async () => {
    const one = await GatewayPort.take(host, 0);
    const two = await GatewayPort.take("127.0.0.2", one.port);
    expect(two.port).toBe(one.port);
    for (const each of [one, two]) each.settled();
  });
});

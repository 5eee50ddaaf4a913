/** A stopping gateway does not cut an answer that its client has not read yet: the answer counts as in flight. Both front ends. */
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, openRaw, type RawClient } from "../attack/raw-clients.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const clients: RawClient[] = [];
let gateway: GatewayUnderTest | undefined;
afterEach(async () => {
  closeAll(clients.splice(0));
  await gateway?.close();
  gateway = undefined;
});

/** Larger than the buffers of both ends of a connection. */
const size = 12_000_000;

describe.each([
  ["the fast path", true],
  ["Node's HTTP", false],
] as const)("a stopping gateway, on %s", (_name, fastPath) => {
  it("sends an unread answer completely, and then closes the connection", async () => {
    gateway = await startTestGateway({ sandbox: "on", fastPath });
    await gateway.credit("10");
    const script = { flood: size, usage: { input: 1, output: 1 } };
    const content = `Hi\n#sandbox ${JSON.stringify(script)}`;
    const body = JSON.stringify({
      model: "sandbox/chat",
      messages: [{ role: "user", content }],
    });
    const client = openRaw(
      gateway.url,
      {
        path: "/v1/chat/completions",
        headers: { authorization: `Bearer ${gateway.key}` },
        body,
      },
      { reads: false },
    );
    clients.push(client);
    // The call is charged before its answer is sent.
    const isCharged = async (): Promise<boolean> =>
      (await gateway!.database.query("select 1 from ledger_entries where kind = 'charge'")).length >
      0;
    await expect.poll(isCharged).toBe(true);
    await expect.poll(() => client.socket.readableLength).toBeGreaterThan(0);
    const idle = openRaw(gateway.url, { path: "/healthz" });
    clients.push(idle);
    await expect.poll(() => idle.status()).toBe(200);
    const closed = gateway.close();
    await expect.poll(() => idle.closed()).toBe(true);
    let last = "";
    let read = 0;
    client.socket.on("data", (bytes: Buffer) => {
      read += bytes.length;
      last = (last + bytes.toString("latin1")).slice(-100);
    });
    await expect.poll(() => client.closed()).toBe(true);
    expect(read).toBeGreaterThan(size);
    expect(last).toMatch(/\}$/);
    await closed;
    gateway = undefined;
  });
});

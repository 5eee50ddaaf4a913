/** A body that exceeds its time limit, and whose rest arrives while the connection still lingers. Both front ends. ERR, BIL. */
import { connect } from "node:net";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { lingering } from "../../src/http/bodies/late.ts";
import { readMultipart, uploadBudget, uploadLimits } from "../../src/http/forms/uploads.ts";
import { bytesOf } from "../attack/raw-clients.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { bodyOf, picture, useUploadStore } from "../task-http/upload-support.ts";

describe.each([
  ["the fast path", true],
  ["Node's HTTP", false],
] as const)("a body that arrives too late, on %s", (_name, fastPath) => {
  let gateway: GatewayUnderTest;
  beforeEach(async () => {
    const receive = { headersMs: 1_000, requestMs: 1_000, checkMs: 50 };
    gateway = await startTestGateway({ sandbox: "on", fastPath, receive });
    await gateway.credit("1");
  });
  afterEach(() => gateway.close());

  it("gets 408, and its call is not made when the rest arrives", async () => {
    const path = "/v1/chat/completions";
    const call = { model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] };
    const body = JSON.stringify(call);
    const request = bytesOf({ path, headers: { authorization: `Bearer ${gateway.key}` }, body });
    const { hostname: host, port } = new URL(gateway.url);
    const socket = connect({ host, port: Number(port), allowHalfOpen: true });
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
    socket.write(request.slice(0, -10));
    await expect.poll(() => text).toMatch(/^HTTP\/1\.1 408 /);
    socket.write(request.slice(-10));
    expect((await gateway.post(path, call)).status).toBe(200);
    const charges = () =>
      gateway.database.query("select 1 from ledger_entries where kind = 'charge'");
    await expect.poll(charges).not.toHaveLength(0);
    socket.end();
    await expect.poll(() => socket.destroyed).toBe(true);
    expect((await gateway.post(path, call)).status).toBe(200);
    await expect.poll(async () => (await charges()).length).toBeGreaterThan(1);
    expect(await charges()).toHaveLength(2);
  });
});

describe("a form that arrives too late", () => {
  const used = useUploadStore();

  it("is refused at its end, and its pictures are removed", async () => {
    const body = bodyOf([["image", await picture("png"), "a.png"]]);
    const socket = {};
    const reading = readMultipart(Object.assign(Readable.from([body]), { socket }), {
      boundary: "xyz",
      store: used.uploadStore.uploads(),
      limits: uploadLimits,
      lease: new ByteBudget(1e9).lease(),
      stored: uploadBudget().lease(),
    });
    lingering.add(socket);
    await expect(reading).rejects.toMatchObject({ code: "malformed_request" });
    expect(used.uploadStore.kept()).toEqual([]);
  });
});

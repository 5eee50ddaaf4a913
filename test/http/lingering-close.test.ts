/**
 * A connection that closes with an answer while a body still arrives. A client that sends the whole body before it reads still
 * gets the answer; a reset would destroy it. Both front ends.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { answerWhole, openClient, plainRequest, useServers } from "./fast-path-support.ts";

/** Larger than the buffers of both ends. */
const large = Buffer.alloc(12_000_000, "a");

/** Sends everything, then reads. Rejects if the connection breaks. */
function sendThenRead(port: number, head: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let text = "";
    socket.pause();
    socket.on("data", (bytes) => (text += bytes.toString("latin1")));
    socket.on("error", reject);
    socket.on("end", () => {
      socket.end();
      resolve(text);
    });
    socket.write(head);
    socket.write(body, () => socket.resume());
  });
}

describe("a refusal that closes its connection", () => {
  let gateway: GatewayUnderTest;
  let port: number;
  beforeAll(async () => {
    gateway = await startTestGateway();
    port = Number(new URL(gateway.url).port);
  });
  afterAll(() => gateway.close());

  const json = "Host: a\r\nContent-Type: application/json\r\nConnection: close\r\n";
  const length = `Content-Length: ${large.length}\r\n`;
  const chunk = Buffer.concat([
    Buffer.from(`${large.length.toString(16)}\r\n`),
    large,
    Buffer.from("\r\n0\r\n\r\n"),
  ]);

  it.each([
    ["a call", `POST /v1/messages HTTP/1.1\r\n${json}${length}\r\n`, large, 401],
    ["a task", `POST /v1/tasks HTTP/1.1\r\n${json}${length}\r\n`, large, 401],
    ["a call of an unknown path", `POST /v1/nothing HTTP/1.1\r\n${json}${length}\r\n`, large, 404],
    [
      "a call in chunks",
      `POST /v1/responses HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n`,
      chunk,
      401,
    ],
    ["a header that is too long", `POST /v1/messages HTTP/1.1\r\n${json}X-A: `, large, 431],
    ["bytes that are not HTTP", "noise\r\n\r\n", large, 400],
  ])("reaches a client that sends all of %s before it reads", async (_name, head, body, status) => {
    const text = await sendThenRead(port, head, body);
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual([`HTTP/1.1 ${status}`]);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  });
});

describe("the fast path, when it closes a connection", () => {
  const { startHeld } = useServers();

  it("delivers the last answer to a client that sends everything before it reads", async () => {
    const { port, next } = await startHeld({ leaving: () => true });
    const [head] = plainRequest("/v1/a", "", ["Host: a", `Content-Length: ${large.length}`]).split(
      /(?<=\r\n\r\n)/,
    );
    const read = sendThenRead(port, head!, large);
    answerWhole(await next(), "told");
    expect(await read).toMatch(/^HTTP\/1\.1 200 [^]*Connection: close\r\n\r\ntold$/);
  });

  it("delivers the last answer to a client that goes on sending after its last request", async () => {
    const last = plainRequest("/v1/a", "", ["Host: a", "Content-Length: 0", "Connection: close"]);
    const { port, next, server } = await startHeld();
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const client = openClient(port);
    client.socket.write(last);
    const response = await next();
    const more = Buffer.alloc(12_000_000, "a");
    const sent = new Promise((resolve) => client.socket.write(more, resolve));
    client.socket.pause();
    const [socket] = await accepted;
    await expect.poll(() => socket.bytesRead).toBeGreaterThan(last.length);
    answerWhole(response);
    // A reset would make this an error, and destroy the answer.
    expect(await sent).toBeFalsy();
    client.socket.resume();
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 [^]*fast$/);
  });

  it("ignores bytes after the last request", async () => {
    const { port, next } = await startHeld({ leaving: () => true });
    const client = openClient(port);
    client.socket.write(plainRequest("/v1/a", "01234", ["Host: a", "Content-Length: 10"]));
    answerWhole(await next(), "told");
    client.socket.write(`56789${plainRequest("/v1/a", "")}`);
    expect((await client.closed).match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

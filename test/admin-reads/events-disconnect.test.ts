/** A reader of events who disconnects during authentication: the gateway starts no stream. docs/management.md. */
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyReply } from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answerEvents } from "../../src/http/admin/event-answer.ts";

type Asked = { readonly request: IncomingMessage; readonly raw: ServerResponse };

const arrived: ((asked: Asked) => void)[] = [];
const server = createServer((request, raw) => arrived.shift()!({ request, raw }));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

/** Connects as a reader; returns the gateway's side of the request, and a function that disconnects. */
async function ask(): Promise<Asked & { leave(): void }> {
  const asked = new Promise<Asked>((resolve) => arrived.push(resolve));
  const client = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on("error", () => undefined);
  return { ...(await asked), leave: () => client.destroy() };
}

/** The number of readers. */
let readers = 0;
const begin = () => {
  readers += 1;
  return () => void (readers -= 1);
};

const replyOf = ({ request, raw }: Asked) => {
  const reply = {
    request: { method: request.method, id: "req_1" },
    raw,
    hijack: () => reply,
  } as unknown as FastifyReply;
  return reply;
};

it("a reader who disconnects before or after their stream begins frees its slot", async () => {
  const early = await ask();
  const gone = new Promise((resolve) => early.raw.once("close", resolve));
  early.leave();
  await gone;
  answerEvents(replyOf(early), begin);
  expect(readers).toBe(0);
  const late = await ask();
  answerEvents(replyOf(late), begin);
  expect(readers).toBe(1);
  late.leave();
  await expect.poll(() => readers).toBe(0);
});

/** Answers that are too long to be joined with their heads: both front ends send the same bytes. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { joinedMax, type ResponseSink } from "../../src/http/exchange.ts";
import { createTextReply } from "../../src/http/text/reply-stream.ts";
import { useServers } from "./fast-path-support.ts";

const { start } = useServers();
type Answer = (response: ResponseSink) => void;

/** Serves an answer by Node's own server, and by the fast path. */
const ways: readonly (readonly [string, (answer: Answer) => Promise<number>])[] = [
  [
    "Node's server",
    async (answer) => {
      const server = createServer((_request, response) => answer(response)).listen(0, "127.0.0.1");
      onTestFinished(() => void server.close());
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    },
  ],
  [
    "the fast path",
    async (answer) => {
      const { port } = await start({
        handle: (request, response) => {
          if (request.url !== "/v1/x") return false;
          answer(response);
          return true;
        },
      });
      return port;
    },
  ],
];

const texts: readonly (readonly [string, string])[] = [
  ["with the longest text that is joined", "a".repeat(joinedMax)],
  ["with a longer text of ASCII", "b".repeat(joinedMax + 1)],
  ["with a longer text of Latin-1", "é".repeat(joinedMax + 1)],
  ["with a longer text of any characters", "\u{1f600} 水".repeat(joinedMax)],
];

const ask = (port: number): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/v1/x`, { method: "POST", body: "{}" });

describe.each(ways)("a long answer by %s", (_name, serve) => {
  it.each(texts)("arrives complete with its head, %s", async (_kind, text) => {
    const port = await serve((response) => {
      createTextReply(response, { headers: { "x-a": "1" }, jsonArray: false }).whole(
        { text },
        { "x-b": "2" },
      );
    });
    for (let time = 0; time < 2; time += 1) {
      const answer = await ask(port);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const length = answer.headers.get("content-length");
      expect([answer.headers.get("x-a"), answer.headers.get("x-b")]).toEqual(["1", "2"]);
      expect(Number(length)).toBe(bytes.length);
      expect(JSON.parse(bytes.toString())).toEqual({ text });
    }
  });

  it.each(texts)("arrives as a stream between short frames, %s", async (_kind, text) => {
    const frames = ["first", text, "水", text, "last"].map((data) => ({ data }));
    const port = await serve((response) => {
      const reply = createTextReply(response, { headers: {}, jsonArray: false });
      for (const frame of frames) reply.write([frame]);
      reply.end([{ data: "end" }]);
    });
    const answer = await ask(port);
    const all = [...frames, { data: "end" }].map(({ data }) => `data: ${data}\n\n`).join("");
    expect((await answer.text()) === all).toBe(true);
  });
});

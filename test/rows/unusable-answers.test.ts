/**
 * Unusable answers: the caller's error says what was wrong, the POST is not sent a second time, and each failed attempt is a line in
 * the log. T60.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { json, type Answer } from "../support/recorder.ts";
import { eachProtocol } from "./protocols.ts";
import { answering, startWorld, type World } from "./world.ts";

interface Line {
  readonly request_id: string;
  readonly reason: string;
}

let world: World;
const lines: Line[] = [];
beforeAll(async () => {
  const warn = (fields: object, message: string): void => {
    if (message === "an attempt at a provider failed") lines.push(fields as Line);
  };
  world = await startWorld({ log: { ...silentLog, warn } });
});
afterAll(() => world.close());
beforeEach(() => {
  world.answer(answering);
  lines.length = 0;
});

const body =
  (text: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (_request, upstream) =>
    void upstream.writeHead(200, { "content-type": "application/json", ...headers }).end(text);

const unusable: readonly (readonly [what: string, answer: Answer, reason: RegExp])[] = [
  [
    "an HTML page",
    body("<html>private words</html>", { "content-type": "text/html" }),
    /not JSON, but 26 bytes of text\/html/,
  ],
  ["an empty body", body(""), /it is empty/],
  ["truncated JSON", body('{"private words'), /not JSON, but 15 bytes of application\/json/],
  ["a JSON list", body("[1]"), /no object/],
  [
    "JSON with a million objects",
    body(`{"x":[${"{},".repeat(1_000_000)}{}]}`),
    /more values or levels than/,
  ],
  ["JSON that is not an answer", json({ hello: "private words" }), /no answer at all/],
  ["an error with 200", json({ error: { message: "private words" } }), /it is an error/],
  ["an unknown content encoding", body("abc", { "content-encoding": "rot13" }), /"rot13"/],
  ["invalid gzip", body("private words", { "content-encoding": "gzip" }), /no valid gzip/],
  [
    "bytes that are not HTTP",
    (_request, upstream) => void upstream.socket!.end("220 smtp private words\r\n"),
    /no HTTP\/1\.1 status line/,
  ],
];

describe.each(eachProtocol)("an answer that cannot be used (%s)", (name, protocol) => {
  it.each(unusable)(
    "%s: 502 names the reason, after one POST and with one line in the log",
    async (_what, bad, reason) => {
      world.answer(bad);
      const before = await world.charged();
      const answer = await world.call(protocol, { model: `${protocol.model}:first` });
      expect(answer.status).toBe(502);
      const text = await answer.text();
      expect(JSON.stringify(JSON.parse(text))).toMatch(/The provider's answer cannot be used: /);
      expect(text.replaceAll("\\", "")).toMatch(reason);
      expect(text).not.toContain("private words");
      expect(world.first.requests).toHaveLength(1);
      expect(await world.charged()).toBe(before);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        request_id: answer.headers.get("x-request-id"),
        provider: "first",
        credential: "default",
        reason: expect.stringMatching(reason) as string,
      });
    },
  );

  it("a stream that ends before its first frame is not requested again", async () => {
    world.answer(body("", { "content-type": "text/event-stream" }));
    const answer = await world.call(protocol, { model: `${protocol.model}:first`, stream: true });
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain("its stream ended before the answer was complete");
    expect(world.first.requests).toHaveLength(1);
    expect(lines).toMatchObject([{ provider: "first", status: 200 }]);
  });

  it("each failed attempt is one line in the log, a successful attempt none", async () => {
    world.first.answer(json({ error: { message: `${"long ".repeat(500)}words` } }, 503));
    const answer = await world.call(protocol, { model: `${protocol.model}:@price` });
    expect(answer.status).toBe(200);
    await answer.text();
    const request_id = answer.headers.get("x-request-id");
    expect(lines).toMatchObject([
      { request_id, provider: "first", status: 503, outcome: "no_provider_available" },
    ]);
    expect(lines[0]!.reason.length).toBeLessThanOrEqual(300);
    world.first.answer(json({ error: { message: "not like this" } }, 400));
    await (await world.call(protocol, { model: `${protocol.model}:first` })).text();
    expect(lines[1]).toMatchObject({ status: 400, reason: "not like this" });
    expect(name).toBe(protocol.name);
  });

  it("a 404 about an object of the request reaches the caller without failover; a 404 about the model fails over", async () => {
    const message = "No such File object: file-abc123";
    world.first.answer(json({ error: { message, type: "invalid_request_error" } }, 404));
    for (const stream of [false, true]) {
      const answer = await world.call(protocol, { model: `${protocol.model}:@price`, stream });
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain(message);
    }
    expect(world.second.requests).toHaveLength(0);
    world.first.answer(json({ error: { message: "The model `x` does not exist." } }, 404));
    const other = await world.call(protocol, { model: `${protocol.model}:@price` });
    expect(other.status).toBe(200);
    await other.text();
  });
});

describe("an answer with more log probabilities than a whole one may have", () => {
  const one = { token: "a", logprob: -1, bytes: [97] };
  const token = { ...one, top_logprobs: Array.from({ length: 20 }, () => one) };
  const whole = {
    id: "c",
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "a" },
        logprobs: { content: Array.from({ length: 4_500 }, () => token) },
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 4_500 },
  };

  it("T60: is the caller's error: 400 says what to request instead, without failover, and the provider stays in use", async () => {
    world.first.answer(json(whole));
    const [, chat] = eachProtocol.find(([name]) => name === "chat")!;
    const model = `${chat.model}:@price`;
    const extra = { logprobs: true, top_logprobs: 20 };
    for (let call = 0; call < 8; call += 1) {
      const answer = await world.call(chat, { model, extra });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toMatch(/top_logprobs: .* or for a stream\..*invalid_value/);
    }
    expect(world.second.requests).toHaveLength(0);
    world.answer(answering);
    await (await world.call(chat, { model })).text();
    expect(world.second.requests).toHaveLength(0);
  });
});

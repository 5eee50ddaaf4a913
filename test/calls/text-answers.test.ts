/** Vendor answers that differ from the request: cut, large, in the other form, or no answer. T14, T15, T60, T62, T88. */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { tokensIn } from "../../src/calls/meter.ts";
import { Speed } from "../../src/routing/speed.ts";
import { eventually } from "../support/patience.ts";
import { forced } from "../support/gateway.ts";
import { json, type Answer } from "../support/recorder.ts";
import { answerText, chat, generateContent, messages, responses } from "../rows/protocols.ts";
import {
  answering,
  costAtFirstNano,
  modelRow,
  readEvents,
  startWorld,
  type World,
} from "../rows/world.ts";

const keepAliveMs = 20;
let world: World;
beforeAll(async () => {
  const providers = ["first"] as const;
  world = await startWorld({
    keepAliveMs,
    models: [
      modelRow("alone/chat", chat, { providers }),
      modelRow("alone/messages", messages, { providers }),
      modelRow("alone/converted", { ...chat, name: "messages" }, { providers }),
      modelRow("alone/responses-converted", { ...chat, name: "responses" }, { providers }),
      modelRow("alone/responses-to-messages", { ...messages, name: "responses" }, { providers }),
      modelRow("alone/messages-to-chat", { ...messages, name: "chat" }, { providers }),
      modelRow("alone/responses", responses, { providers }),
      modelRow("alone/gemini", generateContent, { providers }),
      modelRow("alone/gemini-converted", { ...chat, name: "generate_content" }, { providers }),
    ].join("\n"),
  });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const alone = (options: { stream?: boolean; extra?: object } = {}) =>
  world.call(chat, { model: "alone/chat", ...options });
const raw =
  (body: string, headers: Record<string, string>): Answer =>
  (_request, response) =>
    void response.writeHead(200, headers).end(body);
interface LogRow {
  readonly status: string;
  readonly usage_source: string | null;
  readonly cost_nano: bigint;
  readonly attempts: readonly { readonly message?: string }[];
}
const rowOf = async (response: Response) => (await world.row(response)) as unknown as LogRow;

it("T14: a whole answer to a call that asked for a stream is sent as a stream, charged once, and measured as whole", async () => {
  using measured = vi.spyOn(Speed.prototype, "add");
  world.answer(json(chat.whole()));
  const response = await alone({ stream: true });
  const frames = await readEvents(response);
  expect(chat.endsNormally(frames)).toBe(true);
  expect(chat.textOfFrames(frames)).toBe(answerText);
  expect((await rowOf(response)).cost_nano).toBe(costAtFirstNano);
  expect(measured.mock.lastCall?.[0]).toMatchObject({ stream: true, isWhole: true });
});

it("T14 T15: all choices and logprobs arrive when the vendor streams unasked, and when it does not stream", async () => {
  const logprobs = { content: [{ token: "So", logprob: -1, bytes: null, top_logprobs: [] }] };
  const extra = { n: 2, logprobs: true };
  const said = ["So far", "So good"];
  const chunk = (index: number, delta: object, finish: string | null, tokens: object | null) =>
    `data: ${JSON.stringify({
      id: "c",
      choices: [{ index, delta, finish_reason: finish, logprobs: tokens }],
    })}\n\n`;
  const text = [1, 0].map((index) => chunk(index, { content: said[index] }, null, logprobs));
  const ends = [0, 1].map((index) => chunk(index, {}, "stop", null));
  world.answer(raw([...text, ...ends].join(""), { "content-type": "text/event-stream" }));
  const answered = await alone({ extra });
  const { choices } = (await answered.json()) as { choices: object[] };
  expect(choices).toMatchObject(
    said.map((content, index) => ({
      index,
      message: { content },
      logprobs,
      finish_reason: "stop",
    })),
  );
  const { usage } = await world.row(answered);
  expect(usage!["outputTokens"]).toBe(await tokensIn(said.toReversed().join("")));

  const options = said.map((content, index) => ({ index, message: { content }, logprobs }));
  world.answer(
    json({ ...chat.whole(), choices: options.map((one) => ({ ...one, finish_reason: "stop" })) }),
  );
  const streamed = await readEvents(await alone({ stream: true, extra }));
  const textFrames = streamed.filter(({ data }) => data.includes("So"));
  expect(textFrames.map(({ data }) => (JSON.parse(data) as { choices: object[] }).choices)).toEqual(
    said.map((content, index) => [{ index, delta: { content }, logprobs, finish_reason: null }]),
  );
  expect(streamed.filter(({ data }) => data.includes('"finish_reason":"stop"'))).toHaveLength(2);
  expect(chat.endsNormally(streamed)).toBe(true);
});

const nested = 400_000;

it.each<[string, () => string, string]>([
  ["an event without an end", () => `data: ${"x".repeat(34 * 1024 * 1024)}`, "longer than"],
  [
    "a frame too deep to be written again",
    () =>
      `data: {"id":"c","choices":[{"delta":{"tool_calls":[{"id":"t","function":{"name":"f",` +
      `"arguments":${'{"7":'.repeat(nested)}1${"}".repeat(nested)}}}]},"finish_reason":"stop"}]}\n\n`,
    "cannot be read",
  ],
])(
  "T15: a stream for a whole answer counts against its vendor if it contains %s",
  async (_name, body, why) => {
    world.answer((request, response) =>
      raw(body(), { "content-type": "text/event-stream" })(request, response),
    );
    const response = await world.call(chat);
    expect(response.status).toBe(502);
    const { attempts } = await rowOf(response);
    expect(attempts).toHaveLength(2);
    for (const { message } of attempts) expect(message).toContain(why);
  },
);

it("T88: a slow whole answer gets no keep-alives and is JSON from its first byte", async () => {
  const { promise: later, resolve } = Promise.withResolvers<void>();
  world.answer(async (request, response) => {
    await later;
    await json(chat.whole())(request, response);
  });
  const answer = alone();
  // A parallel stream shows that the time for several keep-alives has passed.
  const beside = await alone({ stream: true });
  const reader = beside.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; text.split(": keep-alive").length < 4;) text += (await reader.read()).value;
  resolve();
  await reader.cancel();
  const whole = await answer;
  expect(whole.status).toBe(200);
  expect(chat.textOf((await whole.json()) as never)).toBe(answerText);
});

/** Expects that both forms of a call are charged an estimate of the output, if the vendor streams these frames. */
async function isEstimated(frames: readonly string[], caller: typeof chat, model: string) {
  world.answer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(frames.join(""));
  });
  for (const stream of [true, false]) {
    const response = await world.call(caller, { model: `alone/${model}`, stream });
    await response.text();
    const { usage_source, usage } = await world.row(response);
    expect(usage_source).toBe("estimated");
    expect(usage!["outputTokens"]).toBe(await tokensIn(answerText));
  }
}

it.each(["messages", "converted"])(
  "T48: output that a stream reports only at its start is estimated, whole and streamed (%s)",
  async (model) => {
    const start = { id: "msg_7", usage: { input_tokens: 100, output_tokens: 1 } };
    const silent = messages.frames.map((frame) =>
      frame.startsWith("event: message_start")
        ? `event: message_start\ndata: ${JSON.stringify({ type: "message_start", message: start })}\n\n`
        : frame.replace(/,"usage":\{[^]*?\}(?=\}\n)/, ""),
    );
    expect(silent.join("").match(/"usage"/g)).toHaveLength(1);
    await isEstimated(silent, model === "messages" ? messages : chat, model);
  },
);

it.each(["gemini", "gemini-converted"])(
  "T48: the output is estimated for a stream that reports only its prompt's tokens, and early (%s)",
  async (model) => {
    const usage = `,"usageMetadata":{"promptTokenCount":100,"totalTokenCount":100}}\n\n`;
    const silent = generateContent.frames.map((frame, index) => {
      const bare = frame.replace(/,"usageMetadata":\{[^]*?\}(?=\}\n)/, "");
      return index === 0 ? bare.replace("}\n\n", usage) : bare;
    });
    expect(silent.join("").match(/"usageMetadata"/g)).toHaveLength(1);
    await isEstimated(silent, model === "gemini" ? generateContent : chat, model);
  },
);

it.each([
  ["chat", chat],
  ["messages-to-chat", messages],
] as const)(
  "T48: the output is estimated for a chat stream that reports only its prompt's tokens, and early (%s)",
  async (model, caller) => {
    const usage = { prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 };
    const silent = chat.frames
      .filter((frame) => !frame.includes('"choices":[]'))
      .map((frame, index) => {
        if (!frame.startsWith("data: {")) return frame;
        const bare = JSON.parse(frame.slice(6)) as object;
        return `data: ${JSON.stringify(index === 0 ? { ...bare, usage } : { ...bare, usage: null })}\n\n`;
      });
    expect(silent.join("").match(/"completion_tokens"/g)).toHaveLength(1);
    await isEstimated(silent, caller, model);
  },
);

it.each([
  ["responses", responses],
  ["responses-converted", chat],
] as const)(
  "T48: the output is estimated for a responses stream that reports only its prompt's tokens, and early (%s)",
  async (model, caller) => {
    const silent = responses.frames.map((frame) => {
      const at = frame.indexOf("data: ") + 6;
      const data = JSON.parse(frame.slice(at)) as { response?: object };
      if (data.response === undefined) return frame;
      const usage = { input_tokens: 100, output_tokens: 0, total_tokens: 100 };
      const frameUsage = frame.includes("response.created") ? usage : null;
      return `${frame.slice(0, at)}${JSON.stringify({ ...data, response: { ...data.response, usage: frameUsage } })}\n\n`;
    });
    expect(silent.join("").match(/"output_tokens"/g)).toHaveLength(1);
    await isEstimated(silent, caller, model);
  },
);

it.each([
  ["chat", chat, "responses-converted"],
  ["messages", messages, "responses-to-messages"],
] as const)(
  "T11: text that arrives after its part was marked done reaches callers of %s",
  async (_name, caller, model) => {
    const [done] = responses.frames.filter((frame) => frame.includes("response.output_text.done"));
    const late = responses.frames.flatMap((frame) => {
      if (frame === done) return [];
      // The done event follows the first piece.
      return frame.includes('"delta":"三') ? [done!, frame] : [frame];
    });
    for (const stream of [true, false]) {
      world.answer(raw(late.join(""), { "content-type": "text/event-stream" }));
      const response = await world.call(caller, { model: `alone/${model}`, stream });
      const said = stream
        ? caller.textOfFrames(await readEvents(response))
        : JSON.stringify(await response.json());
      expect(said).toContain("三 🙂 done");
    }
  },
);

const pingEveryMs = 200;

it.each([
  ["comments", "chat", ": ping\n\n"],
  ["frames behind the end marker", "chat", 'data: {"id":"x","choices":[]}\n\n'],
  ["comments", "converted", ": ping\n\n"],
  ["pings", "messages", 'event: ping\ndata: {"type":"ping"}\n\n'],
])("STREAM-04: %s after the answer do not delay its end (%s)", async (_name, model, ping) => {
  const { frames } = model === "chat" ? chat : messages;
  world.answer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(frames.join(""));
    const timer = setInterval(() => void response.write(ping), pingEveryMs);
    // Longer than the gateway waits. A gateway that waits on would see the stream end.
    const enough = setTimeout(() => response.end(), pingEveryMs * 20);
    response.on("close", () => {
      clearInterval(timer);
      clearTimeout(enough);
    });
  });
  const caller = model === "messages" ? messages : chat;
  const response = await world.call(caller, { model: `alone/${model}`, stream: true });
  expect(caller.endsNormally(await readEvents(response))).toBe(true);
  await eventually(() => world.first.requests.at(-1)!.aborted, "the gateway to leave");
  expect((await rowOf(response)).cost_nano).toBe(costAtFirstNano);
});

it("a frame that arrives slowly after a finish reason is part of the answer", async () => {
  const [begin, middle, ...rest] = chat.frames;
  const early = rest.find((frame) => frame.includes('"stop"'))!;
  world.answer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(begin! + early);
    const pieces = middle!.match(/[^]{1,40}/g)!;
    const timer = setInterval(() => {
      const piece = pieces.shift();
      if (piece === undefined) response.end(rest.join(""));
      else response.write(piece);
    }, pingEveryMs * 2);
    response.on("close", () => clearInterval(timer));
  });
  const response = await alone({ stream: true });
  expect(chat.textOfFrames(await readEvents(response))).toBe(answerText);
});

it("an answer of more than a megabyte is read completely", async () => {
  const content = "large ".repeat(200_000);
  const whole = chat.whole() as { choices: object[] };
  world.answer(
    json({ ...whole, choices: [{ index: 0, message: { role: "assistant", content } }] }),
  );
  const response = await alone();
  expect(response.status).toBe(200);
  expect(chat.textOf((await response.json()) as never)).toBe(content);
});

it("T60: a body that is not JSON is reported by its length and type, never its text", async () => {
  world.answer(raw("<html>secret</html>", { "content-type": "text/html" }));
  const page = await rowOf(await alone());
  expect(page.attempts[0]!.message).toContain("it is not JSON, but 19 bytes of text/html");
  world.answer(raw("secret", {}));
  const untyped = await rowOf(await alone());
  expect(untyped.attempts[0]!.message).toContain("6 bytes without a content type");
});

it("T62: a whole answer that its client leaves is charged for the text that arrived", async () => {
  const part = '{"id":"c1","choices":[{"index":0,"message":{"content":"So far so good';
  world.answer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(part);
  });
  const before = await world.charged();
  const leaving = new AbortController();
  const { url, key } = world.gateway;
  const call = fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(chat.body("alone/chat", false)),
    signal: leaving.signal,
  });
  call.catch(() => undefined);
  await eventually(() => world.first.requests.length === 1, "the upstream's request");
  // By the time this gateway has answered another call, it has read the written part.
  await (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).text();
  leaving.abort();
  await eventually(async () => (await world.charged()) > before, "a charge");
});

it("BILL-22: a whole answer that its vendor breaks off is an error, and not charged", async () => {
  world.answer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"choices":[{"message":{"content":"So far');
    response.flushHeaders();
    setImmediate(() => response.destroy());
  });
  const before = await world.charged();
  const response = await alone();
  expect(response.status).toBe(502);
  const row = await rowOf(response);
  expect([row.status, row.cost_nano]).toEqual(["failed", 0n]);
  expect(await world.charged()).toBe(before);
});

it("TXT-20: headers that only the caller's own protocol knows are not sent if the call is converted", async () => {
  const headers = { "anthropic-beta": "context-1m-2025-08-07" };
  await (await world.call(messages, { model: "alone/messages", headers })).text();
  expect(world.first.requests.at(-1)!.headers).toMatchObject(headers);
  const converted = await world.call(chat, { model: "alone/converted", headers });
  expect(converted.status).toBe(200);
  expect(world.first.requests.at(-1)!.headers).not.toHaveProperty("anthropic-beta");
});

it.skipIf(forced)(
  "a call that is not converted is forwarded in its caller's own bytes",
  async () => {
    const { url, key } = world.gateway;
    const messagesText = '[{"role":"user",  "content":"Hi \\u0021"}]';
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: `{"model":"alone/chat","seed":9007199254740993,"temperature":1.0,"messages":${messagesText}}`,
    });
    expect(answer.status).toBe(200);
    const { text } = world.first.requests.at(-1)!;
    expect(text).toContain('"seed":9007199254740993,"temperature":1.0');
    expect(text).toContain(messagesText);
  },
);

it.each([false, true])(
  "T60: a Gemini answer that ended in a malformed call costs a chat caller nothing (streamed: %s)",
  async (stream) => {
    const answer = {
      ...generateContent.whole(),
      candidates: [{ index: 0, finishReason: "MALFORMED_FUNCTION_CALL" }],
    };
    world.answer(
      stream
        ? raw(`data: ${JSON.stringify(answer)}\n\n`, { "content-type": "text/event-stream" })
        : json(answer),
    );
    const response = await world.call(chat, { model: "alone/gemini-converted", stream });
    expect(await response.text()).toContain('"error":{');
    const { status, cost_nano: cost } = await rowOf(response);
    expect([status, cost]).toEqual(["failed", 0n]);
  },
);

/**
 * Counts of a vendor that cannot be true, on direct routes: the caller reads the counts that the call is charged by, in each protocol,
 * whole and streamed. Trap T51.
 */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { json, sse } from "../support/recorder.ts";
import { modelOf, useBench, type Body, type Protocol } from "./support.ts";

const user = [{ role: "user", content: "Hi" }];

interface Wire {
  readonly path: string;
  readonly body: Body;
  /** The names of the usage and of its two sides. */
  readonly usage: string;
  readonly sides: readonly [input: string, output: string];
  /** An answer with this usage; a stream of it reports the usage wherever the protocol has one. */
  readonly whole: (usage: unknown) => Body;
  readonly stream: (usage: unknown) => readonly Body[];
  /** The last usage that a caller reads in the frames. */
  readonly read: (frames: readonly Body[]) => unknown;
}

const chatAnswer = { id: "c", object: "chat.completion", created: 1, model: "up" };
const chatChunk = { ...chatAnswer, object: "chat.completion.chunk" };
const response = { id: "r", object: "response", created_at: 1, model: "up", status: "completed" };
const output = [
  {
    type: "message",
    id: "m",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: "Hello", annotations: [] }],
  },
];
const message = { id: "m", type: "message", role: "assistant", model: "up", stop_sequence: null };
const candidate = (text: string, finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason }],
});
const lastOf = (frames: readonly Body[], name: string): unknown =>
  frames.findLast((frame) => frame[name] !== undefined && frame[name] !== null)?.[name];

const wires: Readonly<Record<Protocol, Wire>> = {
  chat: {
    path: "/v1/chat/completions",
    body: { messages: user, stream_options: { include_usage: true } },
    usage: "usage",
    sides: ["prompt_tokens", "completion_tokens"],
    whole: (usage) => ({
      ...chatAnswer,
      choices: [{ index: 0, message: { content: "Hello" }, finish_reason: "stop" }],
      usage,
    }),
    stream: (usage) => [
      { ...chatChunk, choices: [{ index: 0, delta: { content: "Hello" } }] },
      { ...chatChunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...chatChunk, choices: [], usage },
    ],
    read: (frames) => lastOf(frames, "usage"),
  },
  responses: {
    path: "/v1/responses",
    body: { input: "Hi" },
    usage: "usage",
    sides: ["input_tokens", "output_tokens"],
    whole: (usage) => ({ ...response, output, usage }),
    stream: (usage) => [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_text.delta", item_id: "m", delta: "Hello" },
      { type: "response.completed", response: { ...response, output, usage } },
    ],
    read: (frames) => (lastOf(frames, "response") as Body)["usage"],
  },
  messages: {
    path: "/v1/messages",
    body: { max_tokens: 10, messages: user },
    usage: "usage",
    sides: ["input_tokens", "output_tokens"],
    whole: (usage) => ({
      ...message,
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      usage,
    }),
    stream: (usage) => [
      { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ],
    read: (frames) => ({
      ...((frames[0]!["message"] as Body)["usage"] as Body),
      ...(lastOf(frames, "usage") as Body),
    }),
  },
  generate_content: {
    path: "/v1beta/models/",
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
    usage: "usageMetadata",
    sides: ["promptTokenCount", "candidatesTokenCount"],
    whole: (usageMetadata) => ({ ...candidate("Hello", "STOP"), usageMetadata }),
    stream: (usageMetadata) => [
      { ...candidate("Hel"), usageMetadata },
      { ...candidate("lo", "STOP"), usageMetadata, modelVersion: "up" },
    ],
    read: (frames) => lastOf(frames, "usageMetadata"),
  },
};

const protocols = Object.keys(wires) as Protocol[];
const odd: readonly (readonly [input: unknown, output: unknown])[] = [
  [-5, 10],
  [5, 1e18],
  [5.5, 1],
  ["7", "8"],
];
const cases = protocols.flatMap((protocol) => odd.map((counts) => ({ protocol, counts })));

function requestOf(protocol: Protocol, stream: boolean): readonly [path: string, body: Body] {
  const { path, body } = wires[protocol];
  const model = modelOf(protocol);
  if (protocol !== "generate_content") return [path, { ...body, model, stream }];
  return [`${path}${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`, body];
}

const framesIn = (text: string): Body[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as Body);

describe("impossible counts of a vendor", () => {
  const bench = useBench();

  /** Asks, and returns the answer and the counts that it was charged by. */
  async function ask(protocol: Protocol, stream: boolean) {
    const reply = await bench.gateway.post(...requestOf(protocol, stream));
    const text = await reply.text();
    expect(`${reply.status} ${text}`).toMatch(/^200 /);
    const sql = "select usage, usage_source from request_log where id = $1";
    const id = reply.headers.get("x-request-id");
    const row = await eventually(async () => {
      const rows = await bench.gateway.database.query<Body>(sql, [id]);
      return rows[0];
    }, `the row of ${id}`);
    const { inputTokens, outputTokens } = row["usage"] as Body;
    const [input, output] = wires[protocol].sides;
    return { text, row, charged: { [input]: inputTokens, [output]: outputTokens } };
  }

  it.each(cases)("T51: $counts: $protocol tells what is charged", async ({ protocol, counts }) => {
    const { usage, sides, whole, stream, read } = wires[protocol];
    const told = { [sides[0]]: counts[0], [sides[1]]: counts[1] };
    bench.upstream.answer(json(whole(told)));
    const one = await ask(protocol, false);
    expect(one.row).toMatchObject({ usage_source: "estimated" });
    expect((JSON.parse(one.text) as Body)[usage]).toMatchObject(one.charged);
    bench.upstream.answer(
      sse(
        stream(told)
          .map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
          .join(""),
      ),
    );
    const many = await ask(protocol, true);
    expect(many.row).toMatchObject({ usage_source: "estimated" });
    expect(read(framesIn(many.text))).toMatchObject(many.charged);
    // Nor does an earlier frame hold such a count.
    expect(many.text).not.toMatch(/":(?:-5|5\.5|"[78]"|1000000000000000000|1e\+18)[,}]/);
  });

  const parts = [
    ["chat", "prompt_tokens_details", "completion_tokens_details"],
    ["responses", "input_tokens_details", "output_tokens_details"],
  ] as const;
  it.each(parts.flatMap((names) => [[...names, -5, 1.5] as const, [...names, 900, 900] as const]))(
    "T51: %s tells the billed parts: %s, %s of %s and %s",
    async (...given) => {
      const [protocol, input, output, cached, reasoning] = given;
      const { usage, sides, whole, stream, read } = wires[protocol];
      const told = {
        [sides[0]]: 20,
        [sides[1]]: 10,
        [input]: { cached_tokens: cached },
        [output]: { reasoning_tokens: reasoning },
      };
      const expected = (row: Body) => {
        const { cacheReadTokens, reasoningTokens } = row["usage"] as Body;
        return {
          [input]: { cached_tokens: cacheReadTokens ?? 0 },
          [output]: { reasoning_tokens: reasoningTokens ?? 0 },
        };
      };
      bench.upstream.answer(json(whole(told)));
      const one = await ask(protocol, false);
      expect((JSON.parse(one.text) as Body)[usage]).toMatchObject(expected(one.row));
      const frames = stream(told).map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
      bench.upstream.answer(sse(frames.join("")));
      const many = await ask(protocol, true);
      expect(read(framesIn(many.text))).toMatchObject(expected(many.row));
    },
  );
});

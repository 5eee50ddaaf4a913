/**
 * A vendor that answers whole to a stream request, or the other way round, read by the official SDKs on a direct route. Nothing
 * in the answer is lost: not the results of the vendor's own tools, citations, sound or counts. Traps T14, T15.
 */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI, type GenerateContentResponse } from "@google/genai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { json, sse } from "../support/recorder.ts";
import { onTheWire, recordingsOf, type Recording } from "./recordings.ts";
import { message, rich } from "./rich-answers.ts";
import { modelOf, useBench, type Bench, type Body, type Protocol } from "./support.ts";

const protocols = ["chat", "responses", "messages", "generate_content"] as const;

interface Client {
  /** The SDK's result for a stream, and for a whole answer. */
  readonly streamed: (url: string, key: string) => Promise<unknown>;
  readonly whole: (url: string, key: string) => Promise<unknown>;
}

const question = [{ role: "user" as const, content: "Hi" }];

const openai = (url: string, apiKey: string) =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
const anthropic = (url: string, apiKey: string) =>
  new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
const google = (url: string, apiKey: string) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }).models;

const chat = { model: modelOf("chat"), messages: question };
const response = { model: modelOf("responses"), input: "Hi" };
const messages = { model: modelOf("messages"), max_tokens: 10, messages: question };
const content = { model: modelOf("generate_content"), contents: "Hi" };

const clients: Readonly<Record<Protocol, Client>> = {
  chat: {
    async streamed(url, key) {
      const stream_options = { include_usage: true };
      const stream = openai(url, key).chat.completions.stream({ ...chat, stream_options });
      return stream.finalChatCompletion();
    },
    whole: (url, key) => openai(url, key).chat.completions.create(chat),
  },
  responses: {
    streamed: (url, key) => openai(url, key).responses.stream(response).finalResponse(),
    whole: (url, key) => openai(url, key).responses.create(response),
  },
  messages: {
    streamed: (url, key) => anthropic(url, key).beta.messages.stream(messages).finalMessage(),
    whole: (url, key) => anthropic(url, key).beta.messages.create(messages),
  },
  generate_content: {
    async streamed(url, key) {
      const chunks: GenerateContentResponse[] = [];
      for await (const chunk of await google(url, key).generateContentStream(content))
        chunks.push(chunk);
      expect(chunks).toHaveLength(1);
      return chunks[0];
    },
    whole: (url, key) => google(url, key).generateContent(content),
  },
};

const plain = (value: unknown): Body => JSON.parse(JSON.stringify(value)) as Body;

/** The answer that the caller must read. */
function expected(protocol: Protocol, answer: Body): Body {
  const model = modelOf(protocol);
  // The SDK keeps the model's version in its field.
  return protocol === "generate_content"
    ? { ...answer, modelVersion: model }
    : { ...answer, model };
}

/** The usage that a call was charged by. */
async function charged({ gateway }: Bench, reply: Response): Promise<Body> {
  const sql = "select usage, usage_source from request_log where id = $1";
  const id = reply.headers.get("x-request-id");
  return eventually(async () => {
    const rows = await gateway.database.query<Body>(sql, [id]);
    return rows[0];
  }, `the row of ${id}`);
}

describe("an answer in the other form than requested, as SDKs read it", () => {
  const bench = useBench();

  it.each(protocols)("T14: is complete as a stream (%s)", async (protocol) => {
    const answer = rich[protocol];
    bench.upstream.answer(json(answer));
    const { gateway } = bench;
    const read = plain(await clients[protocol].streamed(gateway.url, gateway.key));
    expect(read).toMatchObject(expected(protocol, answer));
  });

  it.each(protocols)(
    "T14 T15: is complete when that stream is collected (%s)",
    async (protocol) => {
      const { gateway, upstream } = bench;
      upstream.answer(json(rich[protocol]));
      const asked = await gateway.post(...requestFor(protocol));
      const stream = await asked.text();
      expect(asked.headers.get("content-type")).toMatch(/^text\/event-stream/);
      upstream.answer(sse(stream));
      const read = plain(await clients[protocol].whole(gateway.url, gateway.key));
      expect(read).toMatchObject(expected(protocol, rich[protocol]));
    },
  );

  it("T15 T48: has the charged usage if a messages stream without usage is collected", async () => {
    const { gateway, upstream } = bench;
    const frames = [
      { type: "message_start", message: { ...message, content: [], usage: undefined } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "So far" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null } },
      { type: "message_stop" },
    ];
    upstream.answer(sse(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")));
    const reply = await gateway.post("/v1/messages", messages);
    const { usage, usage_source } = await charged(bench, reply);
    const { inputTokens, outputTokens } = usage as Record<string, number>;
    expect(usage_source).toBe("estimated");
    expect(await reply.json()).toMatchObject({
      content: [{ type: "text", text: "So far" }],
      usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    });
  });
});

function requestFor(protocol: Protocol): readonly [path: string, body: Body] {
  switch (protocol) {
    case "chat": {
      const stream_options = { include_usage: true };
      return ["/v1/chat/completions", { ...chat, stream: true, stream_options }];
    }
    case "responses":
      return ["/v1/responses", { ...response, stream: true }];
    case "messages":
      return ["/v1/messages", { ...messages, stream: true }];
    case "generate_content": {
      const path = `/v1beta/models/${content.model}:streamGenerateContent?alt=sse`;
      return [path, { contents: [{ parts: [{ text: "Hi" }] }] }];
    }
  }
}

const isAnswer = ({ events }: Recording): boolean => {
  const answer = JSON.parse(events[0]!) as Body;
  return !("error" in answer && answer["error"] !== null);
};
const named = (recordings: readonly Recording[]) =>
  recordings.map((recording) => [recording.name, recording] as const);
const wholes = recordingsOf("whole").filter(isAnswer);
/** Recordings that are not plain answers, and streams that the vendor's own SDK refuses. */
const refused =
  /duplicate-message-start|spliced-message-start|openai-error|id-rotation|apply-patch-tool\.1/;
const streams = recordingsOf("stream").filter(
  ({ protocol, name }) =>
    (protocol === "messages" || protocol === "responses") && !refused.test(name),
);

describe.skipIf(wholes.length === 0)("recorded answers (beside the repository only)", () => {
  const bench = useBench();

  it.each(named(wholes))(
    "T14: are complete as a stream: %s",
    async (_name, { protocol, events }) => {
      const answer = JSON.parse(events[0]!) as Body;
      bench.upstream.answer(json(answer));
      const { gateway } = bench;
      const read = plain(await clients[protocol].streamed(gateway.url, gateway.key));
      const counts = protocol === "generate_content" ? "usageMetadata" : "usage";
      const { [counts]: _counts, ...said } = expected(protocol, answer);
      expect(read).toMatchObject(asRead(said));
    },
  );

  it.each(named(streams))("T15: are complete as a whole answer: %s", async (_name, recording) => {
    const { gateway, upstream } = bench;
    const { protocol } = recording;
    upstream.answer(sse(onTheWire(recording)));
    const [itself, passed] = [
      plain(await clients[protocol].streamed(upstream.url, "any")),
      plain(await clients[protocol].whole(gateway.url, gateway.key)),
    ];
    // The gateway adds the fields to a response object that Open Responses requires.
    const { id, output, content, stop_reason, usage, container } = passed;
    const said = { id, output, content, stop_reason, usage, container };
    expect(itself).toMatchObject(asRead(said));
  });
});

/** Fields that SDKs drop: nulls, indexes of calls, the text beside Google's reason. Anthropic's SDK has another model name. */
const unread = new Set(["finishMessage", "index", "model"]);
const asRead = (value: Body): Body =>
  JSON.parse(JSON.stringify(value), (name, inner: unknown) =>
    inner === null || unread.has(name) ? undefined : inner,
  ) as Body;

/**
 * Google's SDK chats (`ai.chats`) store a streamed answer as pieces, each a separate turn, and send them all with the next
 * question. The model must get its earlier answer to the character. CONV-601; docs/decisions.md.
 */
import { GoogleGenAI } from "@google/genai";
import { describe, expect, it } from "vitest";
import { sse } from "../support/recorder.ts";
import { byName, conversions, modelOf, names, type Body, type Name } from "./world.ts";

const world = conversions();

const pieces = ["Ter", "ns:", "\n\n", "```py", "\n", "if far", ":", "\n    ", "fly()", "\n```"];
const said = pieces.join("");

const framesOf = (data: readonly object[]): string =>
  data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
const choice = (delta: Body, finish: string | null = null) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const block = { index: 0, content_block: { type: "text", text: "" } };
const at = { item_id: "m", output_index: 0, content_index: 0 };
const response = { id: "r", created_at: 1, status: "completed", output: [] };

/** The answer in pieces, as a stream of each upstream. */
const streams: Readonly<Record<Exclude<Name, "generate_content">, string>> = {
  chat: framesOf([...pieces.map((content) => choice({ content })), choice({}, "stop")]),
  responses: framesOf([
    { type: "response.created", response },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
    { type: "response.completed", response },
  ]),
  messages: framesOf([
    { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 1 } } },
    { type: "content_block_start", ...block },
    ...pieces.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ]),
};

/** The model's turn in a request of each protocol. */
const turnOf: Readonly<Record<keyof typeof streams, (body: Body) => unknown>> = {
  chat: ({ messages }) => (messages as Body[])[1],
  responses: ({ input }) => (input as Body[])[1],
  messages: ({ messages }) => (messages as Body[])[1],
};
const text = (type: string, more: Body = {}) => [{ type, text: said, ...more }];
const expected: Readonly<Record<keyof typeof streams, Body>> = {
  chat: { role: "assistant", content: said },
  responses: { role: "assistant", content: text("output_text", { annotations: [] }) },
  messages: { role: "assistant", content: text("text") },
};

describe("a streaming chat of Google's SDK", () => {
  it.each(names.filter((name) => name !== "generate_content"))(
    "CONV-601: sends the first answer back unchanged with its second question (%s)",
    async (name) => {
      const { url, key } = world.gateway();
      const ai = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
      const chat = ai.chats.create({ model: modelOf(name) });
      world.upstream().answer(sse(streams[name]));
      let read = "";
      for await (const chunk of await chat.sendMessageStream({ message: "What are terns?" }))
        read += chunk.text ?? "";
      expect(read).toBe(said);
      world.upstream().requests.length = 0;
      world.upstream().answer(sse(byName[name].frames.join("")));
      for await (const _ of await chat.sendMessageStream({ message: "More." })) continue;
      expect(turnOf[name](world.upstream().requests[0]!.body)).toMatchObject(expected[name]);
    },
  );

  it("CONV-601: has its thought pieces joined into one thought", async () => {
    const thought = (piece: string) => ({
      role: "model",
      parts: [{ text: piece, thought: true }],
    });
    const contents = [
      { role: "user", parts: [{ text: "Hi" }] },
      ...["The ca", "ller", " greets"].map(thought),
      { role: "model", parts: [{ text: "Hel" }] },
      { role: "model", parts: [{ text: "lo" }] },
      { role: "user", parts: [{ text: "And now?" }] },
    ];
    const { up } = await world.send("generate_content", "chat", { contents });
    expect((up!["messages"] as Body[])[1]).toEqual({
      role: "assistant",
      content: "Hello",
      reasoning_content: "The caller greets",
    });
  });
});

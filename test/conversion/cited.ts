/** The same answer with a cited page in each protocol, whole and as streams. */
import type { Body, Name } from "./world.ts";

/** The second sentence is cited. Its offsets in bytes, in characters and in UTF-16 code units all differ. */
export const before = "Größe 😀. ";
export const cited = "Köln has it 😀.";
export const page = { url: "https://example.org/a", title: "A page" };
const characters = Array.from(before).length;
const bytes = Buffer.byteLength(before);

export const urlCitation = {
  ...page,
  start_index: characters,
  end_index: characters + Array.from(cited).length,
};
export const annotation = { type: "url_citation", ...urlCitation };
export const location = {
  type: "web_search_result_location",
  ...page,
  cited_text: "It says so.",
  encrypted_index: "Eo8B",
};
export const grounding = {
  webSearchQueries: ["size"],
  groundingChunks: [{ web: { uri: page.url, title: page.title } }],
  groundingSupports: [
    {
      segment: { startIndex: bytes, endIndex: bytes + Buffer.byteLength(cited), text: cited },
      groundingChunkIndices: [0],
    },
  ],
};

const usage = { input_tokens: 1, output_tokens: 2 };
/** The whole answers. */
export const citedAnswers: Readonly<Record<Name, Body>> = {
  chat: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: {
          role: "assistant",
          content: before + cited,
          annotations: [{ type: "url_citation", url_citation: urlCitation }],
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  },
  responses: {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [
          {
            type: "output_text",
            text: before + cited,
            annotations: [annotation, { type: "file_citation", file_id: "file_1", index: 3 }],
          },
        ],
      },
    ],
    usage: { ...usage, total_tokens: 3 },
  },
  messages: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [
      { type: "text", text: before },
      { type: "text", text: cited, citations: [location] },
    ],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage,
  },
  generate_content: {
    candidates: [
      {
        content: {
          role: "model",
          parts: [{ text: "Hm. 😀", thought: true }, { text: before + cited }],
        },
        finishReason: "STOP",
        groundingMetadata: grounding,
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
    responseId: "r1",
  },
};

const delta = (piece: Body): Body => ({
  id: "chatcmpl-1",
  created: 1,
  choices: [{ index: 0, delta: piece, finish_reason: null }],
});
const part = { item_id: "msg_1", output_index: 0, content_index: 0 };
/** The same answers as streams, with the text in pieces. */
export const citedStreams: Readonly<Record<Name, readonly Body[]>> = {
  chat: [
    delta({ role: "assistant", content: before }),
    delta({ content: cited }),
    delta({ annotations: [{ type: "url_citation", url_citation: urlCitation }] }),
    { ...delta({}), choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
  ],
  responses: [
    { type: "response.created", response: { id: "resp_1", created_at: 1, output: [] } },
    { type: "response.output_text.delta", ...part, delta: before },
    { type: "response.output_text.delta", ...part, delta: cited },
    { type: "response.output_text.annotation.added", ...part, annotation_index: 0, annotation },
    { type: "response.output_text.done", ...part, text: before + cited },
    { type: "response.completed", response: citedAnswers.responses },
  ],
  messages: [
    { type: "message_start", message: { id: "msg_1", content: [], usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: before } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    {
      type: "content_block_delta",
      index: 1,
      delta: { type: "citations_delta", citation: location },
    },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: cited } },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ],
  generate_content: [
    { candidates: [{ content: { parts: [{ text: before }] } }], responseId: "r1" },
    { candidates: [{ content: { parts: [{ text: cited }] } }] },
    {
      ...citedAnswers.generate_content,
      candidates: [
        { content: { parts: [{ text: "" }] }, finishReason: "STOP", groundingMetadata: grounding },
      ],
    },
  ],
};

/** `POST /anthropic/v1/messages` as the vendor speaks it: blocks one after another, thinking signed, a ping in each stream. */
import { newId } from "../../src/base/ids.ts";
import type { Answer } from "../answer.ts";
import { pieces } from "../answer.ts";
import { textOf, type Question, type Turn } from "../conversation.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText } from "../json.ts";
import { seal } from "../seal.ts";
import type { Failure } from "../refusal.ts";
import type { Call, Endpoint, Frame } from "../vendor.ts";
import { messagesStrict } from "./messages-strict.ts";

const stopReasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

/** Content is a text or a list of blocks. */
const blocksOf = (content: unknown): Json[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : asList(content).map(asObject);

function readTurn(message: Json): Turn {
  const blocks = blocksOf(message["content"]);
  const results = blocks
    .filter((block) => block["type"] === "tool_result")
    .map((block) => blocksOf(block["content"]));
  const role = asText(message["role"]);
  return {
    role: role === "assistant" || role === "system" ? role : "user",
    text: textOf(blocks),
    images: [...blocks, ...results.flat()].filter((block) => block["type"] === "image").length,
    calls: blocks.filter((block) => block["type"] === "tool_use").length,
    results: results.map(textOf),
  };
}

function readToolChoice(choice: Json): Question["toolChoice"] {
  if (choice["type"] === "tool") return { name: asText(choice["name"]) };
  if (choice["type"] === "none") return "none";
  return choice["type"] === "any" ? "required" : "auto";
}

export function question({ body }: Call): Question {
  const turns = asList(body["messages"]).map((message) => readTurn(asObject(message)));
  const system = textOf(blocksOf(body["system"]));
  const thinking = asObject(body["thinking"])["type"];
  const format = asObject(asObject(body["output_config"])["format"]);
  return {
    turns:
      system === ""
        ? turns
        : [{ role: "system", text: system, images: 0, calls: 0, results: [] }, ...turns],
    tools: asList(body["tools"])
      .map(asObject)
      .filter((tool) => "input_schema" in tool)
      .map((tool) => ({ name: asText(tool["name"]), schema: asObject(tool["input_schema"]) })),
    toolChoice: readToolChoice(asObject(body["tool_choice"])),
    stop: asList(body["stop_sequences"]).map(asText),
    maxTokens: asNumber(body["max_tokens"]),
    reasoning: thinking === "enabled" || thinking === "adaptive",
    json: format["type"] === "json_schema" ? { schema: asObject(format["schema"]) } : undefined,
  };
}

function contentBlocks(answer: Answer): Json[] {
  const blocks: Json[] = [];
  if (answer.reasoning !== "") {
    blocks.push({
      type: "thinking",
      thinking: answer.reasoning,
      signature: seal(answer.reasoning),
    });
  }
  if (answer.text !== "") blocks.push({ type: "text", text: answer.text });
  for (const { name, arguments: input } of answer.calls) {
    blocks.push({ type: "tool_use", id: newId("toolu"), name, input });
  }
  return blocks;
}

/** What the stream says at its start: the input, and one token of output as the vendor does. */
function usageAtStart(answer: Answer): Json | undefined {
  if (!answer.usage) return undefined;
  const { input, cacheRead, cacheWrite } = answer.usage;
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
    server_tool_use: null,
    service_tier: "standard",
  };
}

function usageJson(answer: Answer): Json | undefined {
  if (!answer.usage) return undefined;
  return {
    ...usageAtStart(answer),
    output_tokens: answer.usage.output,
    output_tokens_details: { thinking_tokens: answer.usage.reasoning },
  };
}

function usageAtEnd(answer: Answer): Json | undefined {
  if (!answer.usage) return undefined;
  const {
    cache_creation: _detail,
    server_tool_use: _none,
    service_tier: _tier,
    ...counts
  } = asObject(usageJson(answer));
  return counts;
}

function stopJson(answer: Answer): Json {
  const stopped = answer.stopSequence !== undefined && answer.finish === "stop";
  const reason = stopped ? "stop_sequence" : (stopReasons[answer.finish] ?? answer.finish);
  const details = {
    type: "refusal",
    category: null,
    explanation: "The sandbox was told to refuse.",
  };
  return {
    stop_reason: reason,
    stop_sequence: stopped ? answer.stopSequence : null,
    stop_details: reason === "refusal" ? details : null,
  };
}

/** How a block starts empty, and the deltas that fill it. */
function blockParts(block: Json, chunkChars: number): { start: Json; deltas: Json[] } {
  const split = (text: unknown) => [...pieces(asText(text), chunkChars)];
  if (block["type"] === "thinking") {
    const thoughts = split(block["thinking"]);
    return {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...thoughts.map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block["signature"] },
      ],
    };
  }
  if (block["type"] === "text") {
    const texts = split(block["text"]);
    return {
      start: { type: "text", text: "" },
      deltas: texts.map((text) => ({ type: "text_delta", text })),
    };
  }
  const input = asObject(block["input"]);
  const parts = Object.keys(input).length === 0 ? [] : split(JSON.stringify(input));
  return {
    start: { ...block, input: {} },
    deltas: ["", ...parts].map((json) => ({ type: "input_json_delta", partial_json: json })),
  };
}

const frame = (kind: Frame["kind"], data: Json): Frame => ({
  kind,
  event: asText(data["type"]),
  data: JSON.stringify(data),
});

function* streamFrames(answer: Answer, message: Json): Generator<Frame> {
  const { content, ...start } = message;
  const empty = { content: [], stop_reason: null, stop_sequence: null, stop_details: null };
  const usage = answer.usage ? { usage: usageAtStart(answer) } : {};
  yield frame("open", { type: "message_start", message: { ...start, ...empty, ...usage } });
  for (const [index, block] of (content as Json[]).entries()) {
    const { start: contentBlock, deltas } = blockParts(block, answer.chunkChars);
    yield frame("open", { type: "content_block_start", index, content_block: contentBlock });
    if (index === 0) yield frame("open", { type: "ping" });
    for (const delta of deltas)
      yield frame("content", { type: "content_block_delta", index, delta });
    yield frame("close", { type: "content_block_stop", index });
  }
  yield frame("close", {
    type: "message_delta",
    delta: stopJson(answer),
    ...(answer.usage ? { usage: usageAtEnd(answer) } : {}),
  });
  yield frame("end", { type: "message_stop" });
}

function render(_call: Call, answer: Answer): ReturnType<Endpoint["render"]> {
  const message = {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model: answer.model,
    content: contentBlocks(answer),
    ...stopJson(answer),
    ...(answer.usage ? { usage: usageJson(answer) } : {}),
  };
  return {
    whole: () => message,
    frames: () => streamFrames(answer, message),
    errorFrames: ({ message: text, type = "overloaded_error" }: Failure) => [
      frame("close", { type: "error", error: { type, message: text }, request_id: newId("req") }),
    ],
  };
}

export const messages: Endpoint = {
  name: "messages",
  strict: messagesStrict,
  question,
  render,
};

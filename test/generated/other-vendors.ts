/** Vendors of messages, of generateContent and of Converse. */
import type { SseEvent } from "../../src/base/sse.ts";
import type { Wire } from "../transcripts/readers/index.ts";
import { callsOf, data, Habits, named, type Piece, type Plan, type Vendor } from "./plan.ts";

const messagesStop = (plan: Plan): string =>
  ({
    usual: callsOf(plan).length > 0 ? "tool_use" : "end_turn",
    length: "max_tokens",
    content_filter: "refusal",
  })[plan.finish];

function messagesBlock(piece: Piece): Wire {
  if (piece.kind === "call")
    return { type: "tool_use", id: piece.id, name: piece.name, input: piece.input };
  if (piece.kind === "thought")
    return { type: "thinking", thinking: piece.text, signature: `sig-${piece.text.length}` };
  return { type: "text", text: piece.text };
}

export const messages: Vendor = {
  whole(plan) {
    const { input, cached, output, reasoning } = plan.usage;
    return {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "up",
      content: plan.pieces.map(messagesBlock),
      stop_reason: messagesStop(plan),
      stop_sequence: null,
      usage: {
        input_tokens: input - cached,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: 0,
        output_tokens: output,
        output_tokens_details: { thinking_tokens: reasoning },
      },
    };
  },
  stream(plan) {
    const habits = new Habits(plan.habits);
    const whole = messages.whole(plan);
    const {
      output_tokens: _output,
      output_tokens_details: _details,
      ...input
    } = whole["usage"] as Wire;
    const begun = {
      ...whole,
      content: [],
      stop_reason: null,
      usage: { ...input, output_tokens: 1 },
    };
    const events: Wire[] = [{ type: "message_start", message: begun }];
    if (habits.is(0)) events.push({ type: "ping" });
    for (const [index, piece] of plan.pieces.entries()) {
      const block = messagesBlock(piece);
      const empty =
        piece.kind === "call"
          ? { input: {} }
          : piece.kind === "thought"
            ? { thinking: "", signature: "" }
            : { text: "" };
      events.push({ type: "content_block_start", index, content_block: { ...block, ...empty } });
      const delta = (one: Wire): number =>
        events.push({ type: "content_block_delta", index, delta: one });
      if (piece.kind === "call") {
        const json = JSON.stringify(piece.input);
        if (habits.is(1)) delta({ type: "input_json_delta", partial_json: "" });
        if (json !== "{}")
          for (const partial_json of habits.cut(json))
            delta({ type: "input_json_delta", partial_json });
      } else if (piece.kind === "thought") {
        for (const thinking of habits.cut(piece.text)) delta({ type: "thinking_delta", thinking });
        delta({ type: "signature_delta", signature: block["signature"] });
      } else for (const text of habits.cut(piece.text)) delta({ type: "text_delta", text });
      events.push({ type: "content_block_stop", index });
      if (habits.is(2)) events.push({ type: "ping" });
    }
    const usage = habits.is(3)
      ? whole["usage"]
      : {
          output_tokens: plan.usage.output,
          output_tokens_details: { thinking_tokens: plan.usage.reasoning },
        };
    events.push({
      type: "message_delta",
      delta: { stop_reason: whole["stop_reason"], stop_sequence: null },
      usage,
    });
    events.push({ type: "message_stop" });
    return events.map(named);
  },
};

const googleFinish = { usual: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" } as const;

function googlePart(piece: Piece): Wire {
  if (piece.kind === "call")
    return { functionCall: { id: piece.id, name: piece.name, args: piece.input } };
  return piece.kind === "thought" ? { text: piece.text, thought: true } : { text: piece.text };
}

export const generateContent: Vendor = {
  whole(plan) {
    const { input, cached, output, reasoning } = plan.usage;
    const candidate = {
      index: 0,
      content: { role: "model", parts: plan.pieces.map(googlePart) },
      finishReason: googleFinish[plan.finish],
    };
    return {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: input,
        cachedContentTokenCount: cached,
        candidatesTokenCount: output - reasoning,
        thoughtsTokenCount: reasoning,
        totalTokenCount: input + output,
      },
      modelVersion: "up",
      responseId: "r1",
    };
  },
  stream(plan) {
    const habits = new Habits(plan.habits);
    const { usageMetadata, ...whole } = generateContent.whole(plan);
    const parts = plan.pieces.flatMap((piece) => {
      if (piece.kind === "call") return [googlePart(piece)];
      return habits.cut(piece.text).map((text) => ({ ...googlePart(piece), text }));
    });
    const chunks: Wire[] = [];
    while (parts.length > 0)
      chunks.push({
        ...whole,
        candidates: [
          { index: 0, content: { role: "model", parts: parts.splice(0, 1 + habits.next(2)) } },
        ],
      });
    const finishReason = googleFinish[plan.finish];
    if (habits.is(0)) (chunks.at(-1)!["candidates"] as Wire[])[0]!["finishReason"] = finishReason;
    else
      chunks.push({
        ...whole,
        candidates: [
          {
            index: 0,
            content: habits.is(1) ? { role: "model", parts: [{ text: "" }] } : { role: "model" },
            finishReason,
          },
        ],
      });
    if (habits.is(2)) for (const chunk of chunks) chunk["usageMetadata"] = usageMetadata;
    else chunks.at(-1)!["usageMetadata"] = usageMetadata;
    return chunks.map(data);
  },
};

const converseStop = (plan: Plan): string =>
  ({
    usual: callsOf(plan).length > 0 ? "tool_use" : "end_turn",
    length: "max_tokens",
    content_filter: "guardrail_intervened",
  })[plan.finish];

function converseBlock(piece: Piece): Wire {
  if (piece.kind === "call")
    return { toolUse: { toolUseId: piece.id, name: piece.name, input: piece.input } };
  if (piece.kind === "thought")
    return { reasoningContent: { reasoningText: { text: piece.text, signature: "sig" } } };
  return { text: piece.text };
}

/** It does not report reasoning apart. */
const converseUsage = ({ usage: { input, cached, output } }: Plan): Wire => ({
  inputTokens: input - cached,
  outputTokens: output,
  totalTokens: input + output,
  cacheReadInputTokens: cached,
  cacheWriteInputTokens: 0,
});

/** The stream as the gateway reads it, in which the type of a binary frame is the name of an event. */
export const converse: Vendor = {
  whole: (plan) => ({
    output: { message: { role: "assistant", content: plan.pieces.map(converseBlock) } },
    stopReason: converseStop(plan),
    usage: converseUsage(plan),
    metrics: { latencyMs: 1 },
  }),
  stream(plan) {
    const habits = new Habits(plan.habits);
    const frames: SseEvent[] = [];
    const push = (event: string, value: Wire) =>
      void frames.push({ event, data: JSON.stringify({ ...value, p: "abc" }) });
    push("messageStart", { role: "assistant" });
    for (const [contentBlockIndex, piece] of plan.pieces.entries()) {
      const delta = (one: Wire) => push("contentBlockDelta", { contentBlockIndex, delta: one });
      if (piece.kind === "call") {
        const toolUse = { toolUseId: piece.id, name: piece.name };
        push("contentBlockStart", { contentBlockIndex, start: { toolUse } });
        for (const input of habits.cut(JSON.stringify(piece.input))) delta({ toolUse: { input } });
      } else if (piece.kind === "thought") {
        for (const text of habits.cut(piece.text)) delta({ reasoningContent: { text } });
        delta({ reasoningContent: { signature: "sig" } });
      } else for (const text of habits.cut(piece.text)) delta({ text });
      push("contentBlockStop", { contentBlockIndex });
    }
    push("messageStop", { stopReason: converseStop(plan) });
    push("metadata", { usage: converseUsage(plan), metrics: { latencyMs: 1 } });
    return frames;
  },
};

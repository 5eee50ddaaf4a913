/** Vendors of chat completions and of the responses protocol. */
import type { Wire } from "../transcripts/readers/index.ts";
import {
  callsOf,
  data,
  done,
  Habits,
  named,
  textsOf,
  type Piece,
  type Plan,
  type Vendor,
} from "./plan.ts";

const chatFinish = (plan: Plan): string =>
  plan.finish === "usual" ? (callsOf(plan).length > 0 ? "tool_calls" : "stop") : plan.finish;
const chatUsage = ({ usage: { input, cached, output, reasoning } }: Plan): Wire => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

export const chat: Vendor = {
  whole(plan) {
    const texts = textsOf(plan, "text");
    const refusals = textsOf(plan, "refusal");
    const thoughts = textsOf(plan, "thought");
    const message: Wire = {
      role: "assistant",
      content: texts.length > 0 ? texts.join("") : null,
      refusal: refusals.length > 0 ? refusals.join("") : null,
    };
    if (thoughts.length > 0) message["reasoning_content"] = thoughts.join("");
    const calls = callsOf(plan).map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    if (calls.length > 0) message["tool_calls"] = calls;
    const choice = { index: 0, message, logprobs: null, finish_reason: chatFinish(plan) };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "up",
      choices: [choice],
      usage: chatUsage(plan),
    };
  },
  stream(plan) {
    const habits = new Habits(plan.habits);
    const fields = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "up" };
    const deltas: Wire[] = [];
    if (habits.is(0)) deltas.push({ role: "assistant", content: "" });
    for (const text of textsOf(plan, "thought").flatMap((one) => habits.cut(one)))
      deltas.push(
        habits.is(1)
          ? { reasoning_content: text, content: null }
          : { reasoning: text, content: "" },
      );
    for (const text of textsOf(plan, "text").flatMap((one) => habits.cut(one)))
      deltas.push(habits.is(2) ? { content: text, tool_calls: [] } : { content: text });
    for (const text of textsOf(plan, "refusal").flatMap((one) => habits.cut(one)))
      deltas.push({ refusal: text });
    deltas.push(...chatCalls(plan, habits));
    const chunks: Wire[] = deltas.map((delta) => ({
      ...fields,
      choices: [{ index: 0, delta, finish_reason: null }],
    }));
    const usage = chatUsage(plan);
    const finish_reason = chatFinish(plan);
    const last = chunks.at(-1)!;
    if (habits.is(3)) (last["choices"] as Wire[])[0]!["finish_reason"] = finish_reason;
    else
      chunks.push({
        ...fields,
        choices: [{ index: 0, delta: habits.is(4) ? {} : { content: "" }, finish_reason }],
      });
    if (habits.is(5)) chunks.push({ ...fields, choices: [], usage });
    else chunks.at(-1)!["usage"] = usage;
    return [...chunks.map(data), ...(habits.is(6) ? [] : [done])];
  },
};

/** The tool calls of a stream: one after the other or interleaved, whole or in pieces, with or without an index. */
function chatCalls(plan: Plan, habits: Habits): Wire[] {
  const isWhole = habits.is(7);
  const lanes = callsOf(plan).map(({ id, name, input }, index) => {
    const json = JSON.stringify(input);
    if (isWhole) {
      const call = { id, type: "function", function: { name, arguments: json } };
      return [habits.is(8) ? { index, ...call } : call];
    }
    const begun = { index, id, type: "function", function: { name, arguments: "" } };
    const later = habits.is(9) ? { id: "", type: "function" } : {};
    const named = habits.is(9) ? { name: "" } : {};
    return [
      begun,
      ...habits
        .cut(json)
        .map((piece) => ({ index, ...later, function: { ...named, arguments: piece } })),
    ];
  });
  if (isWhole || !habits.is(10)) return lanes.flat().map((item) => ({ tool_calls: [item] }));
  // They begin one after the other, and go on in random order.
  const items = lanes.map((lane) => lane.shift()!);
  while (lanes.some((lane) => lane.length > 0)) {
    const open = lanes.filter((lane) => lane.length > 0);
    items.push(open[habits.next(open.length)]!.shift()!);
  }
  return items.map((item) => ({ tool_calls: [item] }));
}

const responsesUsage = ({ usage: { input, cached, output, reasoning } }: Plan): Wire => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

function responseItem(piece: Piece, at: number): Wire {
  if (piece.kind === "call")
    return {
      type: "function_call",
      id: `fc_${at}`,
      call_id: piece.id,
      name: piece.name,
      arguments: JSON.stringify(piece.input),
      status: "completed",
    };
  if (piece.kind === "thought")
    return {
      type: "reasoning",
      id: `rs_${at}`,
      summary: [{ type: "summary_text", text: piece.text }],
    };
  const part =
    piece.kind === "text"
      ? { type: "output_text", text: piece.text, annotations: [], logprobs: [] }
      : { type: "refusal", refusal: piece.text };
  return {
    type: "message",
    id: `msg_${at}`,
    role: "assistant",
    status: "completed",
    content: [part],
  };
}

export const responses: Vendor = {
  whole(plan) {
    const isCut = plan.finish !== "usual";
    const reason = plan.finish === "length" ? "max_output_tokens" : "content_filter";
    return {
      id: "resp_1",
      object: "response",
      created_at: 1,
      model: "up",
      status: isCut ? "incomplete" : "completed",
      error: null,
      incomplete_details: isCut ? { reason } : null,
      output: plan.pieces.map(responseItem),
      usage: responsesUsage(plan),
    };
  },
  stream(plan) {
    const habits = new Habits(plan.habits);
    const whole = responses.whole(plan);
    const begun = {
      ...whole,
      status: "in_progress",
      output: [],
      usage: null,
      incomplete_details: null,
    };
    const events: Wire[] = [{ type: "response.created", response: begun }];
    if (habits.is(0)) events.push({ type: "response.in_progress", response: begun });
    for (const [output_index, piece] of plan.pieces.entries())
      events.push(...itemEvents(piece, output_index, habits));
    const last = habits.is(1) ? whole : { ...whole, output: [] };
    events.push({ type: `response.${String(whole["status"])}`, response: last });
    const frames = events.map((event, sequence_number) => named({ ...event, sequence_number }));
    return habits.is(2) ? [...frames, done] : frames;
  },
};

function itemEvents(piece: Piece, output_index: number, habits: Habits): Wire[] {
  const item = responseItem(piece, output_index);
  const item_id = item["id"];
  const at = { item_id, output_index };
  const hasDones = habits.is(3);
  const events: Wire[] = [];
  const empty =
    piece.kind === "call"
      ? { arguments: "" }
      : piece.kind === "thought"
        ? { summary: [] }
        : { content: [] };
  events.push({
    type: "response.output_item.added",
    output_index,
    item: { ...item, ...empty, status: "in_progress" },
  });
  if (piece.kind === "call") {
    const json = JSON.stringify(piece.input);
    if (habits.is(4))
      for (const delta of habits.cut(json))
        events.push({ type: "response.function_call_arguments.delta", ...at, delta });
    if (hasDones)
      events.push({ type: "response.function_call_arguments.done", ...at, arguments: json });
  } else {
    const { kind, text } = piece;
    const stem = {
      text: "response.output_text",
      refusal: "response.refusal",
      thought: "response.reasoning_summary_text",
    }[kind];
    const place = { ...at, ...(kind === "thought" ? { summary_index: 0 } : { content_index: 0 }) };
    for (const delta of habits.cut(text)) events.push({ type: `${stem}.delta`, ...place, delta });
    if (hasDones)
      events.push({
        type: `${stem}.done`,
        ...place,
        [kind === "refusal" ? "refusal" : "text"]: text,
      });
  }
  events.push({ type: "response.output_item.done", output_index, item });
  return events;
}

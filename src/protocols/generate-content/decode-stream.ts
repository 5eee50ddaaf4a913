/**
 * The generateContent stream, read into canonical events. STREAM-03; T2, T16, T18, T38.
 * Each frame is a whole response object with parts of the answer; the stream has no end marker, it closes.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { CanonicalEvent } from "../canonical/events.ts";
import type { Signature } from "../canonical/request.ts";
import { transducer, type EndReason, type Transducer } from "../codec.ts";
import { FrameReader } from "../frame-reader.ts";
import { decodeError } from "./errors.ts";
import { joinPartials } from "./partial-arguments.ts";
import { madeUpPrefix, signatureOf } from "./parts.ts";
import { blockReason, createdAt, decodeFinish, firstCandidate, placeOf } from "./response.ts";
import { decodeUsage, mergeUsage } from "./usage.ts";
import { varying } from "./varying.ts";

/** The block that text or thoughts go on in. */
interface OpenText {
  readonly block: string;
  readonly kind: "text" | "reasoning";
  readonly signature: Signature | undefined;
}

/** A call whose arguments still come in pieces. */
interface OpenCall {
  readonly block: string;
  /** The arguments told with the name; a call in pieces has none there. */
  readonly args: WireObject;
  /** The pieces after them, the last first: put together once, at the call's end. */
  readonly pieces: Piece | undefined;
  readonly signature: Signature | undefined;
}

interface Piece {
  readonly entry: WireObject;
  readonly previous: Piece | undefined;
}

interface State {
  readonly phase: "waiting" | "running" | "over";
  /** Makes ids of calls unique. */
  readonly place: string;
  readonly text: OpenText | undefined;
  readonly call: OpenCall | undefined;
  readonly begun: number;
  readonly hasCalls: boolean;
  readonly usage: WireObject;
  readonly finishReason: string | undefined;
  /** Whether nothing but usage came after the reason so far. */
  readonly isEnding: boolean;
}

type Step = [State, CanonicalEvent[]];

const initial: State = {
  phase: "waiting",
  place: "",
  text: undefined,
  call: undefined,
  begun: 0,
  hasCalls: false,
  usage: {},
  finishReason: undefined,
  isEnding: false,
};

/** A decoder of one stream. */
export function decodeStream(): Transducer<SseEvent, CanonicalEvent> {
  const reader = new FrameReader(varying);
  return transducer(
    initial,
    (state, event) => step(state, event, reader),
    end,
    ({ isEnding }) => isEnding,
  );
}

function step(state: State, event: SseEvent, reader: FrameReader): Step {
  if (state.phase === "over" || event.data === "[DONE]") return [state, []];
  const data = reader.read(event.data);
  if (!data) return breakOff(state, "The upstream sent a frame that is not JSON.");
  if (data["error"] !== undefined && data["error"] !== null) {
    const { message, code, type } = decodeError(502, data);
    return breakOff(state, message, code ?? type);
  }
  let [next, events] = start(state, data);
  const candidate = firstCandidate(data);
  const parts = isObject(candidate["content"]) ? candidate["content"]["parts"] : undefined;
  for (const part of Array.isArray(parts) ? parts : []) {
    if (!isObject(part)) continue;
    const [after, more] = takePart(next, part);
    next = after;
    events = [...events, ...more];
  }
  const reason = candidate["finishReason"] ?? blockReason(data);
  if (typeof reason === "string") next = { ...next, finishReason: reason, isEnding: true };
  else if (events.length > 0) next = { ...next, isEnding: false };
  return usage([next, events], data["usageMetadata"]);
}

function start(state: State, data: WireObject): Step {
  if (state.phase === "running") return [state, []];
  const id = typeof data["responseId"] === "string" ? data["responseId"] : "";
  return [
    { ...state, phase: "running", place: placeOf(id) },
    [{ type: "start", protocol: "generate_content", id, createdAt: createdAt(data) }],
  ];
}

function usage([state, events]: Step, wire: unknown): Step {
  const merged = mergeUsage(state.usage, wire);
  const told = merged === state.usage ? undefined : decodeUsage(merged);
  return told
    ? [{ ...state, usage: merged }, [...events, { type: "usage", usage: told }]]
    : [{ ...state, usage: merged }, events];
}

function takePart(state: State, part: WireObject): Step {
  const call = part["functionCall"];
  if (isObject(call)) return takeCall(state, call, signatureOf(part));
  if (typeof part["text"] === "string" || signatureOf(part)) return takeText(state, part);
  return [state, []];
}

/** Text of one kind goes on in one block. A signature of its own, on a part without text, closes a thought or stands alone (T38). */
function takeText(state: State, part: WireObject): Step {
  const text = typeof part["text"] === "string" ? part["text"] : "";
  const signature = signatureOf(part);
  if (text === "" && !signature) return [state, []];
  const isThought = part["thought"] === true;
  const kind = isThought || text === "" ? "reasoning" : "text";
  const [ready, events] = openText(state, kind);
  const { block } = ready.text!;
  if (text !== "") events.push({ type: `${kind}_delta`, block, text });
  if (!signature) return [ready, events];
  if (kind === "reasoning")
    return closeText({ ...ready, text: { ...ready.text!, signature } }, events);
  // A signature on the answer's own text: it follows in a block without text.
  const [closed, closing] = closeText(ready, events);
  const [opened, opening] = openText(closed, "reasoning");
  return closeText({ ...opened, text: { ...opened.text!, signature } }, [...closing, ...opening]);
}

/** The state with an open block of this kind. */
function openText(from: State, kind: OpenText["kind"]): Step {
  if (from.text?.kind === kind && !from.call) return [from, []];
  const [closedCall, callEvents] = closeCall(from, []);
  const [state, events] = closeText(closedCall, callEvents);
  const block = String(state.begun);
  const text: OpenText = { block, kind, signature: undefined };
  return [
    { ...state, text, begun: state.begun + 1 },
    [...events, { type: `${kind}_start`, block }],
  ];
}

function closeText(state: State, events: CanonicalEvent[]): Step {
  if (!state.text) return [state, events];
  const { block, kind, signature } = state.text;
  const closing: CanonicalEvent =
    kind === "reasoning" && signature
      ? { type: "reasoning_end", block, signature }
      : { type: `${kind}_end`, block };
  return [{ ...state, text: undefined }, [...events, closing]];
}

/** A call comes whole in one part, or begins with its name and goes on in parts without one. */
function takeCall(from: State, wire: WireObject, signature: Signature | undefined): Step {
  if (typeof wire["name"] !== "string") return continueCall(from, wire, signature);
  const [closedCall, callEvents] = closeCall(from, []);
  const [state, events] = closeText(closedCall, callEvents);
  const block = String(state.begun);
  const given = wire["id"];
  const id =
    typeof given === "string" && given !== "" ? given : `${madeUpPrefix}${state.place}_${block}`;
  events.push({ type: "tool_call_start", block, id, name: wire["name"] });
  const args = isObject(wire["args"]) ? wire["args"] : {};
  const call: OpenCall = { block, args, pieces: undefined, signature };
  const begun: State = { ...state, call, begun: state.begun + 1, hasCalls: true };
  const [next, more] = continueCall(begun, wire, signature);
  return [next, [...events, ...more]];
}

function continueCall(state: State, wire: WireObject, signature: Signature | undefined): Step {
  if (!state.call) return [state, []];
  let { pieces } = state.call;
  for (const entry of Array.isArray(wire["partialArgs"]) ? wire["partialArgs"] : []) {
    if (isObject(entry)) pieces = { entry, previous: pieces };
  }
  const call: OpenCall = { ...state.call, pieces, signature: signature ?? state.call.signature };
  const next = { ...state, call };
  return wire["willContinue"] === true ? [next, []] : closeCall(next, []);
}

/** The arguments of a call, pieces included. */
function argumentsOf({ args, pieces }: OpenCall): WireObject {
  const entries: WireObject[] = [];
  for (let piece = pieces; piece; piece = piece.previous) entries.push(piece.entry);
  if (entries.length === 0) return args;
  return joinPartials(args, entries.reverse());
}

function closeCall(state: State, events: CanonicalEvent[]): Step {
  if (!state.call) return [state, events];
  const { block, signature } = state.call;
  return [
    { ...state, call: undefined },
    [
      ...events,
      { type: "tool_call_delta", block, arguments: JSON.stringify(argumentsOf(state.call)) },
      signature ? { type: "tool_call_end", block, signature } : { type: "tool_call_end", block },
    ],
  ];
}

function closeAll(state: State): Step {
  return closeText(...closeCall(state, []));
}

/** A call that was cut has no end: it would look as if its arguments were complete (T16). */
function breakOff(state: State, message: string, code?: string): Step {
  const [closed, events] = closeText(state, []);
  const event: CanonicalEvent =
    code === undefined ? { type: "error", message } : { type: "error", message, code };
  return [{ ...closed, phase: "over" }, [...events, event]];
}

/** Complete is a stream that told why it stopped; any other broke, however politely it closed (T16). */
function end(state: State, why: EndReason): CanonicalEvent[] {
  if (state.phase === "over") return [];
  if (state.finishReason === undefined) {
    const message = why.kind === "cut" ? why.message : "The upstream's stream ended too early.";
    return breakOff(state, message)[1];
  }
  const finish = decodeFinish(state.finishReason, state.hasCalls);
  return [...closeAll(state)[1], { type: "finish", finish }];
}

/** The generateContent stream, read into canonical events. STREAM-03; T2, T16, T18, T38. */
import { exactly } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { CanonicalEvent } from "../canonical/events.ts";
import type { MediaPart, Part, Signature } from "../canonical/request.ts";
import { transducer, type EndReason, type Transducer, type WireError } from "../codec.ts";
import { withCitations } from "../citations.ts";
import { list, nonEmpty, objectOf, objects } from "../read.ts";
import { decodeGrounding } from "./grounding.ts";
import { joinPartials } from "./partial-arguments.ts";
import { madeUpPrefix } from "./open-calls.ts";
import { decodeMedia, holdsOther, isDraft, signatureOf } from "./parts.ts";
import { GenerateReader, type GenerateChunk } from "./read-stream.ts";
import { createdAt, decodeFinish, placeOf, type Said, type WireStop } from "./response.ts";

/** The block that text or thoughts go on in. */
interface OpenText {
  readonly block: string;
  readonly kind: "text" | "reasoning";
}

/** A call whose arguments still come in pieces. */
interface OpenCall {
  readonly block: string;
  /** The arguments that came with the name; a call in pieces has none there. */
  readonly args: WireObject;
  /** The pieces after them: put together once, at the call's end. */
  readonly pieces: WireObject[];
  signature: Signature | undefined;
}

interface State {
  readonly reader: GenerateReader;
  phase: "waiting" | "running" | "over";
  /** Makes ids of calls unique. */
  place: string;
  text: OpenText | undefined;
  call: OpenCall | undefined;
  begun: number;
  said: Said;
  /** The texts so far, for what is cited of them. */
  readonly texts: { readonly block: string; readonly pieces: string[] }[];
  /** Where the answer came from, as it was told last. */
  grounding: WireObject;
  /** Blocks of which it was told already. */
  readonly cited: Set<string>;
  /** What was said last of the answer's end. */
  stop: WireStop;
}

export function decodeStream(): Transducer<SseEvent, CanonicalEvent> {
  const state: State = {
    reader: new GenerateReader(),
    phase: "waiting",
    place: "",
    text: undefined,
    call: undefined,
    begun: 0,
    said: { calls: false, anything: false },
    texts: [],
    grounding: {},
    cited: new Set(),
    stop: { reason: undefined },
  };
  return transducer(
    state,
    takeEvent,
    end,
    // What ended in an error is told when the stream closes.
    ({ reader, stop, said }) => reader.ended && decodeFinish(stop, said).reason !== "error",
  );
}

function takeEvent(state: State, event: SseEvent): CanonicalEvent[] {
  if (state.phase === "over") return [];
  const read = state.reader.read(event);
  if (read.type === "error") return breakOff(state, read.error);
  return read.type === "chunk" ? takeChunk(state, read) : [];
}

function takeChunk(state: State, { data, candidates, tellsUsage, ...block }: GenerateChunk) {
  const events = start(state, data);
  // Of several candidates the first counts; conversion never asks for more.
  const candidate = candidates.find(({ index }) => index === 0);
  const said = (candidate?.parts ?? []).flatMap((part) => takePart(state, part));
  if (candidate) takeGrounding(state, candidate.wire);
  events.push(...citeEnded(state, said));
  if (candidate?.reason !== undefined)
    state.stop = { ...state.stop, reason: candidate.reason, message: candidate.message };
  if (block.blocked !== undefined)
    state.stop = { ...state.stop, blocked: block.blocked, blockMessage: block.blockMessage };
  const { usage, isSoFar } = state.reader;
  if (tellsUsage && usage) events.push({ type: "usage", usage, ...(isSoFar ? { isSoFar } : {}) });
  return events;
}

/** Later frames tell it of all that was said by then. Reduced to what is read, so that the frame is let go. */
function takeGrounding(state: State, { groundingMetadata, citationMetadata }: WireObject): void {
  const told = { ...state.grounding };
  const { groundingChunks, groundingSupports } = objectOf(groundingMetadata);
  if (list(groundingChunks).length > 0)
    told["groundingMetadata"] = { groundingChunks, groundingSupports };
  if (isObject(citationMetadata)) told["citationMetadata"] = citationMetadata;
  state.grounding = told;
}

/**
 * The last frame has what is cited, and often a signature, which ends its text. What is cited of a text goes before its end: the messages
 * protocol has no place for it later.
 */
function citeEnded(state: State, said: CanonicalEvent[]): CanonicalEvent[] {
  const ended = said.flatMap((one) => (one.type === "text_end" ? [one.block] : []));
  if (ended.length === 0 || state.cited.size > 0) return said;
  const cited = Map.groupBy(citationEvents(state), ({ block }) => block);
  if (cited.size === 0) return said;
  for (const block of ended) state.cited.add(block);
  return said.flatMap<CanonicalEvent>((one) =>
    one.type === "text_end" ? [...(cited.get(one.block) ?? []), one] : [one],
  );
}

type CitationEvent = Extract<CanonicalEvent, { type: "citation" }>;

/** What is cited of the texts and not told yet, whatever came between them. */
function citationEvents({ texts, grounding, cited }: State): CitationEvent[] {
  if (Object.keys(grounding).length === 0) return [];
  const said = texts.map(({ pieces }, part) => ({ part, text: pieces.join("") }));
  const parts: Part[] = said.map(({ text }) => ({ type: "text", text }));
  return withCitations(parts, decodeGrounding(grounding, said)).flatMap((part, index) =>
    part.type === "text" && !cited.has(texts[index]!.block)
      ? (part.citations ?? []).map(
          (citation) => ({ type: "citation", block: texts[index]!.block, citation }) as const,
        )
      : [],
  );
}

function start(state: State, data: WireObject): CanonicalEvent[] {
  if (state.phase !== "waiting") return [];
  const id = nonEmpty(data["responseId"]) ?? "";
  state.phase = "running";
  state.place = placeOf(id);
  return [{ type: "start", protocol: "generate_content", id, createdAt: createdAt(data) }];
}

function takePart(state: State, part: WireObject): CanonicalEvent[] {
  const call = part["functionCall"];
  if (isObject(call)) return takeCall(state, call, signatureOf(part));
  // What is thought after it is a thought of its own.
  if (isDraft(part)) return [...closeCall(state), ...closeText(state)];
  const media = decodeMedia(part)?.part;
  return media ? takeMedia(state, media, signatureOf(part)) : takeText(state, part);
}

/** A picture stands between texts; a signature on it goes before it, in a block without text, as in a whole answer. */
function takeMedia(
  state: State,
  part: MediaPart,
  signature: Signature | undefined,
): CanonicalEvent[] {
  const events = [...closeCall(state), ...closeText(state)];
  if (signature) events.push(...openText(state, "reasoning"), ...closeText(state, signature));
  state.said = { ...state.said, anything: true };
  return [...events, { type: "media", part }];
}

/** Text of one kind goes on in one block. A signature of its own, on a part without text, closes a thought or stands alone (T38). */
function takeText(state: State, part: WireObject): CanonicalEvent[] {
  const text = nonEmpty(part["text"]);
  const signature = signatureOf(part);
  // A step of the vendor's own: what is said after it is a text of its own, and a signature on it is of nothing that is told.
  if (typeof part["text"] !== "string" && holdsOther(part)) return closeText(state);
  if (text === undefined && !signature) return [];
  const kind = part["thought"] === true || text === undefined ? "reasoning" : "text";
  const events = openText(state, kind);
  if (kind === "text" && !state.said.anything) state.said = { ...state.said, anything: true };
  if (text !== undefined) events.push({ type: `${kind}_delta`, block: state.text!.block, text });
  if (text !== undefined && kind === "text") state.texts.at(-1)!.pieces.push(text);
  if (!signature) return events;
  // A signature on the answer's own text: it follows in a block without text.
  if (kind === "text") events.push(...openText(state, "reasoning"));
  return [...events, ...closeText(state, signature)];
}

/** Opens a block of this kind, unless there is one. */
function openText(state: State, kind: OpenText["kind"]): CanonicalEvent[] {
  if (state.text?.kind === kind && !state.call) return [];
  const events = [...closeCall(state), ...closeText(state)];
  const block = nextBlock(state);
  state.text = { block, kind };
  if (kind === "text") state.texts.push({ block, pieces: [] });
  return [...events, { type: `${kind}_start`, block }];
}

function nextBlock(state: State): string {
  state.begun += 1;
  return String(state.begun - 1);
}

function closeText(state: State, signature?: Signature): CanonicalEvent[] {
  if (!state.text) return [];
  const { block, kind } = state.text;
  state.text = undefined;
  return [{ type: `${kind}_end`, block, ...(signature ? { signature } : {}) }];
}

/** A call comes whole in one part, or begins with its name and goes on in parts without one. */
function takeCall(
  state: State,
  wire: WireObject,
  signature: Signature | undefined,
): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  if (typeof wire["name"] === "string") {
    events.push(...closeCall(state), ...closeText(state));
    const block = nextBlock(state);
    const id = nonEmpty(wire["id"]) ?? `${madeUpPrefix}${state.place}_${block}`;
    events.push({ type: "tool_call_start", block, id, name: wire["name"] });
    state.call = { block, args: objectOf(wire["args"]), pieces: [], signature };
    state.said = { calls: true, anything: true };
  }
  if (!state.call) return events;
  for (const piece of objects(wire["partialArgs"])) state.call.pieces.push(piece);
  state.call.signature = signature ?? state.call.signature;
  return wire["willContinue"] === true ? events : [...events, ...closeCall(state)];
}

function closeCall(state: State): CanonicalEvent[] {
  if (!state.call) return [];
  const { block, args, pieces, signature } = state.call;
  state.call = undefined;
  const whole = pieces.length === 0 ? exactly(args) : joinPartials(args, pieces);
  return [
    { type: "tool_call_delta", block, arguments: JSON.stringify(whole) },
    { type: "tool_call_end", block, ...(signature ? { signature } : {}) },
  ];
}

/** A call that was cut has no end: it would look as if its arguments were complete (T16). */
function breakOff(state: State, { message, code, type }: WireError): CanonicalEvent[] {
  state.phase = "over";
  const name = code ?? type;
  const error = name === undefined ? { message } : { message, code: name };
  return [...closeText(state), { type: "error", ...error }];
}

/** Complete is a stream that said why it stopped; any other broke, however politely it closed (T16). */
function end(state: State, why: EndReason): CanonicalEvent[] {
  if (state.phase === "over") return [];
  if (state.stop.reason === undefined && state.stop.blocked === undefined) {
    const broken = "The upstream's stream ended too early.";
    return breakOff(state, { message: why.kind === "cut" ? why.message : broken });
  }
  const finish = decodeFinish(state.stop, state.said);
  return [
    ...closeCall(state),
    ...citationEvents(state),
    ...closeText(state),
    { type: "finish", finish },
  ];
}

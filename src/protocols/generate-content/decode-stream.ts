/** Decodes a generateContent stream into canonical events. STREAM-03; T2, T16, T18, T38. */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { CanonicalEvent } from "../canonical/events.ts";
import type { MediaPart, Part, Signature } from "../canonical/request.ts";
import { transducer, type EndReason, type Transducer, type WireError } from "../codec.ts";
import { withCitations } from "../citations.ts";
import { list, nonEmpty, objectOf, objects } from "../read.ts";
import { decodeGrounding } from "./grounding.ts";
import { joinPartials } from "./partial-arguments.ts";
import { generatedIdPrefix } from "./open-calls.ts";
import { decodeMedia, hasUnknownData, isDraft, signatureOf } from "./parts.ts";
import { GenerateReader, type GenerateChunk } from "./read-stream.ts";
import {
  createdAt,
  decodeFinish,
  callIdScope,
  type ContentKinds,
  type WireStop,
} from "./response.ts";

/** The open block that text or thoughts continue. */
interface OpenText {
  readonly block: string;
  readonly kind: "text" | "reasoning";
}

/** A call whose arguments still arrive in pieces. */
interface OpenCall {
  readonly block: string;
  /** The arguments sent with the name; empty if they arrive in pieces. */
  readonly args: WireObject;
  /** The arguments of a vendor that writes them as JSON text. */
  readonly written: string | undefined;
  /** The later pieces, joined once at the call's end. */
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
  kinds: ContentKinds;
  /** The texts so far, to place citations. */
  readonly texts: { readonly block: string; readonly pieces: string[] }[];
  /** The latest grounding and citation metadata. */
  grounding: WireObject;
  /** Blocks whose citations have been sent. */
  readonly cited: Set<string>;
  /** The latest finish reason and block reason. */
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
    kinds: { calls: false, hasContent: false },
    texts: [],
    grounding: {},
    cited: new Set(),
    stop: { reason: undefined },
  };
  return {
    ...transducer(
      state,
      takeEvent,
      end,
      // An error ending is reported only when the stream closes.
      ({ reader, stop, kinds }) => reader.ended && decodeFinish(stop, kinds).reason !== "error",
    ),
    isOpening: () => state.reader.isOpening,
  };
}

function takeEvent(state: State, event: SseEvent): CanonicalEvent[] {
  if (state.phase === "over") return [];
  const read = state.reader.read(event);
  if (read.type === "error") return breakOff(state, read.error);
  return read.type === "chunk" ? takeChunk(state, read) : [];
}

function takeChunk(state: State, { data, candidates, reportsUsage, ...block }: GenerateChunk) {
  const began = start(state, data);
  // Only the first candidate counts; conversion never asks for more.
  const candidate = candidates.find(({ index }) => index === 0);
  const contentEvents = (candidate?.parts ?? []).flatMap((part) => takePart(state, part));
  if (candidate) takeGrounding(state, candidate.wire);
  const events = [...began, ...citeEnded(state, contentEvents)];
  if (candidate?.reason !== undefined)
    state.stop = { ...state.stop, reason: candidate.reason, message: candidate.message };
  if (block.blocked !== undefined)
    state.stop = { ...state.stop, blocked: block.blocked, blockMessage: block.blockMessage };
  const { usage, coversStartOnly } = state.reader;
  if (reportsUsage)
    events.push({ type: "usage", usage, ...(coversStartOnly ? { coversStartOnly } : {}) });
  return events;
}

/**
 * Later frames repeat the grounding for everything so far. Only the fields that are read are kept, so that the frame can be freed. A
 * grounding that cites nothing is not kept: at the end of each text all texts so far would be joined for it.
 */
function takeGrounding(state: State, { groundingMetadata, citationMetadata }: WireObject): void {
  const told = { ...state.grounding };
  const { groundingChunks, groundingSupports } = objectOf(groundingMetadata);
  if (list(groundingChunks).length > 0)
    told["groundingMetadata"] = { groundingChunks, groundingSupports };
  if (isObject(citationMetadata)) told["citationMetadata"] = citationMetadata;
  if (decodeGrounding(told, []).length > 0) state.grounding = told;
}

/**
 * Adds citations before the end of their text. The last frame has the citations and often a signature, which ends its text. The messages
 * protocol cannot cite a text after its end.
 */
function citeEnded(state: State, contentEvents: CanonicalEvent[]): CanonicalEvent[] {
  const ended = contentEvents.flatMap((one) => (one.type === "text_end" ? [one.block] : []));
  if (ended.length === 0 || state.cited.size > 0) return contentEvents;
  const cited = Map.groupBy(citationEvents(state), ({ block }) => block);
  if (cited.size === 0) return contentEvents;
  for (const block of ended) state.cited.add(block);
  return contentEvents.flatMap<CanonicalEvent>((one) =>
    one.type === "text_end" ? [...(cited.get(one.block) ?? []), one] : [one],
  );
}

type CitationEvent = Extract<CanonicalEvent, { type: "citation" }>;

/** Returns the citations that were not sent yet; their offsets count all texts as one. */
function citationEvents({ texts, grounding, cited }: State): CitationEvent[] {
  if (Object.keys(grounding).length === 0) return [];
  const numberedTexts = texts.map(({ pieces }, part) => ({ part, text: pieces.join("") }));
  const parts: Part[] = numberedTexts.map(({ text }) => ({ type: "text", text }));
  return withCitations(parts, decodeGrounding(grounding, numberedTexts)).flatMap((part, index) =>
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
  state.place = callIdScope(id);
  return [{ type: "start", protocol: "generate_content", id, createdAt: createdAt(data) }];
}

function takePart(state: State, part: WireObject): CanonicalEvent[] {
  const call = part["functionCall"];
  if (isObject(call)) return takeCall(state, call, signatureOf(part));
  // A draft picture ends the open thought; the next thought is a new one.
  if (isDraft(part)) return [...closeCall(state), ...closeText(state)];
  const media = decodeMedia(part)?.part;
  return media ? takeMedia(state, media, signatureOf(part)) : takeText(state, part);
}

/** A picture separates texts. A signature on it goes before it, in an empty reasoning block, as in a whole answer. */
function takeMedia(
  state: State,
  part: MediaPart,
  signature: Signature | undefined,
): CanonicalEvent[] {
  const events = [...closeCall(state), ...closeText(state)];
  if (signature) events.push(...openText(state, "reasoning"), ...closeText(state, signature));
  state.kinds = { ...state.kinds, hasContent: true };
  return [...events, { type: "media", part }];
}

/** Text of one kind continues one block. A signature on a part without text ends a thought or stands alone (T38). */
function takeText(state: State, part: WireObject): CanonicalEvent[] {
  const text = nonEmpty(part["text"]);
  const signature = signatureOf(part);
  // A step of the vendor's own tools: text after it begins a new block, and its signature is dropped with it.
  if (typeof part["text"] !== "string" && hasUnknownData(part)) return closeText(state);
  if (text === undefined && !signature) return [];
  const kind = part["thought"] === true || text === undefined ? "reasoning" : "text";
  const events = openText(state, kind);
  if (kind === "text" && !state.kinds.hasContent)
    state.kinds = { ...state.kinds, hasContent: true };
  if (text !== undefined) events.push({ type: `${kind}_delta`, block: state.text!.block, text });
  if (text !== undefined && kind === "text") state.texts.at(-1)!.pieces.push(text);
  if (!signature) return events;
  // A signature on the answer's text follows in an empty reasoning block.
  if (kind === "text") events.push(...openText(state, "reasoning"));
  return [...events, ...closeText(state, signature)];
}

/** Opens a block of this kind unless one is open. */
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

/** A call arrives whole in one part, or begins with its name and continues in parts without one. */
function takeCall(
  state: State,
  wire: WireObject,
  signature: Signature | undefined,
): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  if (typeof wire["name"] === "string") {
    events.push(...closeCall(state), ...closeText(state));
    const block = nextBlock(state);
    const id = nonEmpty(wire["id"]) ?? `${generatedIdPrefix}${state.place}_${block}`;
    events.push({ type: "tool_call_start", block, id, name: wire["name"] });
    const args = wire["args"];
    const written = nonEmpty(args);
    state.call = { block, args: objectOf(args), written, pieces: [], signature };
    state.kinds = { calls: true, hasContent: true };
  }
  if (!state.call) return events;
  for (const piece of objects(wire["partialArgs"])) state.call.pieces.push(piece);
  state.call.signature = signature ?? state.call.signature;
  return wire["willContinue"] === true ? events : [...events, ...closeCall(state)];
}

function closeCall(state: State): CanonicalEvent[] {
  if (!state.call) return [];
  const { block, args, written, pieces, signature } = state.call;
  state.call = undefined;
  const whole = pieces.length === 0 ? exactTwinOf(args) : joinPartials(args, pieces);
  return [
    { type: "tool_call_delta", block, arguments: written ?? JSON.stringify(whole) },
    { type: "tool_call_end", block, ...(signature ? { signature } : {}) },
  ];
}

/** A truncated call gets no end event: its arguments would look complete (T16). */
function breakOff(state: State, { message, code, type }: WireError): CanonicalEvent[] {
  state.phase = "over";
  const name = code ?? type;
  const error = name === undefined ? { message } : { message, code: name };
  return [...closeText(state), { type: "error", ...error }];
}

/**
 * A stream is complete only with a finish reason or block reason, and no text after it; otherwise it broke off, even if it closed normally
 * (T16).
 */
function end(state: State, why: EndReason): CanonicalEvent[] {
  if (state.phase === "over") return [];
  const { reason, blocked } = state.stop;
  if (!state.reader.ended || (reason === undefined && blocked === undefined)) {
    const broken = "The upstream's stream ended too early.";
    return breakOff(state, { message: why.kind === "cut" ? why.message : broken });
  }
  const finish = decodeFinish(state.stop, state.kinds);
  return [
    ...closeCall(state),
    ...citationEvents(state),
    ...closeText(state),
    { type: "finish", finish },
  ];
}

/**
 * Converts a whole answer to a stream and back, with everything that only this protocol has: grounding, citations, code that the vendor
 * ran, further candidates. Traps T14, T15.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { AnswerContext } from "../codec.ts";
import { list, objectOf, objects, parseObject } from "../read.ts";
import { joinPartials } from "./partial-arguments.ts";
import { GenerateReader } from "./read-stream.ts";

/** Returns the stream of a whole answer: one frame, because every frame is an answer. */
export const framesOf = (answer: JsonObject, { model }: AnswerContext): SseEvent[] => [
  { data: JSON.stringify({ ...answer, modelVersion: model }) },
];

interface Candidate {
  /** The members beside the content; the last value of each wins. */
  readonly members: JsonObject;
  readonly parts: JsonObject[];
  /** The members of its grounding, and the queries of all frames. */
  readonly grounding: JsonObject;
  readonly queries: Set<Json>;
}

/** Collects a stream into a whole answer; undefined if it broke off. */
export function answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined {
  const reader = new GenerateReader();
  const candidates = new Map<unknown, Candidate>();
  const answer: JsonObject = {};
  const usage: JsonObject = {};
  for (const frame of frames) {
    const read = reader.read(frame);
    if (read.type === "error") return undefined;
    if (read.type !== "chunk") continue;
    // The reader's own object is valid for one frame only.
    const {
      candidates: told,
      usageMetadata,
      ...others
    } = exactTwinOf(parseObject(frame.data) ?? {});
    Object.assign(answer, set(others));
    Object.assign(usage, set(objectOf(usageMetadata)));
    for (const candidate of objects(told)) takeCandidate(candidates, candidate);
  }
  if (!reader.ended) return undefined;
  if (candidates.size > 0) answer["candidates"] = [...candidates.values()].map(completeCandidate);
  // Usage that covers only the start of the stream does not belong to the whole answer.
  return reader.usage ? { ...answer, usageMetadata: usage } : answer;
}

/** Returns the members that are not null. */
const set = (members: WireObject): JsonObject =>
  Object.fromEntries(Object.entries(members as JsonObject).filter(([, value]) => value !== null));

function takeCandidate(candidates: Map<unknown, Candidate>, wire: WireObject): void {
  const { content, logprobsResult: logprobs, groundingMetadata: grounding, ...others } = wire;
  const index = wire["index"] ?? 0;
  const known = candidates.get(index) ?? {
    members: {},
    parts: [],
    grounding: {},
    queries: new Set<Json>(),
  };
  candidates.set(index, known);
  Object.assign(known.members, set(others));
  if (isObject(logprobs)) addLists(known.members, "logprobsResult", logprobs);
  if (isObject(grounding)) addGrounding(known, grounding);
  for (const part of objects(objectOf(content)["parts"])) addPart(known.parts, part as JsonObject);
}

/**
 * Adds the grounding of a later frame. It may be empty, which takes nothing back. Queries add up, because each is billed. Supports name
 * chunks by their place, so the last list of each counts.
 */
function addGrounding({ grounding, queries }: Candidate, later: WireObject): void {
  for (const query of list(later["webSearchQueries"])) queries.add(query as Json);
  for (const [name, value] of Object.entries(set(later)))
    if (!Array.isArray(value) || value.length > 0) grounding[name] = value;
}

/** Merges an object whose lists continue from frame to frame. */
function addLists(members: JsonObject, name: string, later: WireObject): void {
  const known = (members[name] ??= {}) as JsonObject;
  for (const [key, value] of Object.entries(later as JsonObject)) {
    const before = known[key];
    if (Array.isArray(value) && Array.isArray(before)) for (const one of value) before.push(one);
    else known[key] = Array.isArray(value) ? [...value] : value;
  }
}

/** Text of one kind continues the last part, unless a part has other members. A call continues in parts without a name. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const { functionCall: call } = part;
  if (last && isPlain(last) && isPlain(part) && last["thought"] === part["thought"]) {
    last["text"] = `${last.text}${part.text}`;
    return;
  }
  const begun = last?.["functionCall"];
  if (last && isObject(call) && call["name"] === undefined && isObject(begun)) {
    const { functionCall: _piece, ...others } = part;
    Object.assign(last, others);
    const pieces = begun["partialArgs"] as Json[];
    for (const piece of objects(call["partialArgs"])) pieces.push(piece as JsonObject);
    return;
  }
  if (isObject(call)) {
    // A copy, because later pieces are appended.
    const partialArgs = [...list(call["partialArgs"])] as Json[];
    parts.push({ ...part, functionCall: { ...call, partialArgs } });
    return;
  }
  parts.push({ ...part });
}

const isPlain = (part: JsonObject): part is JsonObject & { text: string } =>
  typeof part["text"] === "string" &&
  Object.keys(part).every((name) => name === "text" || name === "thought");

function completeCandidate({ members, parts, grounding, queries }: Candidate): JsonObject {
  if (queries.size > 0) grounding["webSearchQueries"] = [...queries];
  return {
    content: { role: "model", parts: parts.map(withArguments) },
    ...members,
    ...(Object.keys(grounding).length > 0 && { groundingMetadata: grounding }),
  };
}

/** Returns a call with its arguments joined, if they came in pieces. */
function withArguments(part: JsonObject): JsonObject {
  const { functionCall: call } = part;
  if (!isObject(call)) return part;
  const { partialArgs, willContinue: _goesOn, ...named } = call;
  const pieces = objects(partialArgs);
  if (pieces.length === 0) return { ...part, functionCall: named };
  const args = joinPartials(objectOf(named["args"]), pieces) as JsonObject;
  return { ...part, functionCall: { ...named, args } };
}

/**
 * Adds to the chunks of a direct stream the members that clients require and some vendors leave out. For example Google's compatible
 * endpoint has no `index` in tool calls, and the readers of OpenAI's SDK and the AI SDK fail at that. TXT-10.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { getOrCreate } from "../../base/memoize.ts";
import { callIdIn } from "../call-id.ts";
import type { JsonObject } from "../canonical/request.ts";
import {
  isEmptyList,
  isWholeSeconds,
  member,
  nonEmpty,
  numberOf,
  objectOf,
  objects,
  wholeSeconds,
} from "../read.ts";
import { hasForeignTier } from "../service-tiers.ts";
import { completeCall, isCompleteCall, isOwnCall } from "./complete-call.ts";
import { ownReason } from "./finish.ts";
import { idText } from "./id-text.ts";
import type { CallPiece } from "./output.ts";
import { hasListedContent, withPlainContent } from "./plain-content.ts";
import { findCall } from "./tool-calls.ts";

/** The fields that are the same on every chunk. */
export interface ChunkFields {
  readonly id: unknown;
  readonly object: string;
  readonly created: unknown;
  readonly model: string;
}

/** Completes the chunks of one stream. */
export class ChunkCompleter {
  /** The choices that have begun. */
  readonly #begun = new Set<unknown>();
  /** By choice. */
  readonly #calls = new Map<unknown, Calls>();
  /** True if the caller named the tool to call. */
  readonly #namesTool: boolean;

  constructor(namesTool: boolean) {
    this.#namesTool = namesTool;
  }

  /**
   * Returns the completed chunk; undefined if it lacks nothing. The chunk itself is not changed. `fields` are those of the answer, once it
   * has begun.
   */
  complete(chunk: WireObject, fields: ChunkFields | undefined): JsonObject | undefined {
    if (this.#isComplete(chunk) && (fields === undefined || hasFields(chunk))) {
      for (const choice of chunk["choices"] as WireObject[]) this.#note(choice);
      return undefined;
    }
    const told = withoutForeignTier(exactTwinOf(chunk as JsonObject));
    const answerId = idText(told) ?? idText({ id: fields?.id }) ?? "";
    const choices = (objects(told["choices"]) as JsonObject[]).map((choice, at) =>
      this.#choice(choice, at, answerId),
    );
    const id = nonEmpty(answerId);
    const otherwise = Number(fields?.created ?? 0);
    const created = isTimed(told) ? undefined : wholeSeconds(told["created"], otherwise);
    const changed = { ...member("id", id), ...member("created", created), choices };
    return { ...(fields as JsonObject | undefined), ...told, ...changed };
  }

  /** The first delta of a choice needs the role: OpenAI's SDK for JavaScript fails without one. */
  #isComplete(chunk: WireObject): boolean {
    const { id, choices } = chunk;
    return (
      typeof id !== "number" &&
      isTimed(chunk) &&
      !hasForeignTier(chunk) &&
      Array.isArray(choices) &&
      choices.every(
        (choice) =>
          isWholeChoice(choice) &&
          (this.#begun.has(choice["index"]) || choice["delta"]["role"] !== undefined) &&
          this.#ownReason(choice, choice["index"]) === undefined &&
          this.#hasWholeCalls(choice),
      )
    );
  }

  /**
   * True if each call has the number of its place, and its first piece all members. OpenAI's SDKs take the number for the place, and some
   * vendors count other parts of an answer too.
   */
  #hasWholeCalls({ index, delta: { tool_calls: calls } }: WholeChoice): boolean {
    if (!Array.isArray(calls)) return true;
    const known = this.#calls.get(index) ?? newCalls();
    const begun = new Set<unknown>();
    let next = known.calls.length;
    return (calls as WireObject[]).every((call) => {
      const { index: told, id } = call;
      const continued = findCall(known, pieceOf(call));
      if (continued) return told === continued.place && continued.newId === undefined;
      next += 1;
      if (told !== next - 1 || !isCompleteCall(call)) return false;
      const isNew = !known.byId.has(id as string) && !begun.has(id);
      begun.add(id);
      return isNew;
    });
  }

  /** The protocol's word for the reason; undefined if the choice has it, or no reason. */
  #ownReason(choice: WireObject, index: unknown): string | undefined {
    const { finish_reason: reason, delta } = choice;
    if (typeof reason !== "string") return undefined;
    const isCalling =
      this.#calls.get(index)?.hasOwn === true ||
      objects(objectOf(delta)["tool_calls"]).some(isOwnCall);
    return ownReason(reason, !this.#namesTool && isCalling);
  }

  /** Notes the calls of a choice that lacks nothing: later pieces may. */
  #note({ index, delta }: WireObject): void {
    this.#begun.add(index);
    const { tool_calls: calls } = delta as WireObject;
    if (Array.isArray(calls))
      for (const call of objects(calls)) this.#call(call as JsonObject, index);
  }

  #choice(choice: JsonObject, at: number, answerId: string): JsonObject {
    const told = exactTwinOf(choice);
    const index = placeOf(told["index"]) ?? at;
    const wire = exactTwinOf(objectOf(told["delta"]) as JsonObject);
    const said = withPlainContent(withoutEmptyRole(wire));
    const delta = this.#begun.has(index) ? said : { role: "assistant", ...said };
    this.#begun.add(index);
    const reason = reasonOf(told, this.#ownReason(told, index));
    const { tool_calls: calls, ...others } = delta;
    if (isEmptyList(calls)) return { ...told, ...reason, index, delta: others };
    if (!Array.isArray(calls)) return { ...told, ...reason, index, delta };
    const completed = (objects(calls) as JsonObject[]).map((call) =>
      this.#call(exactTwinOf(call), index, answerId),
    );
    return { ...told, ...reason, index, delta: { ...delta, tool_calls: completed } };
  }

  /** The first piece of a call needs its id, type and arguments too. */
  #call(call: JsonObject, choice: unknown, answerId = ""): JsonObject {
    const calls = getOrCreate(this.#calls, choice, newCalls);
    const piece = pieceOf(call);
    const known = findCall(calls, piece);
    const own = known ?? addCall(calls, piece, (place) => callIdIn(answerId, choice, place));
    noteId(calls, own, piece.id);
    const named = {
      ...call,
      ...member("id", piece.id && (own.newId ?? piece.id)),
      index: own.place,
    };
    if (known) return named;
    calls.hasOwn ||= isOwnCall(call);
    return completeCall(named, () => callIdIn(answerId, choice, own.place), "");
  }
}

interface Call {
  readonly place: number;
  /** The vendor's id; undefined until it arrives. */
  wireId: string | undefined;
  /** Set if an earlier call has the vendor's id, as LocalAI sends it. Clients match results by it. */
  readonly newId: string | undefined;
}

/** The calls begun, also by the vendor's number and id, and whether the caller has to make one. */
interface Calls {
  readonly calls: Call[];
  readonly byIndex: Map<number, Call>;
  readonly byId: Map<string, Call>;
  hasOwn: boolean;
}

const newCalls = (): Calls => ({
  calls: [],
  byIndex: new Map(),
  byId: new Map(),
  hasOwn: false,
});

type Piece = Pick<CallPiece, "id" | "name"> & { readonly index: number | undefined };

function pieceOf(call: WireObject): Piece {
  const { name } = objectOf(call[isObject(call["custom"]) ? "custom" : "function"]);
  return { index: placeOf(call["index"]), id: idText(call), name: nonEmpty(name) };
}

function addCall(
  { calls, byIndex, byId }: Calls,
  { index, id }: Piece,
  idAt: (place: number) => string,
): Call {
  const place = calls.length;
  const newId = id !== undefined && byId.has(id) ? idAt(place) : undefined;
  const call: Call = { place, wireId: id, newId };
  calls.push(call);
  byIndex.set(index ?? place, call);
  return call;
}

/** Notes the vendor's id of a call. Further ids of its pieces do not count: some vendors send a new one with each. */
function noteId({ byId }: Calls, call: Call, id: string | undefined): void {
  if (id === undefined) return;
  call.wireId ??= id;
  if (call.wireId === id && !byId.has(id)) byId.set(id, call);
}

/** A number of a choice or call; undefined if there is none. */
function placeOf(value: unknown): number | undefined {
  const place = numberOf(value);
  return typeof place === "number" && Number.isSafeInteger(place) && place >= 0 ? place : undefined;
}

const hasFields = ({ id, object, created }: WireObject): boolean =>
  nonEmpty(id) !== undefined && object !== undefined && created !== undefined;

/** True unless a chunk has a time that typed clients refuse. */
const isTimed = ({ created }: WireObject): boolean =>
  created === undefined || isWholeSeconds(created);

/** The vendor's word stays in the member that OpenRouter has for it. */
function reasonOf(
  { finish_reason: word, native_finish_reason: native }: JsonObject,
  own: string | undefined,
): JsonObject {
  if (word === "") return { finish_reason: null };
  return own === undefined ? {} : { finish_reason: own, native_finish_reason: native ?? word! };
}

/** Servers of SGLang, LocalAI and GLM write an empty role or reason where there is none. Clients with a closed list of words fail at that. */
function withoutEmptyRole(delta: JsonObject): JsonObject {
  const { role, ...others } = delta;
  return role === "" ? others : delta;
}

/** Returns the chunk without a service tier that strict clients do not know. */
export function withoutForeignTier<Chunk extends WireObject>(chunk: Chunk): Chunk {
  if (!hasForeignTier(chunk)) return chunk;
  const { service_tier: _foreign, ...others } = chunk;
  return others as Chunk;
}

type WholeChoice = WireObject & { readonly delta: WireObject };

const isWholeChoice = (choice: unknown): choice is WholeChoice => {
  if (!isObject(choice) || typeof choice["index"] !== "number") return false;
  const { delta, finish_reason: reason } = choice;
  if (!isObject(delta) || reason === "") return false;
  const { tool_calls: calls, role } = delta;
  if (role === "" || hasListedContent(delta)) return false;
  // vLLM writes an empty list beside each piece of text. VS Code takes it for a call, and shows no text.
  if (isEmptyList(calls)) return false;
  return !Array.isArray(calls) || calls.every(hasPlace);
};

const hasPlace = (call: unknown): boolean =>
  isObject(call) && typeof call["index"] === "number" && typeof call["id"] !== "number";

/**
 * Adds to the events of a direct stream the numbers and ids that typed clients require and some vendors leave out. llama.cpp and Lemonade
 * have no `sequence_number`, `output_index` and `content_index`, vLLM had -1. Grok's command line, async-openai and Koog end the turn at
 * that. TXT-10.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import type { WireObject } from "../../base/json.ts";
import { reportedCount } from "../../base/usage.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { nonEmpty, objectOf, objects } from "../read.ts";
import { addMissing, completeItem, itemId } from "./complete-item.ts";

type PartIndex = "content_index" | "summary_index";
/** The events of one kind. */
interface Kind {
  /** How ids of their items begin. */
  readonly idStart: string;
  /** The member with the number of the part; undefined if they belong to none. */
  readonly numbered: PartIndex | undefined;
  readonly isDelta: boolean;
}

/** The events of an item: their names, how ids of such items begin, and the number of a part. */
const stepNames: readonly (readonly [start: string, idStart: string, numbered?: PartIndex])[] = [
  ["response.content_part", "msg", "content_index"],
  ["response.output_text", "msg", "content_index"],
  ["response.refusal", "msg", "content_index"],
  ["response.reasoning_text", "rs", "content_index"],
  ["response.reasoning_summary_part", "rs", "summary_index"],
  ["response.reasoning_summary_text", "rs", "summary_index"],
  ["response.function_call_arguments", "fc"],
  ["response.custom_tool_call_input", "ctc"],
];

/** By the event's whole name: cutting names would cost each event more than the rest of its check. */
const kinds: ReadonlyMap<string, Kind> = new Map(
  stepNames.flatMap(([start, idStart, numbered]) =>
    ["added", "delta", "done"].map((step): [string, Kind] => [
      `${start}.${step}`,
      { idStart, numbered, isDelta: step === "delta" },
    ]),
  ),
);

/** An item that has begun. */
interface Item {
  /** Empty for an item of another kind that came without one. */
  readonly id: string;
  readonly index: number;
  /** Undefined if its beginning did not tell. */
  readonly type: unknown;
  isDone: boolean;
  /** The numbers of its latest parts. */
  readonly parts: Record<PartIndex, number>;
  /** The id and name with which a call began. */
  readonly call: CallHead;
}

type CallHead = { readonly [Member in (typeof callMembers)[number]]?: unknown };
const callMembers = ["call_id", "name"] as const;

/** An event, and what counts if its vendor left it out. */
export interface BareEvent {
  readonly name: string;
  readonly frame: WireObject;
  readonly sequence: number;
  /** Part of the ids of items. */
  readonly answerId: string;
}

/** Completes the events of one stream. */
export class EventCompleter {
  /** By number. */
  readonly #items = new Map<number, Item>();
  readonly #byId = new Map<string, Item>();
  #latest: Item | undefined;

  /** Returns the completed event; undefined if it lacks nothing. The event keeps its own numbers: its object serves later events too. */
  complete(event: BareEvent): JsonObject | undefined {
    const { name, sequence } = event;
    const kind = kinds.get(name);
    // Nearly all events are such.
    if (kind?.isDelta === true && isWhole(event.frame, kind.numbered)) return undefined;
    const frame = exactTwinOf(event.frame as JsonObject);
    const added: JsonObject = {};
    if (!isNumbered(frame) && name.startsWith("response.")) added["sequence_number"] = sequence;
    let isChanged = false;
    if (kind) {
      this.#place(event, kind, { frame, added });
      isChanged = addMissing(objectOf(frame["part"]));
    } else if (name.startsWith("response.output_item."))
      isChanged = this.#takeItem(event, { frame, added });
    isChanged ||= Object.keys(added).length > 0;
    return isChanged ? { ...frame, ...added } : undefined;
  }

  /**
   * The items of a finished answer that began and never ended. Codex takes an item from its end alone, and one that ends twice for two.
   * Vendors may change the id of an item, and leave items out of the answer: in the place of one then stands another. So a place counts only
   * if none is left out, and for an item of the same type.
   */
  unended(output: Json | undefined): JsonObject[] {
    const items = objects(output) as JsonObject[];
    const byId = new Map(items.map((item) => [item["id"], item]));
    const hasAll = items.length === this.#items.size;
    return [...this.#items.values()].flatMap((begun) => {
      if (begun.isDone) return [];
      const { id, index } = begun;
      const placed = hasAll && isOfType(items[index], begun.type) ? items[index] : undefined;
      const item = byId.get(id) ?? placed;
      const owner = this.#byId.get(nonEmpty(item?.["id"]) ?? "");
      const isOwn = owner === undefined || owner === begun;
      return item !== undefined && isOwn ? [{ output_index: index, item }] : [];
    });
  }

  #takeItem({ name, answerId }: BareEvent, { frame, added }: Change): boolean {
    const isBegun = name.endsWith(".added");
    const wire = objectOf(frame["item"]);
    const id = nonEmpty(wire["id"]);
    const index = this.#indexOf(frame, added, () => this.#indexOfItem(id, isBegun));
    const begun = isBegun ? undefined : this.#items.get(index);
    if (id === undefined && begun !== undefined && begun.id !== "") wire["id"] = begun.id;
    const isNamed = begun !== undefined && nameCall(wire, begun.call);
    const status = isBegun ? "in_progress" : "completed";
    const isChanged = completeItem(wire, { answerId, index, status });
    const item = begun ?? this.#begin(index, nonEmpty(wire["id"]) ?? "", wire);
    item.isDone = !isBegun;
    return isNamed || isChanged || nonEmpty(wire["id"]) !== id;
  }

  /** The place of an item whose event has no number: one that begins is the next. */
  #indexOfItem(id: string | undefined, isBegun: boolean): number {
    const open = isBegun || this.#latest?.isDone === true ? undefined : this.#latest;
    const item = this.#byId.get(id ?? "") ?? open;
    return item?.index ?? this.#items.size;
  }

  /** Adds the item and the part that an event belongs to. */
  #place(
    { name, answerId }: BareEvent,
    { idStart, numbered }: Kind,
    { frame, added }: Change,
  ): void {
    const id = nonEmpty(frame["item_id"]);
    const latest = (): number => (this.#byId.get(id ?? "") ?? this.#latest)?.index ?? 0;
    const index = this.#indexOf(frame, added, latest);
    const item =
      this.#items.get(index) ?? this.#begin(index, id ?? itemId(idStart, { answerId, index }));
    if (id === undefined) added["item_id"] = item.id;
    if (numbered === undefined) return;
    const begun = item.parts[numbered] + (name.endsWith("part.added") ? 1 : 0);
    const told = reportedCount(frame[numbered]);
    item.parts[numbered] = told ?? begun;
    if (told === undefined) added[numbered] = Math.max(0, begun);
  }

  /** The number of an event's item; `missing` counts, and is added, if the vendor sent none. */
  #indexOf(frame: JsonObject, added: JsonObject, missing: () => number): number {
    const told = reportedCount(frame["output_index"]);
    if (told !== undefined) return told;
    return (added["output_index"] = missing());
  }

  #begin(index: number, id: string, { type, call_id, name }: WireObject = {}): Item {
    const parts = { content_index: -1, summary_index: -1 };
    const item: Item = { id, index, type, isDone: false, parts, call: { call_id, name } };
    this.#items.set(index, item);
    if (id !== "") this.#byId.set(id, item);
    this.#latest = item;
    return item;
  }
}

const isOfType = (item: JsonObject | undefined, type: unknown): boolean =>
  type === undefined || item?.["type"] === type;

/** Gives a finished call the id and name that it began with, if its end lacks them. True if it did: Codex does not know such a call. */
function nameCall(wire: WireObject, begun: CallHead): boolean {
  let isNamed = false;
  for (const member of callMembers) {
    const said = nonEmpty(begun[member]);
    if (said === undefined || nonEmpty(wire[member]) !== undefined) continue;
    wire[member] = said;
    isNamed = true;
  }
  return isNamed;
}

const isNumbered = (frame: WireObject): boolean =>
  reportedCount(frame["sequence_number"]) !== undefined;

/** True if an event has its number, those of its item and part, and the item's id. */
const isWhole = (frame: WireObject, numbered: PartIndex | undefined): boolean =>
  isNumbered(frame) &&
  reportedCount(frame["output_index"]) !== undefined &&
  nonEmpty(frame["item_id"]) !== undefined &&
  (numbered === undefined || reportedCount(frame[numbered]) !== undefined);

interface Change {
  readonly frame: JsonObject;
  readonly added: JsonObject;
}

/**
 * Which item of the answer a frame of a responses stream is about. Its number tells, but some vendors give several items one
 * number: there another item begins where one is done, or where it is another call or another kind of item. Trap T5.
 * An item's id counts within its number only: other vendors change it from event to event.
 */
import type { WireObject } from "../../base/json.ts";
import { reportedCount } from "../../base/usage.ts";
import { nonEmpty, objectOf } from "../read.ts";

interface Item {
  readonly place: string;
  readonly type: unknown;
  readonly call: string | undefined;
  isDone: boolean;
}

/** The places of one stream. An item that has a number for itself is there. */
export class Places {
  /** By number, the item that began last. */
  readonly #latest = new Map<string, Item>();
  /** By number, and by the item's id or its call's. */
  readonly #named = new Map<string, Item>();
  #begun = 0;

  /** The place of the item that a frame is about; `name` is the event's. */
  of(name: string, frame: WireObject): string {
    const number = numberOf(frame);
    const wire = objectOf(frame["item"]);
    const latest = this.#latest.get(number);
    if (name === "response.output_item.added") {
      const isSame = latest && isOf(latest, wire) && !(latest.isDone && latest.call === undefined);
      return (isSame ? latest : this.#begin(number, wire)).place;
    }
    const own = namesOf(number, frame).map((key) => this.#named.get(key));
    const known = own.find((item) => item !== undefined);
    if (name !== "response.output_item.done") return (known ?? latest)?.place ?? number;
    // The pieces of a message or a thought went to the latest item, where it was not said to begin.
    const isLatest = latest && (callOf(wire) === undefined || isOf(latest, wire));
    const item = known ?? (isLatest ? latest : this.#begin(number, wire));
    item.isDone = true;
    return item.place;
  }

  #begin(number: string, wire: WireObject): Item {
    const place = this.#latest.has(number) ? `${number}:${this.#begun}` : number;
    const item: Item = { place, type: wire["type"], call: callOf(wire), isDone: false };
    this.#begun += 1;
    this.#latest.set(number, item);
    for (const key of namesOf(number, { item: wire })) this.#named.set(key, item);
    return item;
  }
}

/** The number of a frame's place, or its item's id where a vendor tells no number. */
const numberOf = (frame: WireObject): string =>
  String(reportedCount(frame["output_index"]) ?? idOf(frame) ?? 0);

const idOf = ({ item_id: id, item }: WireObject): string | undefined =>
  nonEmpty(id) ?? nonEmpty(objectOf(item)["id"]);

const callOf = (wire: WireObject): string | undefined => nonEmpty(wire["call_id"]);

/** What a frame's item is found by. */
function namesOf(number: string, frame: WireObject): string[] {
  const call = callOf(objectOf(frame["item"]));
  const id = idOf(frame);
  return [
    ...(call === undefined ? [] : [`call ${number} ${call}`]),
    ...(id === undefined ? [] : [`item ${number} ${id}`]),
  ];
}

/** Whether a frame's item may be this one. */
const isOf = ({ type, call }: Item, wire: WireObject): boolean =>
  type === wire["type"] && (callOf(wire) ?? call) === (call ?? callOf(wire));

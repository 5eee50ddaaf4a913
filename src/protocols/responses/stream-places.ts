/**
 * Finds the item that a frame of a responses stream belongs to. The frame's number usually decides, but some vendors give several items one
 * number. There, a new item begins after one is done, or with another call or another kind of item. Trap T5. Item ids only count within a
 * number, because other vendors change them from event to event.
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

/** The places of one stream. A place is the item's number, if no other item shares it. */
export class Places {
  /** The latest item of each number. */
  readonly #latest = new Map<string, Item>();
  /** Items by number and by item id or call id. */
  readonly #named = new Map<string, Item>();
  #begun = 0;

  /** Returns the place of a frame's item; `name` is the event's name. */
  of(name: string, frame: WireObject): string {
    const number = numberOf(frame);
    const wire = objectOf(frame["item"]);
    const latest = this.#latest.get(number);
    if (name === "response.output_item.added") {
      const isSame =
        latest && mayBeSameItem(latest, wire) && !(latest.isDone && latest.call === undefined);
      return (isSame ? latest : this.#begin(number, wire)).place;
    }
    const own = namesOf(number, frame).map((key) => this.#named.get(key));
    const known = own.find((item) => item !== undefined);
    if (name !== "response.output_item.done") return (known ?? latest)?.place ?? number;
    // If the start of a message or thought was omitted, its pieces went to the latest item.
    const isLatest = latest && (callOf(wire) === undefined || mayBeSameItem(latest, wire));
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

/** Returns the frame's number, or the item's id if the vendor sends no number. */
const numberOf = (frame: WireObject): string =>
  String(reportedCount(frame["output_index"]) ?? idOf(frame) ?? 0);

const idOf = ({ item_id: id, item }: WireObject): string | undefined =>
  nonEmpty(id) ?? nonEmpty(objectOf(item)["id"]);

const callOf = (wire: WireObject): string | undefined => nonEmpty(wire["call_id"]);

/** Returns the keys that identify a frame's item. */
function namesOf(number: string, frame: WireObject): string[] {
  const call = callOf(objectOf(frame["item"]));
  const id = idOf(frame);
  return [
    ...(call === undefined ? [] : [`call ${number} ${call}`]),
    ...(id === undefined ? [] : [`item ${number} ${id}`]),
  ];
}

/** True if a frame's item may be this one. */
const mayBeSameItem = ({ type, call }: Item, wire: WireObject): boolean =>
  type === wire["type"] && (callOf(wire) ?? call) === (call ?? callOf(wire));

/**
 * The gateway's changes to a request, as data. Requirements: TXT; docs/decisions.md "Dropped parameters". Every step that may lose
 * something returns notes with its result; nothing is lost silently.
 */

import { memoizeByObject } from "./memoize.ts";
import { isObject } from "./json.ts";
import { shortText } from "./text.ts";

/** One loss or change. `param` is the caller's own dotted name, such as `reasoning.summary`. */
export interface Note {
  readonly param: string;
  readonly kind: "dropped" | "rewritten" | "ignored";
  /** Why, as a short clause without the parameter's name: "not supported by this model, dropped". */
  readonly detail: string;
}

/**
 * Returns notes in the order in which the caller wrote their fields, members of objects too. Steps add notes in another order; the caller
 * sees the caller's own (docs/decisions.md "Dropped parameters").
 */
export function inRequestOrder(notes: readonly Note[], body: object): readonly Note[] {
  if (notes.length < 2) return notes;
  const orderOf = memoizeByObject(
    (object: object) => new Map(Object.keys(object).map((key, index) => [key, index])),
  );
  /** Returns the positions of a name: at the top, within the object found there, and so on. A list counts as one position. */
  const placeOf = ({ param }: Note): number[] => {
    const place: number[] = [];
    let value: unknown = body;
    for (const step of param.split(/[.[\]]+/)) {
      if (!isObject(value)) break;
      place.push(orderOf(value).get(step) ?? -1);
      value = value[step];
    }
    return place;
  };
  const placed = notes.map((note) => ({ note, place: placeOf(note) }));
  return placed
    .sort((left, right) => comparePlaces(left.place, right.place))
    .map(({ note }) => note);
}

function comparePlaces(left: readonly number[], right: readonly number[]): number {
  const steps = Math.min(left.length, right.length);
  for (let step = 0; step < steps; step += 1) {
    const difference = left[step]! - right[step]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The names for `gw.droppedParams`: as the caller wrote them, unique, in the order they were noted. */
export function noteParams(notes: readonly Note[]): string[] {
  return notes.length === 0 ? [] : [...new Set(notes.map((note) => note.param))];
}

/** The sentences for `gw.notes` and `notes`: "<param>: <why>". */
export function noteSentences(notes: readonly Note[]): string[] {
  return notes.map((note) => `${note.param}: ${note.detail}`);
}

/** The log keeps this many notes of a call, with this many characters of a name and of a reason: more than any real call has. */
const loggedMax = { notes: 200, param: 300, detail: 500 } as const;

/** The names and sentences for the log. Callers choose the names: a body may have ten thousand fields with 32 MB of them. */
export function loggedNotes(notes: readonly Note[]): {
  readonly dropped: readonly string[];
  readonly notes: readonly string[];
} {
  const kept = notes.slice(0, loggedMax.notes).map(({ param, kind, detail }) => ({
    param: shortText(param, loggedMax.param),
    kind,
    detail: shortText(detail, loggedMax.detail),
  }));
  const more = notes.length - kept.length;
  const rest = more > 0 ? [`and ${more} more that were dropped or changed`] : [];
  return { dropped: noteParams(kept), notes: [...noteSentences(kept), ...rest] };
}

const headerBytesMax = 4096;

/**
 * The value of `x-gw-dropped-params`: names joined by ", ", ASCII only (others as "?"), at most 4 KB,
 * cut at a whole name. `undefined` when there is nothing to say.
 */
export function noteHeader(notes: readonly Note[]): string | undefined {
  let value = "";
  for (const param of noteParams(notes)) {
    const name = param.replace(/[^\x21-\x7e]/g, "?");
    const next = value === "" ? name : `${value}, ${name}`;
    if (next.length > headerBytesMax) break;
    value = next;
  }
  return value === "" ? undefined : value;
}

/**
 * What the gateway changed in a request, as data. Spec: "What the service does" 7; decisions.md "dropped parameters".
 * Every step that may lose something returns notes beside its result; nothing is lost silently.
 */

/** One loss or change. `param` is the caller's own dotted name, such as `reasoning.summary`. */
export interface Note {
  readonly param: string;
  readonly kind: "dropped" | "rewritten" | "ignored";
  /** Why, as a short clause without the parameter's name: "not supported by this model, dropped". */
  readonly detail: string;
}

/**
 * Notes in the order in which the caller wrote the fields they name. Steps note what they do in an order of their own;
 * the caller's is the one it is told in (decisions.md "dropped parameters").
 */
export function inRequestOrder(notes: readonly Note[], body: object): readonly Note[] {
  if (notes.length < 2) return notes;
  const fields = Object.keys(body);
  const place = (note: Note): number => fields.indexOf(note.param.split(/[.[]/, 1)[0]!);
  return [...notes].sort((left, right) => place(left) - place(right));
}

/** The names for `gw.droppedParams`: as the caller wrote them, unique, in the order they were noted. */
export function noteParams(notes: readonly Note[]): string[] {
  return [...new Set(notes.map((note) => note.param))];
}

/** The sentences for `gw.notes` and `notes`: "<param>: <why>". */
export function noteSentences(notes: readonly Note[]): string[] {
  return notes.map((note) => `${note.param}: ${note.detail}`);
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

/** What was changed in a request, out of the names and sentences that the log keeps of it. */

/** One change, as the management API shows it. */
export interface Change {
  /** The caller's own dotted name. */
  readonly param: string;
  readonly action: "dropped" | "ignored" | "rewritten";
  /** Why; null where no sentence says it. */
  readonly note: string | null;
}

/** The sentences end with the word, or say it: notes of `base/notes.ts`. */
function actionOf(note: string): Change["action"] {
  if (/\bdropped\b/.test(note)) return "dropped";
  return /\bignored\b/.test(note) ? "ignored" : "rewritten";
}

/** The name that a sentence begins with: the longest, since a caller's name may have a colon in it. */
const paramOf = (sentence: string, params: readonly string[]): string =>
  params
    .filter((param) => sentence.startsWith(`${param}: `))
    .reduce((longest, param) => (param.length > longest.length ? param : longest), "");

/** Each sentence as a change, and each name that none is about. */
export function changesOf(dropped: readonly string[], notes: readonly string[]): Change[] {
  const explained = notes.map((sentence): Change => {
    const known = paramOf(sentence, dropped);
    const param = known === "" ? sentence.slice(0, Math.max(0, sentence.indexOf(": "))) : known;
    const note = param === "" ? sentence : sentence.slice(param.length + 2);
    return { param, action: actionOf(note), note };
  });
  const names = new Set(explained.map(({ param }) => param));
  const others = dropped.filter((param) => !names.has(param));
  return [
    ...explained,
    ...others.map((param): Change => ({ param, action: "dropped", note: null })),
  ];
}

/** Reconstructs the changes of a request from the parameter names and notes in the log. */

/** One change, as the management API shows it. */
export interface Change {
  /** The caller's dotted parameter name. */
  readonly param: string;
  readonly action: "dropped" | "ignored" | "rewritten";
  /** The reason; null if no note gives one. */
  readonly note: string | null;
}

/** Notes of `base/notes.ts` contain the word of the action. */
function actionOf(note: string): Change["action"] {
  if (/\bdropped\b/.test(note)) return "dropped";
  return /\bignored\b/.test(note) ? "ignored" : "rewritten";
}

/** The parameter that a note begins with: the longest match, since a caller's name may contain a colon. Empty if there is none. */
function paramOf(sentence: string, params: ReadonlySet<string>): string {
  let longest = "";
  for (let at = sentence.indexOf(": "); at !== -1; at = sentence.indexOf(": ", at + 1)) {
    const param = sentence.slice(0, at);
    if (params.has(param)) longest = param;
  }
  return longest;
}

/** Returns a change for each note, and one for each name without a note. */
export function changesOf(dropped: readonly string[], notes: readonly string[]): Change[] {
  const params = new Set(dropped);
  const explained = notes.map((sentence): Change => {
    const known = paramOf(sentence, params);
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

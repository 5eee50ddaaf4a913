/** Mistakes in a configuration file, as data: where, what, and how to put it right. docs/configuration.md. */

/** A place inside a parsed file: object keys and list positions, from the top. */
export type Path = readonly (string | number)[];

/** One mistake. `line` and `column` count from 1. */
export interface Mistake {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `models[0].offers[1].price.input`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** What to write instead; empty where the message says it all. */
  readonly fix: string;
}

/** A mistake before its place in the text is known. */
export interface Finding {
  readonly path: Path;
  /** Point at the key instead of its value. */
  readonly atKey?: boolean | undefined;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** A path as people write it. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** One line each: `tollgate.yaml:12:7 models[0].kind: what is wrong; what to do`. */
export function formatMistakes(mistakes: readonly Mistake[]): string {
  return mistakes
    .map((mistake) => {
      const place = `${mistake.file}:${mistake.line}:${mistake.column}`;
      const what = mistake.path === "" ? mistake.message : `${mistake.path}: ${mistake.message}`;
      return mistake.fix === "" ? `${place} ${what}` : `${place} ${what}; ${mistake.fix}`;
    })
    .join("\n");
}

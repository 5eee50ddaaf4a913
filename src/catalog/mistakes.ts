/** Mistakes in a configuration file, as data: position, problem and fix. docs/configuration.md. */

/** A path inside a parsed file: object keys and list indexes, from the root. */
export type Path = readonly (string | number)[];

/** One mistake. `line` and `column` count from 1. */
export interface Mistake {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `models[0].offers[1].price.input`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** The remedy; empty if the message is enough. */
  readonly fix: string;
}

/** A mistake without its position in the text. */
export interface Finding {
  readonly path: Path;
  /** True if the mistake is in the key, not in its value. */
  readonly atKey?: boolean | undefined;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** Formats a path for messages: `models[0].kind`. */
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

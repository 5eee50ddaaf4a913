/**
 * Trouble that is said again and again while it lasts: a database that is away is found so by all that works on it, several times a
 * second. The same line is written once a minute then, and says how often it came since. docs/operate.md "Access log".
 */

const quietMs = 60_000;
/** Texts of errors may differ each time. */
const keptMax = 200;

interface Said {
  readonly atMs: number;
  times: number;
}

/** What is to be written of a line: its fields; undefined where it was written a moment ago. */
export type Repeats = (fields: object, message: string) => object | undefined;

/** Counts lines that name nothing but an error; a line that names a call, a task or a provider is one of its own. */
export function createRepeats(nowMs: () => number = () => performance.now()): Repeats {
  const said = new Map<string, Said>();
  return (fields, message) => {
    const { err, ...rest } = fields as { readonly err?: unknown };
    if (!(err instanceof Error) || Object.keys(rest).length > 0) return fields;
    const line = `${message}\n${err.message}`;
    const before = said.get(line);
    const atMs = nowMs();
    if (before !== undefined && atMs - before.atMs < quietMs) {
      before.times += 1;
      return undefined;
    }
    said.delete(line);
    said.set(line, { atMs, times: 0 });
    if (said.size > keptMax) said.delete(said.keys().next().value!);
    return before === undefined || before.times === 0 ? fields : { ...fields, again: before.times };
  };
}

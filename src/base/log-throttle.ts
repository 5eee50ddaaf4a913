/**
 * Limits log lines that repeat while a failure lasts: if the database is away, all code that uses it logs that, several times a second. The
 * same line is then written once a minute, with the number of repeats since. docs/operate.md "Access log".
 */

const quietMs = 60_000;
/** The most lines that are remembered: error texts may differ each time. */
const keptMax = 200;

interface Said {
  readonly atMs: number;
  times: number;
}

/** Returns the fields to write for a line; undefined if it was written a moment ago. */
export type LogThrottle = (fields: object, message: string) => object | undefined;

/**
 * Creates the filter. It counts lines whose only field is an error, or a message of the embedded database (`database`). A line that names
 * a call, a task or a provider is always written.
 */
export function createLogThrottle(nowMs: () => number = () => performance.now()): LogThrottle {
  const said = new Map<string, Said>();
  return (fields, message) => {
    const { err, database, ...rest } = fields as Record<"err" | "database", unknown>;
    const text = err instanceof Error ? err.message : database;
    if (typeof text !== "string" || Object.keys(rest).length > 0) return fields;
    const line = `${message}\n${text}`;
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

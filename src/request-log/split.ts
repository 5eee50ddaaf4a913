/**
 * Splits a usage, or the only attempt of a call, into fixed and varying parts. The fixed part is the same in many rows and belongs to their
 * head. The view `request_log` joins both again (storage/baseline/09_request_log.sql).
 */

/** A usage split into its numbers and their names. */
export interface SplitUsage {
  /** JSON with `%s` for each number, for PostgreSQL's format(). */
  readonly format: string;
  /** The numbers, separated by commas. */
  readonly counts: string;
}

/** Cached by their names, of which there are few lists. */
const formats = new Map<string, string>();
const formatsMax = 100;

function formatOf(usage: object): string {
  const names = Object.keys(usage);
  const list = names.join("\n");
  let format = formats.get(list);
  if (format === undefined) {
    const parts = names.map((name) => `${JSON.stringify(name).replaceAll("%", "%%")}:%s`);
    format = `{${parts.join(",")}}`;
    if (formats.size >= formatsMax) formats.clear();
    formats.set(list, format);
  }
  return format;
}

/** Splits a usage that has only numbers; undefined for any other. */
export function splitUsage(usage: object | undefined): SplitUsage | undefined {
  if (usage === undefined) return undefined;
  let counts = "";
  for (const value of Object.values(usage)) {
    if (!Number.isFinite(value)) return undefined;
    counts += counts === "" ? `${value}` : `,${value}`;
  }
  return counts === "" ? undefined : { format: formatOf(usage), counts };
}

/** An attempt as text and image calls record it, without a vendor's message. */
export interface PlainAttempt {
  readonly provider: string;
  readonly credential: string;
  readonly upstream_model: string;
  readonly started_ms: number;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly outcome: string;
}

const plainNames = 7;
/** The largest number in a column of integers. */
export const integerMax = 2 ** 31 - 1;

const isTime = (value: unknown): boolean =>
  Number.isInteger(value) && Math.abs(value as number) <= integerMax;

/** Returns the only attempt, if it has the usual form; else undefined: then the list is stored as it is. */
export function onlyAttempt(attempts: readonly unknown[] | undefined): PlainAttempt | undefined {
  if (attempts?.length !== 1) return undefined;
  const [one] = attempts;
  if (typeof one !== "object" || one === null || Object.keys(one).length !== plainNames)
    return undefined;
  const { provider, credential, upstream_model, started_ms, duration_ms, status, outcome } =
    one as Partial<PlainAttempt>;
  const texts = [provider, credential, upstream_model, outcome];
  const usual =
    texts.every((text) => typeof text === "string") &&
    isTime(started_ms) &&
    isTime(duration_ms) &&
    (status === null || Number.isInteger(status));
  return usual ? (one as PlainAttempt) : undefined;
}

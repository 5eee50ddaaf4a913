/**
 * Answers of the management API as CSV: the rows of the JSON answer, page after page, so that rights and filters are the same.
 * Spreadsheets do not read any of its text as a formula. docs/management.md.
 */
import { Readable } from "node:stream";
import { GatewayError } from "../../base/errors.ts";
import type { AdminAnswer, AdminRequest, AdminRoute } from "./route.ts";

/** Most rows of one file. */
const csvRowsMax = 100_000;
const pageRows = "100";

export const csvType = "text/csv";

type Row = Readonly<Record<string, unknown>>;
interface Page {
  readonly data: readonly Row[];
  readonly has_more?: boolean;
  readonly next_cursor?: string | null;
}
type Query = Readonly<Record<string, string | undefined>>;

/** True if the caller asks for CSV rather than JSON. */
export const wantsCsv = (accept: string | undefined): boolean =>
  accept !== undefined &&
  accept.split(",").some((one) => one.split(";")[0]!.trim().toLowerCase() === csvType);

const number = /^-?\d+(\.\d+)?$/;
/**
 * Text that a spreadsheet may read as a formula: text that begins with a formula sign, in full width too. Some countries' spreadsheets
 * split cells at other separators, even in quotes, so a formula sign after one of those counts too.
 */
const formulas = /^[\t\r\n]\s*|(?:^\s*|[;\t\r\n|] *)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

/** Encodes one cell. Text that could be a formula gets an apostrophe before it; numbers stay numbers. OWASP "CSV Injection". */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = number.test(text)
    ? text
    : text.replace(formulas, (found, at) => (at === 0 ? `'${found}` : `${found}'`));
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The value at a path such as `usage.input_tokens`; undefined if there is none. */
const valueAt = (row: Row, column: string): unknown =>
  column
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, name)
          ? (value as Row)[name]
          : undefined,
      row,
    );

const line = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(",")}\r\n`;

/** Parameters that only JSON answers support, and why. */
const notAsCsv = {
  sort: "rows are newest first",
  also_by: "there is one table",
  view: "rows have all columns",
} as const;

/** @throws GatewayError `missing_required_parameter` without a period, `invalid_value` for a parameter that CSV does not support */
function checkQuery(query: Query): void {
  for (const param of ["from", "to"]) {
    if (query[param] !== undefined) continue;
    throw new GatewayError("missing_required_parameter", `As CSV, \`${param}\` is required.`, {
      param,
    });
  }
  for (const [param, why] of Object.entries(notAsCsv)) {
    const value = query[param];
    // The full view is the one that a file has.
    if (value === undefined || value === "full") continue;
    throw new GatewayError("invalid_value", `As CSV, ${why}: leave out \`${param}\`.`, { param });
  }
}

/**
 * Returns the answer of a route as a stream of CSV. It reads the first page before it sends anything, so that a refusal is a normal
 * error.
 * @throws GatewayError as the route's own answer does, and without a period
 */
export async function csvAnswer(
  route: AdminRoute,
  columns: readonly string[],
  request: AdminRequest<unknown, unknown>,
): Promise<Readable> {
  const query = request.query as Query;
  checkQuery(query);
  const paged = route.query?.properties["cursor"] !== undefined;
  const read = async (cursor?: string): Promise<Page> => {
    const limit = paged ? { limit: pageRows, ...(cursor !== undefined && { cursor }) } : {};
    const answer: AdminAnswer = await route.handle({ ...request, query: { ...query, ...limit } });
    return answer.body as Page;
  };
  return Readable.from(linesOf(await read(query["cursor"]), columns, read));
}

async function* linesOf(
  first: Page,
  columns: readonly string[],
  read: (cursor: string) => Promise<Page>,
): AsyncGenerator<string> {
  yield line(columns);
  let page = first;
  let rows = 0;
  for (;;) {
    const shown = page.data.slice(0, csvRowsMax - rows);
    rows += shown.length;
    if (shown.length > 0)
      yield shown.map((row) => line(columns.map((column) => valueAt(row, column)))).join("");
    const cursor = page.next_cursor;
    if (page.has_more !== true || typeof cursor !== "string") return;
    if (rows >= csvRowsMax) {
      yield line([`cut after ${csvRowsMax} rows: choose a shorter period`]);
      return;
    }
    page = await read(cursor);
  }
}

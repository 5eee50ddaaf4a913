/**
 * The content of a day's file: which rows it has, and each row as a line of JSON. Money is decimal text, times are UTC. For
 * Parquet, columns.ts turns a line into columns.
 */
import { chargeLines, renderRequest, type RequestLogRow } from "../admin/index.ts";
import { dayMs } from "../base/durations.ts";
import { idTime } from "../base/ids.ts";
import { formatUsd } from "../base/money.ts";

interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

interface EntryRow {
  readonly workspace_id: string;
  readonly entry: bigint;
  readonly kind: string;
  readonly amount_nano: bigint;
  readonly balance_after_nano: bigint;
  readonly reference: string;
  readonly key_id: string | null;
  readonly member_id: string | null;
  readonly note: string | null;
  readonly created_at: Date;
}

/** A kind of file. `Row` is a row of its statement. */
interface Lines<Row extends object> {
  /** The rows of the day that begins at `startMs` in UTC. */
  readonly rows: (startMs: number) => Statement;
  readonly line: (row: Row) => object;
}

/** A call belongs to the day in which its id was made. That never changes, whenever the call ends. */
const requests = {
  rows: (startMs: number) => {
    const bounds = [idTime(startMs), idTime(startMs + dayMs)];
    return {
      sql: `select x.* from request_log x
        where x.id >= $1 and x.id < $2 or x.id >= $3 and x.id < $4`,
      params: ["req_", "task_"].flatMap((prefix) => bounds.map((time) => prefix + time)),
    };
  },
  line: (row: RequestLogRow) => ({
    ...renderRequest(row, true),
    stream: row.stream,
    error_message: row.error_message,
    price_lines: chargeLines(row).price_lines,
  }),
} satisfies Lines<RequestLogRow>;

const ledger = {
  rows: (startMs: number) => ({
    sql: `select workspace_id, entry, kind, amount_nano, balance_after_nano, reference, key_id, member_id, note, created_at
      from ledger_entries where created_at >= $1 and created_at < $2`,
    params: [new Date(startMs), new Date(startMs + dayMs)],
  }),
  line: ({
    entry,
    created_at: at,
    amount_nano: amount,
    balance_after_nano: balance,
    ...row
  }: EntryRow) => ({
    ...row,
    entry: String(entry),
    created_at: at.toISOString(),
    amount: formatUsd(amount),
    balance_after: formatUsd(balance),
  }),
} satisfies Lines<EntryRow>;

export const lines = { requests, ledger } as const;
export type ExportKind = keyof typeof lines;
export const exportKinds = Object.keys(lines) as ExportKind[];
export type Line<Kind extends ExportKind> = ReturnType<(typeof lines)[Kind]["line"]>;

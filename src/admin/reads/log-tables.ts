/** The tables that calls write and lists browse: log rows, tasks, callbacks. Defines the conditions by which rows can be filtered. */
import { tagPairs } from "../../base/tags.ts";

/** A table with the key (workspace_id, id). The names are written into SQL and are never input. */
export interface LogTable {
  readonly table: "requests" | "tasks" | "webhook_deliveries";
  /** Its id prefixes; ids of each prefix sort by time. */
  readonly prefixes: readonly string[];
  /** The name of one row in messages. */
  readonly label: string;
  /** SQL that is true if row `x` belongs to user `$1`. */
  readonly ownSql: string;
  /** Whether the table is partitioned by the time of its ids. Most reads want the newest part. */
  readonly isPartitioned?: boolean;
  /** SQL that is true if the column has the value, an SQL expression, in row `x`. */
  equal(column: string, value: string): string;
}

/** SQL that is true if a key of `user`, an SQL expression, made the log row `x`. */
const ofUser = (user: string): string => {
  const key = (id: string): string =>
    `api_keys k where k.workspace_id = x.workspace_id and k.id = ${id} and k.created_by = ${user}`;
  return `(exists (select from ${key("x.key_id")}) or exists (select from request_heads h
    join api_keys k on k.workspace_id = h.workspace_id and k.id = h.key_id
    where h.workspace_id = x.workspace_id and h.id = x.head and k.created_by = ${user}))`;
};

const inRow = (column: string, value: string): string => `x.${column} = ${value}`;

/**
 * SQL that is true if the head of row `x` meets the condition. For each part of the log, the planner either looks up each row's
 * head by key or scans all heads. The workspace conditions limit that scan, because other workspaces may have many times as many.
 * Uses the parameters $2 to $5 of a page (visible-ids.ts).
 */
const headHas = (condition: string): string =>
  `exists (select from request_heads h where h.workspace_id = x.workspace_id and h.id = x.head
    and ($2::boolean or h.workspace_id = any($3::text[]) or h.workspace_id = any($4::text[]))
    and ($5::text is null or h.workspace_id = $5) and ${condition})`;

/**
 * Queries walk only rows of the log, in order and no further than the page needs. The planner estimates a join with heads, as in
 * the view `request_log`, wrongly and would read a whole workspace. `head in (select ...)` would read all heads for each part.
 * Where most of very many heads match, it would read them once for each row.
 */
export const requestTable: LogTable = {
  table: "requests",
  prefixes: ["req_", "task_"],
  label: "request",
  isPartitioned: true,
  ownSql: ofUser("$1"),
  equal: (column, value) => `(${inRow(column, value)} or ${headHas(`h.${column} = ${value}`)})`,
};

export const taskTable: LogTable = {
  table: "tasks",
  prefixes: ["task_"],
  label: "task",
  ownSql: "x.member_id = $1",
  equal: inRow,
};

export const deliveryTable: LogTable = {
  table: "webhook_deliveries",
  prefixes: ["evt_"],
  label: "delivery",
  ownSql: `exists (select 1 from tasks t where t.workspace_id = x.workspace_id and t.id = x.task_id and t.member_id = $1)`,
  equal: inRow,
};

/** Appends a bound parameter and returns its placeholder (`$3`). */
export type Bind = (value: unknown) => string;

/** Builds an SQL condition on row `x`. */
export type Condition = (bind: Bind) => string;

/** Rare conditions on log rows; each is SQL with its value bound. */
export const requestConditions = {
  member_id: (value: string) => (bind: Bind) => ofUser(bind(value)),
  protocol: (value: string) => (bind: Bind) => requestTable.equal("protocol", bind(value)),
  /** True if any attempt went to the provider, whichever answered. A single attempt is stored in the head. */
  attempted_provider: (value: string) => (bind: Bind) => {
    const provider = bind(value);
    return `(exists (select from json_array_elements(x.attempts) a where a ->> 'provider' = ${provider})
      or ${headHas(`h.attempt ->> 'provider' = ${provider}`)})`;
  },
  http_status: (value: number) => (bind: Bind) =>
    requestTable.equal("http_status", `${bind(value)}::integer`),
  error_code: (value: string) => (bind: Bind) =>
    requestTable.equal("explanation ->> 'error'", bind(value)),
  tag: (text: string) => (bind: Bind) => {
    const pairs = tagPairs(text).map(
      ([name, value]) => `x.tags ->> ${bind(name)}::text = ${bind(value)}`,
    );
    return `(${["false", ...pairs].join(" or ")})`;
  },
  end_user: (value: string) => (bind: Bind) => `x.end_user = ${bind(value)}`,
  min_cost: (nano: bigint) => (bind: Bind) => `x.cost_nano >= ${bind(nano)}::bigint`,
  min_duration_ms: (ms: number) => (bind: Bind) => `x.duration_ms >= ${bind(ms)}::integer`,
  /** True if the error's code or message contains the text, ignoring case. */
  q: (text: string) => (bind: Bind) => {
    const like = bind(`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
    const code = "explanation ->> 'error'";
    return `(x.error_message ilike ${like} or x.${code} ilike ${like}
      or ${headHas(`h.${code} ilike ${like}`)})`;
  },
  changed: (isChanged: boolean) => () =>
    `coalesce(json_array_length(x.dropped), 0) ${isChanged ? ">" : "="} 0`,
};

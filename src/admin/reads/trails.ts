/** What calls leave behind, as tables to look through: log rows, tasks, callbacks, and what their rows may be asked for. */

/** A table whose key is (workspace_id, id). Its names are written into statements and are never input. */
export interface Trail {
  readonly table: "requests" | "tasks" | "webhook_deliveries";
  /** Of its ids; each kind sorts by time. */
  readonly prefixes: readonly string[];
  /** What one row is called. */
  readonly what: string;
  /** True where the row `x` is of user `$1`. */
  readonly mine: string;
  /** Whether it is kept in parts by the time of its ids: what is asked for is mostly in the newest. */
  readonly inParts?: boolean;
  /** True where the column has the value, an expression, in row `x`. */
  equal(column: string, value: string): string;
}

/** True where the log's row `x` is of user `user`, an expression: a key of theirs made it. */
const ofUser = (user: string): string => {
  const key = (id: string): string =>
    `api_keys k where k.workspace_id = x.workspace_id and k.id = ${id} and k.created_by = ${user}`;
  return `(exists (select from ${key("x.key_id")}) or exists (select from request_heads h
    join api_keys k on k.workspace_id = h.workspace_id and k.id = h.key_id
    where h.workspace_id = x.workspace_id and h.id = x.head and k.created_by = ${user}))`;
};

const inRow = (column: string, value: string): string => `x.${column} = ${value}`;

/**
 * True where the head of row `x` has something. For each part of the log the planner chooses between a look by the key for each row,
 * and one at all heads: those of the workspaces that are looked through, because others may have many times as many. Takes the
 * parameters $2 to $5 of a page (visible-ids.ts).
 */
const headHas = (condition: string): string =>
  `exists (select from request_heads h where h.workspace_id = x.workspace_id and h.id = x.head
    and ($2::boolean or h.workspace_id = any($3::text[]) or h.workspace_id = any($4::text[]))
    and ($5::text is null or h.workspace_id = $5) and ${condition})`;

/**
 * Of the log only rows are walked, in their order and no further than the page goes. A join with heads, as in the view `request_log`,
 * is estimated wrongly and would read a workspace whole. `head in (select ...)` would read all heads for each part, and where
 * most of very many have what is asked for, once for each row.
 */
export const requestTrail: Trail = {
  table: "requests",
  prefixes: ["req_", "task_"],
  what: "request",
  inParts: true,
  mine: ofUser("$1"),
  equal: (column, value) => `(${inRow(column, value)} or ${headHas(`h.${column} = ${value}`)})`,
};

export const taskTrail: Trail = {
  table: "tasks",
  prefixes: ["task_"],
  what: "task",
  mine: "x.member_id = $1",
  equal: inRow,
};

export const deliveryTrail: Trail = {
  table: "webhook_deliveries",
  prefixes: ["evt_"],
  what: "delivery",
  mine: `exists (select 1 from tasks t where t.workspace_id = x.workspace_id and t.id = x.task_id and t.member_id = $1)`,
  equal: inRow,
};

/** Puts a value among the parameters of a statement, and says its place there. */
export type Bind = (value: unknown) => string;

/** What a row `x` must have, as SQL. */
export type Condition = (bind: Bind) => string;

/** Conditions on rows of the log that few may have; each is SQL, with its value bound. */
export const requestConditions = {
  member_id: (value: string) => (bind: Bind) => ofUser(bind(value)),
  protocol: (value: string) => (bind: Bind) => requestTrail.equal("protocol", bind(value)),
  /** Asked it in one of the attempts, whoever answered. A single attempt stands in the head. */
  attempted_provider: (value: string) => (bind: Bind) => {
    const provider = bind(value);
    return `(exists (select from json_array_elements(x.attempts) a where a ->> 'provider' = ${provider})
      or ${headHas(`h.attempt ->> 'provider' = ${provider}`)})`;
  },
  http_status: (value: number) => (bind: Bind) =>
    requestTrail.equal("http_status", `${bind(value)}::integer`),
  error_code: (value: string) => (bind: Bind) =>
    requestTrail.equal("explanation ->> 'error'", bind(value)),
  tag: (name: string, value: string) => (bind: Bind) =>
    `x.tags ->> ${bind(name)}::text = ${bind(value)}`,
  end_user: (value: string) => (bind: Bind) => `x.end_user = ${bind(value)}`,
  min_cost: (nano: bigint) => (bind: Bind) => `x.cost_nano >= ${bind(nano)}::bigint`,
  min_duration_ms: (ms: number) => (bind: Bind) => `x.duration_ms >= ${bind(ms)}::integer`,
  /** In the code or the message of the error, whatever the case of its letters. */
  q: (text: string) => (bind: Bind) => {
    const like = bind(`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
    const code = "explanation ->> 'error'";
    return `(x.error_message ilike ${like} or x.${code} ilike ${like}
      or ${headHas(`h.${code} ilike ${like}`)})`;
  },
  changed: (isChanged: boolean) => () =>
    `coalesce(json_array_length(x.dropped), 0) ${isChanged ? ">" : "="} 0`,
};

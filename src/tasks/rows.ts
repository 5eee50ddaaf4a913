/** Rows of the table `tasks` as values: the public fields of a task, and the fields that the engine needs for its next step. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { assert } from "../base/assert.ts";
import type { Span } from "../base/tracing.ts";
import type { MediaOffer, MediaPrice } from "../catalog/index.ts";
import type { Queryable } from "../storage/index.ts";
import { openScope, type Constraints, type MediaPlan } from "../routing/index.ts";
import type { LocalLease } from "./local-lease.ts";
import type { Task } from "./types.ts";

/** An offer as a task stores it. */
export interface PlannedOffer extends MediaOffer {
  /** Sentences about the changes to the request at this offer's provider; absent if all offers change the same. */
  readonly notes?: readonly string[] | undefined;
}

/** The input of a step: the task, its offers, and the progress of the current attempt. */
export interface Job extends Task {
  /** Never empty; `attempt` selects the current one. */
  readonly offers: readonly PlannedOffer[];
  readonly explanation: unknown;
  /** The limits of the caller's layers at submission; they apply to every attempt (T74). */
  readonly constraints: Constraints;
  readonly attempt: number;
  readonly credential: string | null;
  /** The vendor's id of the job; null until the vendor has taken it. */
  readonly upstreamId: string | null;
  /** True once a submission to a vendor may have begun: its outcome is unknown until it is written. */
  readonly asking: boolean;
  readonly misses: number;
  readonly missingSince: Date | null;
  /** Identifies the process that takes the step; every write of the step names it. */
  readonly leaseToken: string | null;
  readonly traceparent: string | undefined;
  readonly hooks: readonly object[] | undefined;
  /** The right of the process that claimed it; absent if it was only read. */
  readonly localLease?: LocalLease | undefined;
  /** The span of the current step, if it is traced. */
  readonly span?: Span | undefined;
}

/** A row as the database gives it. */
export type TaskRow = SnakeCased<
  Omit<
    Job,
    "offers" | "explanation" | "constraints" | "traceparent" | "hooks" | "localLease" | "span"
  >
> & { readonly plan: StoredPlan };

/** The offers at submission: a price that changes later does not change the cost of a task. */
export interface StoredPlan {
  readonly offers: readonly {
    readonly provider: string;
    readonly upstream_model: string;
    readonly streaming: boolean;
    /** JSON text in which a bigint is written as `"123n"`. */
    readonly price: string;
    readonly notes?: readonly string[];
  }[];
  readonly explanation: unknown;
  /** The limits of the caller's layers at submission; absent in rows of older versions. */
  readonly constraints?: Constraints;
  /** The trace context of the request that submitted it; absent if that was not traced. */
  readonly traceparent?: string;
  /** A record of what the operator's hooks did to the request; absent if none was asked. */
  readonly hooks?: readonly object[];
}

/** Facts about the request that are stored with its plan. */
interface Asking {
  readonly traceparent?: string | undefined;
  readonly hooks?: readonly object[] | undefined;
}

type Plan = Omit<MediaPlan, "offers"> & { readonly offers: readonly PlannedOffer[] };

export function storedPlan(
  { offers, explanation, constraints }: Plan,
  { traceparent, hooks = [] }: Asking = {},
): StoredPlan {
  assert(offers.length > 0, "a task has at least one offer");
  return {
    offers: offers.map(({ notes, ...offer }) => ({
      provider: offer.provider,
      upstream_model: offer.upstreamModel,
      streaming: offer.streaming,
      price: JSON.stringify(offer.price, (_key, value: unknown) =>
        typeof value === "bigint" ? `${value}n` : value,
      ),
      ...(notes && { notes }),
    })),
    explanation,
    constraints,
    ...(traceparent !== undefined && { traceparent }),
    ...(hooks.length > 0 && { hooks }),
  };
}

function readPrice(text: string): MediaPrice {
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as MediaPrice;
}

/** Inserts a row of finished work, once: the answer to an earlier commit may be lost. JSON columns are given as JSON text. */
export async function insertRow(
  tx: Queryable,
  row: Partial<Readonly<Record<keyof TaskRow | "due_at" | "upstream_model", unknown>>>,
): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await tx.query(
    `insert into tasks (${columns.join(", ")}) values (${places.join(", ")})
     on conflict (workspace_id, id) do nothing`,
    Object.values(row),
  );
}

/** All columns that are read. */
const readColumns: Readonly<Record<keyof TaskRow, true>> = {
  workspace_id: true,
  id: true,
  key_id: true,
  member_id: true,
  kind: true,
  family: true,
  model: true,
  form: true,
  status: true,
  request: true,
  notes: true,
  plan: true,
  reserved_nano: true,
  cost_nano: true,
  usage: true,
  artifacts: true,
  error: true,
  provider: true,
  attempts: true,
  webhook_url: true,
  created_at: true,
  updated_at: true,
  finished_at: true,
  expires_at: true,
  tags: true,
  end_user: true,
  attempt: true,
  credential: true,
  upstream_id: true,
  asking: true,
  misses: true,
  missing_since: true,
  lease_token: true,
};

/**
 * The columns of a row of `t`, for prepared statements. A prepared `t.*` fails on every connection that prepared it before the migration
 * of a later release adds a column (LL#14400).
 */
export const taskColumns = Object.keys(readColumns)
  .map((name) => `t.${name}`)
  .join(", ");

/** The columns of a new task, with their types. */
const newColumns = {
  workspace_id: "text",
  id: "text",
  key_id: "text",
  member_id: "text",
  kind: "text",
  family: "text",
  model: "text",
  form: "text",
  request: "jsonb",
  notes: "jsonb",
  plan: "jsonb",
  reserved_nano: "bigint",
  webhook_url: "text",
  due_at: "timestamptz",
  expires_at: "timestamptz",
  created_at: "timestamptz",
  updated_at: "timestamptz",
  tags: "json",
  end_user: "text",
} as const;

type NewColumn = keyof typeof newColumns;

/** A new task: JSON columns as JSON text. */
export type NewRow = Readonly<Record<Exclude<NewColumn, "request">, unknown>> & {
  readonly request: string;
};

const newNames = Object.keys(newColumns) as NewColumn[];
const insertSql = `insert into tasks as t (${newNames.join(", ")})
  select * from unnest(${newNames.map((name, index) => `$${index + 1}::${newColumns[name]}[]`).join(", ")})
  returning ${taskColumns}`;

/** Inserts new tasks; returns their rows, in any order. */
export function insertRows(tx: Queryable, rows: readonly NewRow[]): Promise<TaskRow[]> {
  const values = newNames.map((name) => rows.map((row) => row[name]));
  return tx.query<TaskRow>(insertSql, values, { name: "tasks_insert" });
}

/** The public fields of a row. */
export const toTask = ({ plan: _plan, ...row }: TaskRow): Task => camelCased(row);

/** A row with the engine's own fields. */
export const toJob = (row: TaskRow): Job => ({
  ...camelCased(row),
  offers: row.plan.offers.map((offer) => ({ ...camelCased(offer), price: readPrice(offer.price) })),
  explanation: row.plan.explanation,
  constraints: row.plan.constraints ?? openScope,
  traceparent: row.plan.traceparent,
  hooks: row.plan.hooks,
});

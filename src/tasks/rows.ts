/** Rows of the table `tasks` as values: what everybody may read of a task, and what the engine needs to take its next step. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { assert } from "../base/assert.ts";
import type { Span } from "../base/tracing.ts";
import type { MediaOffer, MediaPrice } from "../catalog/index.ts";
import type { Queryable } from "../storage/index.ts";
import { openScope, type Constraints, type MediaPlan } from "../routing/index.ts";
import type { Right } from "./right.ts";
import type { Task } from "./types.ts";

/** An offer as a task keeps it. */
export interface PlannedOffer extends MediaOffer {
  /** Sentences about what this offer's provider changes in the request; absent where all offers change the same. */
  readonly notes?: readonly string[] | undefined;
}

/** What a step works on: the task, who may serve it, and how far the attempt under way has come. */
export interface Job extends Task {
  /** Never empty; `attempt` is the one that is tried or under way. */
  readonly offers: readonly PlannedOffer[];
  readonly explanation: unknown;
  /** What the caller's layers allowed when it was submitted; holds for every attempt (T74). */
  readonly constraints: Constraints;
  readonly attempt: number;
  readonly credential: string | null;
  /** What the vendor calls the job; null until it has taken it. */
  readonly upstreamId: string | null;
  /** True once asking a vendor to start may have begun: its outcome is unknown until it is written down. */
  readonly asking: boolean;
  readonly misses: number;
  readonly missingSince: Date | null;
  /** Held by the process that takes the step; every write of it names the token. */
  readonly leaseToken: string | null;
  readonly traceparent: string | undefined;
  readonly hooks: readonly object[] | undefined;
  /** Of the process that claimed it; absent where it was only read. */
  readonly right?: Right | undefined;
  /** The span of the step that is being taken, where it is traced. */
  readonly span?: Span | undefined;
}

/** A row as the database gives it. */
export type TaskRow = SnakeCased<
  Omit<Job, "offers" | "explanation" | "constraints" | "traceparent" | "hooks" | "right" | "span">
> & { readonly plan: StoredPlan };

/** The offers as they were at submission: a price that changes later does not change what a task costs. */
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
  /** What the caller's layers allowed then; absent in rows of older versions. */
  readonly constraints?: Constraints;
  /** The request that submitted it, in its trace; absent where that was not traced. */
  readonly traceparent?: string;
  /** What the operator's hooks made of the request; absent where none was asked. */
  readonly hooks?: readonly object[];
}

/** What is kept beside a plan of the request that it is for. */
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

/** Adds a row of work that is done, once: the answer to a commit that added it may be lost. JSON columns are given as JSON text. */
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

/** What a task begins with, by column, and the type of each. */
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

/** A task as it begins: JSON columns as JSON text. */
export type NewRow = Readonly<Record<Exclude<NewColumn, "request">, unknown>> & {
  readonly request: string;
};

const newNames = Object.keys(newColumns) as NewColumn[];
const insertSql = `insert into tasks (${newNames.join(", ")})
  select * from unnest(${newNames.map((name, index) => `$${index + 1}::${newColumns[name]}[]`).join(", ")})
  returning *`;

/** Adds tasks that begin; their rows, in any order. */
export function insertRows(tx: Queryable, rows: readonly NewRow[]): Promise<TaskRow[]> {
  const values = newNames.map((name) => rows.map((row) => row[name]));
  return tx.query<TaskRow>(insertSql, values, { name: "tasks_insert" });
}

/** A row as everybody may see it. */
export const toTask = ({ plan: _plan, ...row }: TaskRow): Task => camelCased(row);

/** A row as the engine works on it. */
export const toJob = (row: TaskRow): Job => ({
  ...camelCased(row),
  offers: row.plan.offers.map((offer) => ({ ...camelCased(offer), price: readPrice(offer.price) })),
  explanation: row.plan.explanation,
  constraints: row.plan.constraints ?? openScope,
  traceparent: row.plan.traceparent,
  hooks: row.plan.hooks,
});

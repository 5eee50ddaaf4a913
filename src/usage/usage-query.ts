/**
 * A query about usage as SQL: which rows the user may see, which of them are wanted, and the periods they belong to. parts.ts and unfolded.ts
 * make its parts from it, and union.ts joins them.
 */
import type { Granularity } from "../base/management.ts";
import type { Visibility } from "../tenancy/index.ts";
import type { Span } from "./segments.ts";
import { sumsOf, tagOf, type Dimension, type SumColumn } from "./sums.ts";

/** Appends a bound parameter and returns its placeholder (`$3`). */
export type Bind = (value: unknown) => string;

/** A wanted tag, by its name. */
export interface TagFilter {
  readonly name: string;
  /** The value that calls must have; undefined: any, and calls without the tag too. */
  readonly value?: string | undefined;
  /** True if rows are grouped by it, instead of by `of`. */
  readonly grouped: boolean;
}

export interface UsageRequest {
  readonly visibility: Visibility;
  readonly period: Span;
  /** The column by which rows are grouped. */
  readonly of: Dimension | undefined;
  /** The sums in each row. */
  readonly columns: readonly SumColumn[];
  /** With a tag, the period is of whole days in UTC, and `equal` has only the workspace and the member. */
  readonly tag?: TagFilter | undefined;
  /** The values that calls must have, by column. */
  readonly equal: Readonly<Partial<Record<Dimension, string>>>;
  readonly granularity: Granularity;
  /** The start of the only row of a total. */
  readonly start: Date;
  /** The starts of its days or months; undefined: those of the calendar in UTC. */
  readonly starts: readonly Date[] | undefined;
  /** {@link logBounds}. */
  readonly logLow: string;
  readonly wholeSince: Date | undefined;
  /** Hours before this cannot be divided; undefined: all can. */
  readonly splitSince: Date | undefined;
}

/** Builds the SQL of one statement about the query. */
export class UsageQuery {
  readonly wanted: UsageRequest;
  readonly bind: Bind;

  constructor(wanted: UsageRequest, bind: Bind) {
    this.wanted = wanted;
    this.bind = bind;
  }

  get sums(): string {
    return this.wanted.columns.join(", ");
  }

  /** The sums, negated. */
  get taken(): string {
    return this.wanted.columns.map((name) => `-${name} as ${name}`).join(", ");
  }

  /** Workspaces in which the user sees every row. */
  get whole(): string {
    return `${this.bind(this.wanted.visibility.workspaceIds)}::text[]`;
  }

  /** Workspaces in which the user sees only the user's own rows. */
  get own(): string {
    return `${this.bind(this.wanted.visibility.ownWorkspaceIds)}::text[]`;
  }

  get user(): string {
    return `${this.bind(this.wanted.visibility.userId)}::text`;
  }

  /** Condition: the user may see the rows of `x`, and they have the wanted values. */
  fits(x: string): string {
    const { visibility, equal } = this.wanted;
    const seen = visibility.everything
      ? []
      : [
          `(${x}.workspace_id = any(${this.whole}) or (${x}.workspace_id = any(${this.own}) and ${x}.member_id = ${this.user}))`,
        ];
    const asked = Object.entries(equal).map(
      ([name, value]) => `${x}.${name} = ${this.bind(value)}`,
    );
    return ["true", ...seen, ...asked].join(" and ");
  }

  /** Condition: the user may see rows of the workspace. */
  workspaceFilter(workspace: string): string {
    const { visibility, equal } = this.wanted;
    const seen = visibility.everything
      ? "true"
      : `(${workspace} = any(${this.whole}) or ${workspace} = any(${this.own}))`;
    const id = equal.workspace_id;
    return id === undefined ? seen : `${seen} and ${workspace} = ${this.bind(id)}`;
  }

  within(column: string, { from, to }: Span): string {
    return `${column} >= ${this.bind(from)}::timestamptz and ${column} < ${this.bind(to)}::timestamptz`;
  }

  /** The start of the period that contains a time: a date, or an expression without a time zone, in UTC. */
  start(time: string | Date): string {
    const { granularity, starts, start } = this.wanted;
    if (granularity === "total") return `${this.bind(start)}::timestamptz`;
    const at =
      typeof time === "string" ? time : `${this.bind(time)}::timestamptz at time zone 'UTC'`;
    if (starts === undefined) {
      const isStart = granularity === "day" && at.startsWith("d.day");
      return `(${isStart ? at : `date_trunc('${granularity}', ${at})`}) at time zone 'UTC'`;
    }
    const list = `${this.bind(starts.map((one) => one.toISOString()))}::timestamptz[]`;
    // A subtraction from an hour that began before the first start belongs to the first period.
    return `(${list})[greatest(1, width_bucket((${at}) at time zone 'UTC', ${list}))]`;
  }

  /** Sums of the calls of a table for which `when` holds. `at`: a time within their period, as {@link start} takes it. */
  summed(calls: string, when = "true", at: string | Date = "c.hour at time zone 'UTC'"): string {
    const { of, tag } = this.wanted;
    const value = of === undefined ? "''" : `c.${of}`;
    const group = tag?.grouped === true ? tagOf(this.bind(tag.name)) : value;
    const has =
      tag?.value === undefined ? "" : `and ${tagOf(this.bind(tag.name))} = ${this.bind(tag.value)}`;
    return `select ${this.start(at)} as start, ${group} as of, ${sumsOf("c", this.wanted.columns)}
      from ${calls} c where ${when} and ${this.fits("c")} ${has} group by 1, 2`;
  }

  get tagged(): boolean {
    return this.wanted.tag !== undefined;
  }
}

/**
 * What a question about usage comes to in SQL: whose rows are seen, which of them are asked for, and in which of its periods they are.
 * Its parts (parts.ts, near.ts) are made of it, and put together in union.ts.
 */
import type { Granularity } from "../base/management.ts";
import type { Visibility } from "../tenancy/index.ts";
import type { Span } from "./segments.ts";
import { sumsOf, tagOf, type Dimension, type SumColumn } from "./sums.ts";

/** Puts a value among the parameters, and is its place. */
export type Bind = (value: unknown) => string;

/** A tag that is asked for, by its name. */
export interface WantedTag {
  readonly name: string;
  /** What calls must have; undefined: any, and those without the tag. */
  readonly value?: string | undefined;
  /** Whether rows are grouped by it, in place of `of`. */
  readonly grouped: boolean;
}

export interface Wanted {
  readonly visibility: Visibility;
  readonly period: Span;
  /** What rows are grouped by. */
  readonly of: Dimension | undefined;
  /** The sums that rows have. */
  readonly columns: readonly SumColumn[];
  /** Then the period is of whole days in UTC, and of what is asked of calls only whose they are. */
  readonly tag?: WantedTag | undefined;
  /** What calls must have, by column. */
  readonly equal: Readonly<Partial<Record<Dimension, string>>>;
  readonly granularity: Granularity;
  /** What the only row of a total begins with. */
  readonly start: Date;
  /** Where its days or months begin; undefined: in UTC, as the calendar says. */
  readonly starts: readonly Date[] | undefined;
  /** {@link logBounds}. */
  readonly logLow: string;
  readonly wholeSince: Date | undefined;
  /** Before that an hour is the smallest part there is; undefined: never. */
  readonly splitSince: Date | undefined;
}

/** The words of one statement about it. */
export class Question {
  readonly wanted: Wanted;
  readonly bind: Bind;

  constructor(wanted: Wanted, bind: Bind) {
    this.wanted = wanted;
    this.bind = bind;
  }

  get sums(): string {
    return this.wanted.columns.join(", ");
  }

  /** Less than nothing. */
  get taken(): string {
    return this.wanted.columns.map((name) => `-${name} as ${name}`).join(", ");
  }

  /** Workspaces whose every row is seen. */
  get whole(): string {
    return `${this.bind(this.wanted.visibility.workspaceIds)}::text[]`;
  }

  /** Workspaces of which the user's own rows are seen. */
  get own(): string {
    return `${this.bind(this.wanted.visibility.ownWorkspaceIds)}::text[]`;
  }

  get user(): string {
    return `${this.bind(this.wanted.visibility.userId)}::text`;
  }

  /** Whether rows of `x` are seen, and have what is asked for. */
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

  /** Whether something of a workspace may be seen. */
  near(workspace: string): string {
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

  /** The beginning of the period in which a time is, itself or as an expression without a zone, in UTC. */
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
    // What is taken from an hour that began before them is of the first one.
    return `(${list})[greatest(1, width_bucket((${at}) at time zone 'UTC', ${list}))]`;
  }

  /** Rows of the calls of a table, summed, where `when` holds. `at`: a time within their period, as {@link start} takes it. */
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

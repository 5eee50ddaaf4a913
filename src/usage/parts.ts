/**
 * The parts an answer is made of, as SQL with the same columns: `start` (of the period), `of` (what the row is grouped by) and the sums. All of them in one
 * statement, which sees one moment: what was folded, what was not yet, and the ends of the period.
 */
import { dayMs, hourMs } from "../base/durations.ts";
import { idTime } from "../base/ids.ts";
import type { Granularity } from "../base/management.ts";
import type { Visibility } from "../tenancy/index.ts";
import { callsSql, chargeColumns, firstChargeOf } from "./calls.ts";
import { callMsMax, idsFrom, idsWithin } from "./log-bounds.ts";
import { divide, type Span } from "./segments.ts";
import { sumColumns, sumsOf, tagOf, type Dimension } from "./sums.ts";

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
}

const clockSlackMs = hourMs;
/** A call that is known to be free may be charged so much later. */
const chargedLaterMsMax = 2 * dayMs;
const sums = sumColumns.join(", ");
const taken = sumColumns.map((name) => `-${name} as ${name}`).join(", ");

/** Columns of `usage_days` that are not its dimension. */
const free: ReadonlySet<string> = new Set(["workspace_id", "member_id"]);

/** By which dimension the days can be read: the only one that is asked for; undefined where two are. */
function dayDimension({ of, equal }: Wanted): Dimension | "total" | undefined {
  const asked = new Set([...(of === undefined ? [] : [of]), ...Object.keys(equal)]);
  const rest = [...asked].filter((name) => !free.has(name)) as Dimension[];
  return rest.length > 1 ? undefined : (rest[0] ?? "total");
}

/** The dimension's name in `usage_days`. */
const dayName = (dimension: Dimension | "total"): string =>
  dimension === "key_id" ? "key" : dimension;

/** A table that has sums by day and by one thing. */
interface DayTable {
  readonly from: string;
  /** Which of its rows are meant. */
  readonly named: string;
  readonly of: string | undefined;
  readonly isTaken?: boolean;
}

/** Tables of the statement, and the rows that come of them. */
interface Part {
  readonly tables: string;
  readonly part: string;
}

class Parts {
  readonly #wanted: Wanted;
  readonly #bind: Bind;

  constructor(wanted: Wanted, bind: Bind) {
    this.#wanted = wanted;
    this.#bind = bind;
  }

  /** Workspaces whose every row is seen. */
  get #whole(): string {
    return `${this.#bind(this.#wanted.visibility.workspaceIds)}::text[]`;
  }

  /** Workspaces of which the user's own rows are seen. */
  get #own(): string {
    return `${this.#bind(this.#wanted.visibility.ownWorkspaceIds)}::text[]`;
  }

  get #user(): string {
    return `${this.#bind(this.#wanted.visibility.userId)}::text`;
  }

  /** Whether rows of `x` are seen, and have what is asked for. */
  #fits(x: string): string {
    const { visibility, equal } = this.#wanted;
    const seen = visibility.everything
      ? []
      : [
          `(${x}.workspace_id = any(${this.#whole}) or (${x}.workspace_id = any(${this.#own}) and ${x}.member_id = ${this.#user}))`,
        ];
    const asked = Object.entries(equal).map(
      ([name, value]) => `${x}.${name} = ${this.#bind(value)}`,
    );
    return ["true", ...seen, ...asked].join(" and ");
  }

  /** Whether something of a workspace may be seen. */
  #near(workspace: string): string {
    const { visibility, equal } = this.#wanted;
    const seen = visibility.everything
      ? "true"
      : `(${workspace} = any(${this.#whole}) or ${workspace} = any(${this.#own}))`;
    const id = equal.workspace_id;
    return id === undefined ? seen : `${seen} and ${workspace} = ${this.#bind(id)}`;
  }

  #within(column: string, { from, to }: Span): string {
    return `${column} >= ${this.#bind(from)}::timestamptz and ${column} < ${this.#bind(to)}::timestamptz`;
  }

  /** The beginning of the period in which a time is, an expression without a zone, in UTC. */
  #start(at: string): string {
    const { granularity, starts, start } = this.#wanted;
    if (granularity === "total") return `${this.#bind(start)}::timestamptz`;
    if (starts === undefined) {
      const isStart = granularity === "day" && at.startsWith("d.day");
      return `(${isStart ? at : `date_trunc('${granularity}', ${at})`}) at time zone 'UTC'`;
    }
    const list = `${this.#bind(starts.map((one) => one.toISOString()))}::timestamptz[]`;
    return `(${list})[width_bucket((${at}) at time zone 'UTC', ${list})]`;
  }

  days(span: Span, dimension: Dimension | "total"): string[] {
    const { of, tag } = this.#wanted;
    const table = (): DayTable => ({
      from: "usage_days",
      named: `d.dimension = ${this.#bind(dayName(dimension))}`,
      of: dimension === "total" || of !== dimension ? of : "value",
    });
    if (tag === undefined) return this.#daysOf(span, table());
    const tagged = { from: "usage_tags", named: `d.name = ${this.#bind(tag.name)}` };
    if (tag.value !== undefined) {
      const only = `${tagged.named} and d.value = ${this.#bind(tag.value)}`;
      return this.#daysOf(span, { ...tagged, named: only, of: tag.grouped ? "value" : of });
    }
    // What has no value is the rest of the day.
    return [
      ...this.#daysOf(span, { ...tagged, of: "value" }),
      ...this.#daysOf(span, table()),
      ...this.#daysOf(span, { ...tagged, of: undefined, isTaken: true }),
    ];
  }

  /** Rows of a table of days, by its column `of`; `isTaken`: less than nothing. */
  #daysOf(span: Span, table: DayTable): string[] {
    const { of, equal, visibility } = this.#wanted;
    const dayOf = (at: Date): string => `${this.#bind(at.toISOString().slice(0, 10))}::date`;
    const where = [
      table.named,
      `d.day >= ${dayOf(span.from)} and d.day < ${dayOf(span.to)}`,
      ...Object.entries(equal).map(
        ([name, wanted]) => `d.${free.has(name) ? name : "value"} = ${this.#bind(wanted)}`,
      ),
    ].join(" and ");
    const select = (seen: string): string => `
      select ${this.#start("d.day::timestamp")} as start, ${table.of === undefined ? "''" : `d.${table.of}`} as of,
        ${table.isTaken === true ? taken : sums}
      from ${table.from} d where ${where} and ${seen}`;
    const byMember = of === "member_id" || equal.member_id !== undefined;
    const whole = byMember ? "d.of_member" : "not d.of_member and d.member_id = ''";
    const parts: string[] = [];
    if (visibility.everything) parts.push(select(whole));
    else if (visibility.workspaceIds.length > 0)
      parts.push(select(`${whole} and d.workspace_id = any(${this.#whole})`));
    if (!visibility.everything && visibility.ownWorkspaceIds.length > 0)
      parts.push(
        select(
          `d.of_member and d.member_id = ${this.#user} and d.workspace_id = any(${this.#own})
           and d.workspace_id <> all(${this.#whole})`,
        ),
      );
    return parts;
  }

  hours(span: Span): string {
    const { of } = this.#wanted;
    return `select ${this.#start("x.hour at time zone 'UTC'")} as start, ${of === undefined ? "''" : `x.${of}`} as of, ${sums}
      from usage_hours x where ${this.#within("x.hour", span)} and ${this.#fits("x")}`;
  }

  /** Rows of the calls of a table, summed, where `when` holds. */
  #summed(calls: string, when = "true"): string {
    const { of, tag } = this.#wanted;
    const value = of === undefined ? "''" : `c.${of}`;
    const group = tag?.grouped === true ? tagOf(this.#bind(tag.name)) : value;
    const has =
      tag?.value === undefined
        ? ""
        : `and ${tagOf(this.#bind(tag.name))} = ${this.#bind(tag.value)}`;
    return `select ${this.#start("c.hour at time zone 'UTC'")} as start, ${group} as of, ${sumsOf("c")}
      from ${calls} c where ${when} and ${this.#fits("c")} ${has} group by 1, 2`;
  }

  get #tagged(): boolean {
    return this.#wanted.tag !== undefined;
  }

  /** What the sums do not have yet. `span`: whole hours. */
  live(span: Span): Part {
    const later = new Date(span.to.getTime() + chargedLaterMsMax);
    const tables = callsSql({
      name: "live",
      charges: `(select e.* from (
          select a.workspace_id, coalesce(f.entry, 0) as mark from ledger_accounts a
          left join usage_folds f on f.workspace_id = a.workspace_id where ${this.#near("a.workspace_id")}) m
        cross join lateral (
          select ${chargeColumns} from ledger_entries e where e.workspace_id = m.workspace_id and e.entry > 0 and e.entry > m.mark
            and e.kind = 'charge' and ${this.#within("e.created_at", { from: span.from, to: later })} offset 0) e)`,
      free: `(select p.workspace_id, p.id as log_id from usage_pending p
        where ${this.#near("p.workspace_id")} and ${firstChargeOf("p.workspace_id", "p.id")} is null)`,
      late: `(select u.*, u.id as log_id, u.cost_nano as cost from usage_unattributed u
        where ${this.#near("u.workspace_id")} and ${this.#within("u.at", span)})`,
      log: idsFrom(this.#bind(this.#wanted.logLow)),
      tagged: this.#tagged,
    });
    return { tables, part: this.#summed("live", this.#within("c.hour", span)) };
  }

  /** Part of an hour, from the ledger and the log themselves. */
  end(name: string, span: Span, sign: 1 | -1): Part {
    const low = this.#bind(idTime(span.from.getTime() - clockSlackMs));
    const high = this.#bind(idTime(span.to.getTime() + clockSlackMs));
    const first = this.#bind(idTime(span.from.getTime() - callMsMax));
    // The bounds of each kind of id as they are, so that a plan has only the parts between them.
    const freeOfKind = (prefix: string): string => `
          select r.workspace_id, r.id from requests r where r.workspace_id = w.id and r.id >= '${prefix}' || ${low}::text
            and r.id < '${prefix}' || ${high}::text and r.cost_nano = 0 and ${this.#within("r.created_at", span)}`;
    const tables = callsSql({
      name,
      charges: `(select ${chargeColumns} from ledger_entries e
        where e.kind = 'charge' and ${this.#within("e.created_at", span)} and ${this.#near("e.workspace_id")} offset 0)`,
      free: `(
        select n.workspace_id, n.id as log_id from workspaces w
        cross join lateral (${["req_", "task_"].map(freeOfKind).join(" union all ")} offset 0) n
        where ${this.#near("w.id")} and ${firstChargeOf("n.workspace_id", "n.id")} is null)`,
      log: idsWithin(first, high),
      tagged: this.#tagged,
    });
    const part = this.#summed(name);
    return { tables, part: sign === 1 ? part : `select start, of, ${taken} from (${part}) taken` };
  }
}

const all = "\n union all ";

/** The tables and the union of what is wanted, which may be read more than once. */
export function partsSql(wanted: Wanted, bind: Bind): { tables: string; parts: string } {
  // The sums by day are of days in UTC.
  const byDay = wanted.granularity !== "hour" && wanted.starts === undefined;
  const dimension = byDay ? dayDimension(wanted) : undefined;
  const { whole, days, hours, ends } = divide(wanted.period, {
    byDay: dimension !== undefined,
    wholeSince: wanted.wholeSince,
  });
  const parts = new Parts(wanted, bind);
  const near = [
    parts.live(whole),
    ...ends.map(({ sign, ...span }, place) => parts.end(`end_${place}`, span, sign)),
  ];
  return {
    tables: `${near.map(({ tables }) => tables).join(", ")},
      near_parts as materialized (${near.map(({ part }) => part).join(all)})`,
    parts: [
      ...(days === undefined || dimension === undefined ? [] : parts.days(days, dimension)),
      ...hours.map((span) => parts.hours(span)),
      "select * from near_parts",
    ].join(all),
  };
}

/**
 * SQL for the parts of an answer that the sums lack: calls that are not folded yet, and parts of hours. It reads the ledger and the log
 * themselves.
 */
import { dayMs, hourMs } from "../base/durations.ts";
import { idTime } from "../base/ids.ts";
import { callsSql, chargeColumns, firstChargeOf } from "./calls.ts";
import { callMsMax, idsFrom, idsWithin, taskMsMax, type LogIds } from "./log-bounds.ts";
import type { UsageQuery } from "./usage-query.ts";
import type { Segments, Span } from "./segments.ts";
import { otherCountNames } from "./sums.ts";

const clockSlackMs = hourMs;
/** A call that is known to be free may still be charged within this time. */
const chargedLaterMsMax = 2 * dayMs;

/** The table of calls that the sums lack. `span`: whole hours. */
export function unfolded(query: UsageQuery, span: Span): string {
  const later = new Date(span.to.getTime() + chargedLaterMsMax);
  return callsSql({
    name: "live",
    charges: `(select e.* from (
        select a.workspace_id, coalesce(f.entry, 0) as mark from ledger_accounts a
        left join usage_folds f on f.workspace_id = a.workspace_id where ${query.workspaceFilter("a.workspace_id")}) m
      cross join lateral (
        select ${chargeColumns} from ledger_entries e where e.workspace_id = m.workspace_id and e.entry > 0 and e.entry > m.mark
          and e.kind = 'charge' and ${query.within("e.created_at", { from: span.from, to: later })} offset 0) e)`,
    free: `(select p.workspace_id, p.id as log_id from usage_pending p
      where ${query.workspaceFilter("p.workspace_id")} and ${firstChargeOf("p.workspace_id", "p.id")} is null)`,
    late: `(select u.*, u.id as log_id, u.cost_nano as cost from usage_unattributed u
      where ${query.workspaceFilter("u.workspace_id")} and ${query.within("u.at", span)})`,
    log: idsFrom(query.bind(query.wanted.logLow)),
    tagged: query.tagged,
  });
}

/** The rows of that table. */
export const unfoldedRows = (query: UsageQuery, span: Span): string =>
  query.summed("live", query.within("c.hour", span));

interface FreeCalls {
  /** The workspaces to read: a query of `workspace_id`. The other expressions may use its columns as those of `w`. */
  readonly of: string;
  /** The range of times of their ids. */
  readonly low: string;
  readonly high: string;
  /** The condition on the start of calls `r`. */
  readonly when: string;
}

/** Calls of the log without a charge. Each kind of id has explicit bounds, so that a plan has only the parts between them. */
function freeCalls({ of, low, high, when }: FreeCalls): string {
  const ofKind = (prefix: string): string => `
        select r.workspace_id, r.id from requests r where r.workspace_id = w.workspace_id and r.id >= '${prefix}' || ${low}
          and r.id < '${prefix}' || ${high} and r.cost_nano = 0 and ${when}`;
  return `(
      select n.workspace_id, n.id as log_id from (${of}) w
      cross join lateral (${["req_", "task_"].map(ofKind).join(" union all ")} offset 0) n
      where ${firstChargeOf("n.workspace_id", "n.id")} is null)`;
}

/** The ids of the calls that may have been charged in this time. */
function chargedIds(query: UsageQuery, { from, to }: Span): LogIds {
  const low = query.bind(idTime(from.getTime() - callMsMax));
  const taskLow = query.bind(idTime(from.getTime() - taskMsMax));
  return idsWithin({ low, taskLow, high: query.bind(idTime(to.getTime() + clockSlackMs)) });
}

/** The table of a part of an hour, from the ledger and the log themselves. */
export function hourPart(query: UsageQuery, name: string, span: Span): string {
  const low = query.bind(idTime(span.from.getTime() - clockSlackMs));
  const high = query.bind(idTime(span.to.getTime() + clockSlackMs));
  return callsSql({
    name,
    charges: `(select ${chargeColumns} from ledger_entries e
      where e.kind = 'charge' and ${query.within("e.created_at", span)} and ${query.workspaceFilter("e.workspace_id")} offset 0)`,
    free: freeCalls({
      of: `select x.id as workspace_id from workspaces x where ${query.workspaceFilter("x.id")}`,
      low: `${low}::text`,
      high: `${high}::text`,
      when: query.within("r.created_at", span),
    }),
    log: chargedIds(query, span),
    tagged: query.tagged,
  });
}

/** The rows of that table, negated if `sign` is -1. */
export function hourPartRows(
  query: UsageQuery,
  name: string,
  { from, sign }: Segments["ends"][number],
): string {
  const part = query.summed(name, "true", from);
  return sign === 1 ? part : `select start, of, ${query.taken} from (${part}) taken`;
}

/**
 * The tables for parts of hours in which days begin, from the start of the day to the end of the hour. Reads only workspaces with sums, or
 * calls that wait for them, in that hour.
 */
export function edges(query: UsageQuery, spans: readonly Span[]): string {
  const times = (of: (span: Span) => Date): string =>
    `${query.bind(spans.map((span) => of(span).toISOString()))}::timestamptz[]`;
  const idTimes = (of: (span: Span) => number): string =>
    `${query.bind(spans.map((span) => idTime(of(span))))}::text[]`;
  const [from, to] = [times((span) => span.from), times((span) => span.to)];
  const low = idTimes((span) => span.from.getTime() - clockSlackMs);
  const high = idTimes((span) => span.to.getTime() + clockSlackMs);
  const ends = spans.map((span) => span.to.getTime());
  const all = { from: new Date(Math.min(...ends) - hourMs), to: new Date(Math.max(...ends)) };
  return `
    edges_at as materialized (select * from unnest(${from}, ${to}, ${low}, ${high}) as x("from", "to", low, high)),
    ${callsSql({
      name: "edges",
      charges: `(select e.* from edges_at x cross join lateral (
          select ${chargeColumns} from ledger_entries e where e.kind = 'charge' and e.created_at >= x.from and e.created_at < x.to
            and ${query.workspaceFilter("e.workspace_id")} offset 0) e)`,
      free: freeCalls({
        of: `
          select u.workspace_id, x.* from edges_at x join usage_hours u on u.hour = x.to - interval '1 hour' and ${query.workspaceFilter("u.workspace_id")}
          union select p.workspace_id, x.* from edges_at x cross join usage_pending p where ${query.workspaceFilter("p.workspace_id")}`,
        low: "w.low",
        high: "w.high",
        when: "r.created_at >= w.from and r.created_at < w.to",
      }),
      log: chargedIds(query, all),
      tagged: query.tagged,
    })}`;
}

/**
 * The rows that move from the day before, in which the sums have them, to their own day. Counts that the sums of an hour lack are not
 * moved.
 */
export function edgeRows(query: UsageQuery): string {
  const { wholeSince } = query.wanted;
  if (wholeSince === undefined) return moved(query, "true");
  const whole = `${query.bind(wholeSince)}::timestamptz`;
  return [
    moved(query, `c.hour >= ${whole}`),
    moved(query, `c.hour < ${whole}`, otherCountNames),
  ].join(" union all ");
}

function moved(query: UsageQuery, when: string, lacking: readonly string[] = []): string {
  const columns = (sign: "" | "-"): string =>
    query.wanted.columns
      .map((name) => (lacking.includes(name) ? `0 as ${name}` : `${sign}${name} as ${name}`))
      .join(", ");
  // Days begin at whole quarters of an hour.
  const ends = "(c.hour + interval '59 minutes') at time zone 'UTC'";
  return `select start, of, ${columns("")} from (${query.summed("edges", when, ends)}) x
    union all select start, of, ${columns("-")} from (${query.summed("edges", when)}) x`;
}

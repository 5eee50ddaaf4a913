/** Usage rows: their names, measures, and the log filters of their calls. Pure. */
import { isolated } from "../../base/isolated.ts";
import { keyLabel } from "../../base/key-label.ts";
import { parseUsd } from "../../base/money.ts";
import { inSentence } from "../../base/period.ts";
import { tagOf, type Group, type Metric, type NamedGroup, type Only } from "./search.ts";

/** The fields read from a row of `GET /usage`. */
export interface UsageRow {
  readonly start: string;
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: string;
  readonly other?: boolean;
  readonly model?: string | null;
  readonly key_id?: string | null;
  readonly key_name?: string | null;
  readonly key_last4?: string | null;
  readonly member_id?: string | null;
  readonly member_email?: string | null;
  readonly provider?: string | null;
  readonly workspace_id?: string | null;
  /** The value of the grouping tag, and whether the row has the calls without it. */
  readonly tag?: string | null;
  readonly untagged?: boolean;
}

const columns = {
  model: "model",
  key: "key_id",
  member: "member_id",
  provider: "provider",
  workspace: "workspace_id",
} as const satisfies Record<NamedGroup, keyof UsageRow>;

const columnOf = (by: Group) => columns[by as keyof typeof columns] ?? "tag";

/** The id of a row's group; null if it has none, or for all others. */
export const idOf = (row: UsageRow, by: Group): string | null => row[columnOf(by)] ?? null;

const unnamed: Readonly<Record<string, string>> = {
  model: "no model",
  key: "no key",
  member: "admin token",
  provider: "no provider",
  workspace: "no workspace",
};

/** The name of a row's group; `names`: workspace names by id. */
export function nameOf(row: UsageRow, by: Group, names: ReadonlyMap<string, string>): string {
  if (row.other === true) return "all others";
  const id = idOf(row, by);
  if (id === null) return unnamed[by] ?? "none";
  if (by === "key") return row.key_name == null ? id : keyLabel(row.key_name, row.key_last4);
  if (by === "member") return row.member_email ?? id;
  return names.get(id) ?? id;
}

/** Nano-USD, or a count. */
export function measureOf(row: UsageRow, metric: Metric): bigint {
  if (metric === "cost") return parseUsd(row.cost);
  if (metric === "tokens") return BigInt(row.input_tokens) + BigInt(row.output_tokens);
  return BigInt(row[metric]);
}

export const sumOf = (rows: readonly UsageRow[], metric: Metric): bigint =>
  rows.reduce((sum, row) => sum + measureOf(row, metric), 0n);

/** The value that sums further values of a day, and the length up to which values are stored whole. */
const beyond = "other";
const wholeMax = 256;

/** The log filter for a tag value; undefined if the row may cover several values. */
function tagFilter(name: string, value: string): Readonly<Record<string, string>> | undefined {
  if (value === beyond || value.length >= wholeMax) return undefined;
  return name === "end_user" ? { user: value } : { tag: `${name}:${value}` };
}

/** The log filter for the calls of a group; undefined if there is none. */
export function filterOf(row: UsageRow, by: Group): Readonly<Record<string, string>> | undefined {
  const id = row.other === true ? null : idOf(row, by);
  if (id === null) return undefined;
  const tag = tagOf(by);
  if (tag !== undefined) return tagFilter(tag, id);
  return { [by === "workspace" ? "ws" : by]: id };
}

/** The filter that restricts the overview to a group; undefined for groups with pages or filters of their own. */
export function onlyOf(row: UsageRow, by: Group): Only | undefined {
  const { tag, provider } = filterOf(row, by) ?? {};
  return tag === undefined && provider === undefined ? undefined : { tag, provider };
}

/** A series of the chart, with its colour and label. */
export interface Series {
  readonly name: string;
  readonly label: string;
  readonly color: string;
  readonly total: bigint;
  readonly filter: Readonly<Record<string, string>> | undefined;
}

export interface Bars {
  readonly series: readonly Series[];
  /** One for each start, in order, with each series' size as a number: only for drawing. */
  readonly points: readonly ({ readonly start: string } & Readonly<Record<string, unknown>>)[];
  /** The exact sizes, for display. */
  readonly exact: ReadonlyMap<string, ReadonlyMap<string, bigint>>;
}

const colors = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)"];
const otherName = "other";

interface Drawn {
  readonly by: Group;
  readonly metric: Metric;
  readonly starts: readonly string[];
  readonly names: ReadonlyMap<string, string>;
}

/** Converts rows by step and group to stacked bars: up to four groups, the largest first, and one for the rest. */
export function barsOf(rows: readonly UsageRow[], { by, metric, starts, names }: Drawn): Bars {
  const totals = new Map<string, { total: bigint; first: UsageRow }>();
  const exact = new Map<string, Map<string, bigint>>();
  const keyOf = (row: UsageRow): string => {
    const id = row.other === true ? null : idOf(row, by);
    return id === null ? otherName : `of ${id}`;
  };
  for (const row of rows) {
    const size = measureOf(row, metric);
    const key = keyOf(row);
    totals.set(key, {
      total: (totals.get(key)?.total ?? 0n) + size,
      first: totals.get(key)?.first ?? row,
    });
    const at = exact.get(row.start) ?? new Map<string, bigint>();
    exact.set(row.start, at.set(key, (at.get(key) ?? 0n) + size));
  }
  const named = [...totals.keys()].filter((key) => key !== otherName);
  named.sort((one, other) => (totals.get(one)!.total < totals.get(other)!.total ? 1 : -1));
  const order = [...named, ...(totals.has(otherName) ? [otherName] : [])];
  const series = order.map((key, place): Series => {
    const { total, first } = totals.get(key)!;
    const isOther = key === otherName;
    return {
      name: key,
      label: isOther ? "others" : nameOf(first, by, names),
      color: isOther ? "var(--series-other)" : (colors[place] ?? "var(--series-other)"),
      total,
      filter: isOther ? undefined : filterOf(first, by),
    };
  });
  const unit = metric === "cost" ? 1e9 : 1;
  const points = starts.map((start) => {
    const at = exact.get(start);
    const sizes = series.map(({ name }) => [name, Number(at?.get(name) ?? 0n) / unit]);
    return { start, ...(Object.fromEntries(sizes) as Record<string, number>) };
  });
  return { series, points, exact };
}

/** Says that a period has no calls; `lastAt`: when the newest one was, if it is known. */
export function nothingText(of: {
  /** The chosen tag or provider. */
  readonly only: string | undefined;
  /** There was no call at all. */
  readonly isNew: boolean;
  readonly label: string;
  readonly lastAt: string | undefined;
}): string {
  const { only, isNew, label, lastAt } = of;
  if (isNew) return "No calls yet. This page will show their cost, duration and errors.";
  const calls = only === undefined ? "No calls" : `No calls of ${isolated(only)}`;
  const last = lastAt === undefined ? "" : `; the last one was at ${lastAt}`;
  return `${calls} in this period, ${inSentence(label)}${last}.`;
}

/** The overview's settings, as in the URL; defaults are left out. */
import { isTime, periodWords } from "../../base/period.ts";
import { fit, pick } from "../../base/search.ts";

export const groups = ["model", "key", "member", "provider", "workspace"] as const;
export type NamedGroup = (typeof groups)[number];
/** A grouping of usage: `tag:team` is a tag of callers. */
export type Group = NamedGroup | `tag:${string}`;

export const metrics = ["cost", "requests", "tokens", "errors"] as const;
export type Metric = (typeof metrics)[number];

/** True unless the group is a tag. */
export const isNamed = (by: Group): by is NamedGroup => groups.some((one) => one === by);

const tagGroup = /^tag:.{1,64}$/;
const isGroup = (text: string): boolean =>
  groups.some((one) => one === text) || tagGroup.test(text);

const shapes = {
  by: isGroup,
  metric: metrics,
  compare: ["off"],
  table: ["1"],
  sort: ["change"],
  // A name and a value, such as team:search.
  tag: /^[^:]{1,64}:.+$/s,
  provider: /^.{1,64}$/,
  period: periodWords,
  from: isTime,
  to: isTime,
};

const names = [
  "ws",
  "period",
  "from",
  "to",
  "by",
  "metric",
  "compare",
  "table",
  "sort",
  "tag",
  "provider",
] as const;

export type OverviewSearch = { readonly [Name in (typeof names)[number]]?: string };

export function overviewOf(search: Record<string, unknown>): OverviewSearch {
  const found: OverviewSearch = fit(pick(search, names), shapes);
  const { provider: _beside, ...tagged } = found;
  return found.tag === undefined ? found : tagged;
}

/** Restricts the page to one tag value or one provider. Sums by tag have no providers. */
export type Only = Pick<OverviewSearch, "tag" | "provider">;

/** The chosen group if it is shown, else the first. */
export const byOf = ({ by }: OverviewSearch, shown: readonly Group[]): Group =>
  shown.find((one) => one === by) ?? shown[0] ?? "model";
export const metricOf = ({ metric }: OverviewSearch): Metric =>
  metrics.find((one) => one === metric) ?? metrics[0];
export const isCompared = ({ compare, tag }: OverviewSearch): boolean =>
  compare !== "off" && tag === undefined;

/** The name of a tag; undefined for the other groups. */
export const tagOf = (by: Group): string | undefined =>
  tagGroup.test(by) ? by.slice("tag:".length) : undefined;

export const labelOf = (by: Group): string => {
  const tag = tagOf(by);
  if (tag === undefined) return by;
  return tag === "end_user" ? "end user" : `tag ${tag}`;
};

export const metricLabels: Readonly<Record<Metric, string>> = {
  cost: "Spend (USD)",
  requests: "Requests",
  tokens: "Tokens",
  errors: "Errors",
};

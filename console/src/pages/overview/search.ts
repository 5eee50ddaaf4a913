/** What the overview shows, as it stands in the address; what is the usual is left out. */
import { pick } from "../../base/search.ts";

export const groups = ["model", "key", "member", "provider", "workspace"] as const;
export type Group = (typeof groups)[number];

export const metrics = ["cost", "requests", "tokens", "errors"] as const;
export type Metric = (typeof metrics)[number];

const names = ["ws", "period", "from", "to", "by", "metric", "compare", "table", "sort"] as const;

export type OverviewSearch = { readonly [Name in (typeof names)[number]]?: string };

export const overviewOf = (search: Record<string, unknown>): OverviewSearch => pick(search, names);

/** The chosen one, or the first of `known`. */
const oneOf = <Known extends string>(known: readonly Known[], text: string | undefined): Known =>
  known.find((one) => one === text) ?? known[0]!;

export const byOf = ({ by }: OverviewSearch): Group => oneOf(groups, by);
export const metricOf = ({ metric }: OverviewSearch): Metric => oneOf(metrics, metric);
export const isCompared = ({ compare }: OverviewSearch): boolean => compare !== "off";

export const groupLabels: Readonly<Record<Group, string>> = {
  model: "model",
  key: "key",
  member: "member",
  provider: "provider",
  workspace: "workspace",
};

export const metricLabels: Readonly<Record<Metric, string>> = {
  cost: "Spend (USD)",
  requests: "Requests",
  tokens: "Tokens",
  errors: "Errors",
};

/** The filters of the log, as they stand in the address. */
import { pick } from "../../base/search.ts";

export const filterNames = [
  "key",
  "member",
  "model",
  "provider",
  "status",
  "period",
  "from",
  "to",
] as const;

export type Filters = { readonly [Name in "ws" | (typeof filterNames)[number]]?: string };

export const filtersOf = (search: Record<string, unknown>): Filters => pick(search, filterNames);

const hourMs = 60 * 60 * 1000;

/** Periods that end now, by their word in the address. */
export const periods: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  "24h": { label: "Last 24 hours", ms: 24 * hourMs },
  "7d": { label: "Last 7 days", ms: 7 * 24 * hourMs },
  "30d": { label: "Last 30 days", ms: 30 * 24 * hourMs },
};

/** A period that ends now begins at the full minute, so that what is asked for stays the same for a while. */
const beginOf = (ms: number): string =>
  new Date(Math.floor((Date.now() - ms) / 60_000) * 60_000).toISOString();

const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const timeOf = (text: string | undefined): string | undefined =>
  text !== undefined && timeShape.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;

/** The filters with their period as times; `from` and `to` of the address win, and what is no time counts as absent. */
export function inPeriod({ period, from, to, ...others }: Filters): Filters {
  const chosen = Object.hasOwn(periods, period ?? "") ? periods[period!] : undefined;
  const begin = timeOf(from) ?? (chosen && beginOf(chosen.ms));
  const end = timeOf(to);
  return { ...others, ...(begin && { from: begin }), ...(end && { to: end }) };
}

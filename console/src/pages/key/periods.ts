/** The periods of a key's use: they end now. */
import { gatewayMs } from "../../base/clock.ts";
import { hourMs } from "../../base/durations.ts";

export const periods = [
  { value: "24h", label: "24 hours", ms: 24 * hourMs },
  { value: "7d", label: "7 days", ms: 7 * 24 * hourMs },
  { value: "30d", label: "30 days", ms: 30 * 24 * hourMs },
] as const;

/** The period of the address; a day where it names none. */
export const periodOf = (name: string | undefined): (typeof periods)[number] =>
  periods.find(({ value }) => value === name) ?? periods[0];

/** Begins at the full minute, so that what is asked for stays the same for a while. */
export const beginOf = ({ ms }: { readonly ms: number }): string =>
  new Date(Math.floor((gatewayMs() - ms) / 60_000) * 60_000).toISOString();

/**
 * Converts LiteLLM's `off_peak_pricing` to `price_hours`. Its weekdays are those of a moment, in a time zone of their own; ours are those
 * on which a span begins, in UTC. So windows with weekdays are cut at both midnights. docs.litellm.ai, "Off-Peak Pricing".
 */
import { weekdays, type Weekday } from "../../base/days.ts";
import { isList, isMap, type Section, type Value } from "./file.ts";
import { perMillion, type PriceRow } from "./prices.ts";
import type { Report } from "./report.ts";

/** An entry of `price_hours` without its price. */
interface Hours {
  readonly hours_utc: readonly string[];
  readonly days?: readonly Weekday[];
}

const dayMinutes = 1_440;

/** Minutes of a day in UTC; `to` is at most 1,440. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const two = (value: number): string => String(value).padStart(2, "0");
const timeText = (minute: number): string => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
const spanText = ({ from, to }: Span): string => `${timeText(from)}-${timeText(to)}`;

/** A window as LiteLLM reads it: an end before the begin is on the next day, and one that ends where it begins is a day. */
function windowOf(text: string): Span | undefined {
  const match = /^\s*(\d\d?):(\d\d?)\s*-\s*(\d\d?):(\d\d?)\s*$/.exec(text);
  if (match === null) return undefined;
  const [hour = 0, minute = 0, endHour = 0, endMinute = 0] = match.slice(1).map(Number);
  if (Math.max(hour, endHour) > 23 || Math.max(minute, endMinute) > 59) return undefined;
  return { from: hour * 60 + minute, to: endHour * 60 + endMinute };
}

const windowText = (window: Span): string =>
  window.from === window.to ? "00:00-24:00" : spanText(window);

/** The parts of a window that do not pass midnight. */
function partsOf({ from, to }: Span): readonly Span[] {
  const parts =
    from < to
      ? [{ from, to }]
      : [
          { from, to: dayMinutes },
          { from: 0, to },
        ];
  return parts.filter((part) => part.from < part.to);
}

const listOf = (value: Value | undefined): readonly Value[] =>
  value === undefined ? [] : isList(value) ? value : [value];

/** Every text as `read` reads it; undefined if one cannot be read, or if there is none. */
function allOf<Item>(
  value: Value | undefined,
  read: (item: string) => Item | undefined,
): readonly Item[] | undefined {
  const items = listOf(value).map((item) => (typeof item === "string" ? read(item) : undefined));
  return items.length > 0 && items.every((item) => item !== undefined) ? items : undefined;
}

const names = [
  /^sun(?:day)?$/,
  /^mon(?:day)?$/,
  /^tue(?:s|sday)?$/,
  /^wed(?:nesday)?$/,
  /^thu(?:rs?|rsday)?$/,
  /^fri(?:day)?$/,
  /^sat(?:urday)?$/,
];

/** The number of a weekday, 0 for Sunday. LiteLLM counts from 1 for Monday to 7. */
function weekdayOf(value: string): number | undefined {
  const text = value.trim().toLowerCase();
  if (/^[1-7]$/.test(text)) return Number(text) % 7;
  const at = names.findIndex((name) => name.test(text));
  return at === -1 ? undefined : at;
}

/** Minutes from UTC to a zone's time; undefined if they change within a year. A name that is no zone is UTC to LiteLLM. */
function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined) return 0;
  const year = new Date().getUTCFullYear();
  try {
    const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
    const offsets = Array.from({ length: 12 }, (_, month) => {
      const parts = format.formatToParts(Date.UTC(year, month, 1));
      const text = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
      const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/.exec(text) ?? [];
      return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
    });
    return new Set(offsets).size === 1 ? offsets[0] : undefined;
  } catch {
    return 0;
  }
}

/** A part of a window, with the number of days that the zone's date is ahead of the UTC date in it. */
interface Part extends Span {
  readonly ahead: number;
}

/** Cuts a part at the zone's midnight. */
function cut({ from, to }: Span, offset: number): readonly Part[] {
  const midnight = ((-offset % dayMinutes) + dayMinutes) % dayMinutes || dayMinutes;
  const parts =
    from < midnight && midnight < to
      ? [
          { from, to: midnight },
          { from: midnight, to },
        ]
      : [{ from, to }];
  return parts.map((part) => ({ ...part, ahead: Math.floor((part.from + offset) / dayMinutes) }));
}

const unreadable =
  "has hours or weekdays that cannot be read, and LiteLLM never applies those: write price_hours";
const summerTime =
  "has weekdays of a zone with summer time, and price_hours are in UTC: write them, and change them with it";
const dated =
  "has a window with other fields than hours_utc and weekdays, such as override_dates: write price_hours, and `except` for days without them";
const loose = "has weekdays outside of windows, which LiteLLM does not read: write price_hours";

/** One rule: hours, on some weekdays of the zone or on every day. Returns why it is not converted, as text. */
function hoursOf(rule: Section, zone: string | undefined): readonly Hours[] | string {
  const windows = allOf(rule.value("hours_utc"), windowOf);
  if (windows === undefined) return unreadable;
  const on = rule.value("weekdays");
  if (on === undefined) return [{ hours_utc: windows.map(windowText) }];
  const days = isList(on) ? allOf(on, weekdayOf) : undefined;
  if (days === undefined) return unreadable;
  const offset = offsetOf(zone);
  if (offset === undefined) return summerTime;
  const parts = windows.flatMap(partsOf).flatMap((part) => cut(part, offset));
  return [...Map.groupBy(parts, ({ ahead }) => ahead)].map(([ahead, spans]) => ({
    hours_utc: spans.map(spanText),
    days: weekdays.filter((_, day) => days.includes((day + ahead + 7) % 7)),
  }));
}

const ruleFields: ReadonlySet<string> = new Set(["hours_utc", "weekdays"]);

/** True if a rule has more than hours and weekdays. One with `override_dates` applies on these dates alone, and no other rule does then. */
const hasMore = (rule: Section): boolean =>
  rule.names().some((name) => !ruleFields.has(name) && rule.value(name) !== undefined);

/** The hours of a block: those at its top, and those of each of its rules. Returns why it is not converted, as text. */
function blockHours(block: Section): readonly Hours[] | string {
  const zone = block.text("weekday_timezone")?.trim();
  const rules = block.value("windows");
  if (rules !== undefined && !(isList(rules) && rules.every(isMap))) return unreadable;
  if (block.sections("windows").some(hasMore)) return dated;
  if (block.value("weekdays") !== undefined) return loose;
  const top = block.value("hours_utc") === undefined ? [] : [block];
  const found: Hours[] = [];
  for (const rule of [...top, ...block.sections("windows")]) {
    const hours = hoursOf(rule, zone);
    if (typeof hours === "string") return hours;
    found.push(...hours);
  }
  return found.length === 0 ? unreadable : found;
}

/** The rates that a block may have; LiteLLM reads no others in it. */
const rateFields: ReadonlyMap<string, string> = new Map([
  ["input_cost_per_token", "input"],
  ["output_cost_per_token", "output"],
  ["cache_read_input_token_cost", "cache_read"],
  ["cache_creation_input_token_cost", "cache_write"],
  ["output_cost_per_reasoning_token", "reasoning"],
]);

/** The rates of a block, in USD per million tokens; undefined if one of them is no number, or if there is none. */
function blockRates(block: Section): PriceRow | undefined {
  const read = [...rateFields].flatMap(([field, key]) => {
    const text = block.text(field);
    return text === undefined ? [] : [[key, perMillion(text)] as const];
  });
  const isWhole = read.length > 0 && read.every(([, usd]) => usd !== undefined);
  return isWhole ? (Object.fromEntries(read) as PriceRow) : undefined;
}

interface Tier {
  readonly input_tokens: number;
  readonly price: PriceRow;
}

/** A price as in an offer. */
interface Priced {
  readonly price?: PriceRow;
  readonly price_above?: Tier;
  readonly price_tiers?: readonly Tier[];
}

/** A rate of such hours replaces that of each tier; the others stay. */
function within({ price, price_above: above, price_tiers: tiers }: Priced, rates: PriceRow) {
  const tierOf = (tier: Tier): Tier => ({ ...tier, price: { ...tier.price, ...rates } });
  return {
    price: { ...price, ...rates },
    ...(above && { price_above: tierOf(above) }),
    ...(tiers && { price_tiers: tiers.map(tierOf) }),
  };
}

const admission =
  "a call pays the price at its admission; to LiteLLM the time of its end counts. A rate that the block leaves out is the usual one";

interface Reporting {
  readonly info: Section;
  /** Path of the offer in our file. */
  readonly to: string;
  readonly report: Report;
}

/** Adds the off-peak hours of `model_info` to a price. Reports the field. */
export function withOffPeak<Price extends object>(
  usual: Price | undefined,
  { info, to, report }: Reporting,
): Price | undefined {
  const field = "off_peak_pricing";
  if (usual === undefined || !info.names().includes(field)) return usual;
  const block = info.section(field);
  const hours = blockHours(block);
  const rates = blockRates(block);
  if (typeof hours === "string" || rates === undefined) {
    const fault = typeof hours === "string" ? hours : "has no rates that can be read";
    report.unsupported(info.at(field), fault);
    return usual;
  }
  report.changed(info.at(field), admission, `${to}.price_hours`);
  const price = within(usual, rates);
  return { ...usual, price_hours: hours.map((each) => ({ ...each, ...price })) };
}

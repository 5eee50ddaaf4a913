/** Checks of records and prices that the schema cannot express: which fields go together, and the order of lists. */
import { hasDay } from "../base/days.ts";
import { isObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import type { Finding, Path } from "./mistakes.ts";
import { narrowingFault } from "./narrowing.ts";
import { recordParameters } from "./parameters.ts";
import { rowAt, rowsAt, type Row } from "./rows.ts";

function checkParameters({ row, path }: Row): Finding[] {
  const { parameters } = row;
  if (!isObject(parameters)) return [];
  return Object.entries(parameters).flatMap(([name, narrowing]): Finding[] => {
    const at = [...path, "parameters", name];
    if (!recordParameters.includes(name)) {
      const fix = suggest(name, recordParameters);
      return [{ path: at, atKey: true, message: "unknown parameter", fix }];
    }
    const why = isObject(narrowing) ? narrowingFault(name, narrowing) : undefined;
    if (why === undefined) return [];
    return [{ path: at, message: `does not narrow: ${why}`, fix: "" }];
  });
}

/** The keys of `reasoning` beside `kind`, by kind: required ones and optional ones. */
const reasoningKeys: Readonly<
  Record<string, { needs: readonly string[]; takes: readonly string[] }>
> = {
  none: { needs: [], takes: [] },
  toggle: { needs: [], takes: ["off", "off_as", "field", "excludes"] },
  effort: { needs: ["values"], takes: ["off", "off_as", "field", "excludes"] },
  adaptive: { needs: ["values"], takes: ["off", "off_as", "field", "excludes"] },
  budget: {
    needs: [],
    takes: ["min", "max", "values", "off", "off_as", "field", "excludes"],
  },
};

function checkReasoning(owner: Row): Finding[] {
  const reasoning = rowAt(owner, "reasoning");
  if (!reasoning) return [];
  const { path, row } = reasoning;
  const kind = String(row["kind"]);
  const keys = Object.hasOwn(reasoningKeys, kind) ? reasoningKeys[kind] : undefined;
  if (!keys) return [];
  const findings: Finding[] = keys.needs
    .filter((key) => row[key] === undefined)
    .map((key) => ({ path: [...path, key], message: "missing", fix: `${kind} needs ${key}` }));
  for (const key of Object.keys(row)) {
    if (key === "kind" || keys.needs.includes(key) || keys.takes.includes(key)) continue;
    const message = `means nothing with ${kind}`;
    findings.push({ path: [...path, key], atKey: true, message, fix: "remove it" });
  }
  const { values, min, max } = row;
  if (Array.isArray(values) && values.includes("none")) {
    const fix = "write off: true";
    findings.push({ path: [...path, "values"], message: "none is not an effort", fix });
  }
  if (typeof min === "number" && typeof max === "number" && min > max) {
    findings.push({ path: [...path, "min"], message: `${min} is above max (${max})`, fix: "" });
  }
  return findings;
}

const checkRecord = (owner: Row): Finding[] => [
  ...checkParameters(owner),
  ...checkReasoning(owner),
  ...checkMoment(rowAt(owner, "lifecycle"), "retires_at"),
];

/** Checks a model's own record and the records of its offers. */
export const checkRecords = (model: Row): Finding[] => [
  ...checkRecord(model),
  ...rowsAt(model.row, "offers", model.path).flatMap((offer) => {
    const record = rowAt(offer, "record");
    return record ? checkRecord(record) : [];
  }),
];

/** Checks that a date exists; the schema has checked its form. */
function checkMoment(owner: Row | undefined, key: string): Finding[] {
  return owner ? checkExists(owner.row[key], [...owner.path, key]) : [];
}

function checkExists(text: unknown, path: Path): Finding[] {
  if (typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}/.test(text)) return [];
  if (hasDay(text) && !Number.isNaN(Date.parse(text))) return [];
  return [{ path, message: `there is no ${text}`, fix: "" }];
}

/** Checks the tiers and hours of an object that has a price. */
export const checkPrice = (owner: Row): Finding[] => [
  ...checkTiers(owner),
  ...rowsAt(owner.row, "price_hours", owner.path).flatMap((hours) => [
    ...checkSpans(hours),
    ...checkTiers(hours),
    ...(hasTiers(owner) && !hasTiers(hours) ? [withoutTiers(hours)] : []),
  ]),
];

const hasTiers = ({ row }: Row): boolean =>
  row["price_above"] !== undefined || row["price_tiers"] !== undefined;

/** Long calls would cost less in these hours than the tiers outside of them say. */
const withoutTiers = ({ path }: Row): Finding => ({
  path,
  message: "has no tiers, and the price at other hours has",
  fix: "add its price_above or price_tiers",
});

/** Checks the hours and days of an entry of `price_hours`; the schema has checked their form. */
function checkSpans({ path, row }: Row): Finding[] {
  const items = (key: string): [unknown, Path][] =>
    (Array.isArray(row[key]) ? row[key] : []).map((item: unknown, index) => [
      item,
      [...path, key, index],
    ]);
  return [
    ...items("hours_utc").flatMap(([text, at]): Finding[] => {
      if (typeof text !== "string" || text.slice(0, 5) !== text.slice(6)) return [];
      const fix = 'for the whole day, write "00:00-24:00"';
      return [{ path: at, message: `${text} begins and ends at one time`, fix }];
    }),
    ...items("except").flatMap(([day, at]) => checkExists(day, at)),
  ];
}

function checkTiers(owner: Row): Finding[] {
  const tiers = rowsAt(owner.row, "price_tiers", owner.path);
  const findings: Finding[] = [];
  if (tiers.length > 0 && owner.row["price_above"] !== undefined) {
    const message = "price_above and price_tiers exclude each other";
    const path = [...owner.path, "price_above"];
    findings.push({ path, atKey: true, message, fix: "put it into price_tiers" });
  }
  return [...findings, ...checkRising(tiers, "input_tokens", (value) => Number(value))];
}

function checkRising(rows: readonly Row[], key: string, order: (value: unknown) => number) {
  return rows.flatMap(({ path, row }, index): Finding[] => {
    const before = rows[index - 1]?.row[key];
    if (before === undefined || !(order(row[key]) <= order(before))) return [];
    const message = `${JSON.stringify(row[key])} does not come after ${JSON.stringify(before)}`;
    return [{ path: [...path, key], message, fix: "put them in rising order" }];
  });
}

/** Checks tiers, hours and dated prices of a model's offers. */
export function checkTextPrices({ path, row }: Row): Finding[] {
  return rowsAt(row, "offers", path).flatMap((offer) => {
    const later = rowsAt(offer.row, "later_prices", offer.path);
    return [
      ...checkPrice(offer),
      ...later.flatMap((dated) => [...checkMoment(dated, "from"), ...checkPrice(dated)]),
      ...checkRising(later, "from", (value) =>
        typeof value === "string" ? Date.parse(value) : NaN,
      ),
    ];
  });
}

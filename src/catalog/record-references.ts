/** Checks of records and prices that the schema cannot express: which fields go together, and the order of lists. */
import { hasDay } from "../base/days.ts";
import { isObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import type { Finding } from "./mistakes.ts";
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
  const text = owner?.row[key];
  if (!owner || typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}/.test(text)) return [];
  if (hasDay(text) && !Number.isNaN(Date.parse(text))) return [];
  return [{ path: [...owner.path, key], message: `there is no ${text}`, fix: "" }];
}

/** Checks the tiers of an object that has a price. */
export function checkTiers(owner: Row): Finding[] {
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

/** Checks tiers and dated prices of a model's offers. */
export function checkTextPrices({ path, row }: Row): Finding[] {
  return rowsAt(row, "offers", path).flatMap((offer) => {
    const later = rowsAt(offer.row, "later_prices", offer.path);
    return [
      ...checkTiers(offer),
      ...later.flatMap((dated) => [...checkMoment(dated, "from"), ...checkTiers(dated)]),
      ...checkRising(later, "from", (value) =>
        typeof value === "string" ? Date.parse(value) : NaN,
      ),
    ];
  });
}

/** The shipped list, read lazily: a gateway without vendors reads only the vendors file. */
import { readFileSync } from "node:fs";
import { ownFile } from "../../base/own-files.ts";
import type { ListedModel, VendorRow } from "./types.ts";

const textOf = (name: string): string => readFileSync(ownFile(`catalog/${name}`), "utf8");

let rows: readonly VendorRow[] | undefined;

/** Every vendor that has a preset; those with our own records come first. */
export const vendorRows = (): readonly VendorRow[] =>
  (rows ??= textOf("vendors.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as VendorRow));

let shipped: string | undefined;

/** The models of the shipped list, as {@link listText} wrote them. */
export const shippedList = (): string => (shipped ??= textOf("models.jsonl"));

/** A list of models as text: one JSON object a line. */
export const listText = (models: readonly ListedModel[]): string =>
  models.map((model) => `${JSON.stringify(model)}\n`).join("");

/** The models of some vendors, from a list that {@link listText} wrote; other lines are not parsed. */
export function listedModels(list: string, vendors: ReadonlySet<string>): ListedModel[] {
  const found: ListedModel[] = [];
  for (let start = 0; start < list.length;) {
    const newline = list.indexOf("\n", start);
    const end = newline === -1 ? list.length : newline;
    // Vendor ids need no JSON escapes.
    const vendor = list.slice(
      start + lineStart.length,
      list.indexOf('"', start + lineStart.length),
    );
    if (vendors.has(vendor)) found.push(JSON.parse(list.slice(start, end)) as ListedModel);
    start = end + 1;
  }
  return found;
}

const lineStart = '{"vendor":"';

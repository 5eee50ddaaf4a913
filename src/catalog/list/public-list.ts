/**
 * Reads the public models.dev list (its `api.json`) for the vendors that have a preset. A price that is wrong, incomplete,
 * negative or absurd refuses the whole list. docs/models.md.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { placeAt, placesIn, type TextPlace } from "./json-place.ts";
import { JsonNumber, readPrice, type PriceFault } from "./public-price.ts";
import { withRegionalPrices } from "./regional-price.ts";
import { withBilledTiers, type PriceAt } from "./tier-price.ts";
import type { ListedModel, ListedRates, ReasoningOption, VendorRow } from "./types.ts";

/** A mistake in a list, with its position. */
export interface ListMistake extends TextPlace {
  /** `groq.models["llama-3.3"].cost.input`. */
  readonly path: string;
  readonly message: string;
}

/** A list, or all mistakes in it. */
export type PublicListResult =
  | {
      /** By vendor in the order of `vendors`, then by name. */
      readonly models: readonly ListedModel[];
      /** Vendors of the list without a preset in Tollgate. */
      readonly others: readonly string[];
    }
  | { readonly mistakes: readonly ListMistake[] };

/** Reads a list. Numbers are read from their text, never as floats. */
export function readPublicList(text: string, vendors: readonly VendorRow[]): PublicListResult {
  const value = parse(text);
  if ("mistake" in value) return { mistakes: [value.mistake] };
  const faults: PriceFault[] = [];
  const models = vendors.flatMap((vendor) => modelsOf(vendor, value.root, faults));
  if (faults.length > 0) return { mistakes: located(faults, text) };
  if (models.length === 0) {
    const message = "has no model of any vendor that Tollgate knows: is it models.dev's api.json?";
    return { mistakes: [{ ...placeAt(text, 0), path: "", message }] };
  }
  const known = new Set(vendors.map(listName));
  return { models, others: Object.keys(value.root).filter((name) => !known.has(name)) };
}

const listName = ({ id, list }: VendorRow): string => list ?? id;

type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown;

/** Parses the list; each number becomes a {@link JsonNumber} with its text. */
function parse(text: string): { readonly root: WireObject } | { readonly mistake: ListMistake } {
  const keep: Reviver = (_key, value, { source }) =>
    typeof value === "number" ? new JsonNumber(source) : value;
  try {
    const root: unknown = JSON.parse(text, keep as Parameters<typeof JSON.parse>[1]);
    if (isObject(root)) return { root };
    return { mistake: { ...placeAt(text, 0), path: "", message: "is no JSON object" } };
  } catch (error) {
    const why = error instanceof Error ? error.message : "unreadable";
    const offset = Number(/position (\d+)/.exec(why)?.[1] ?? 0);
    return { mistake: { ...placeAt(text, offset), path: "", message: `is not JSON: ${why}` } };
  }
}

function located(faults: readonly PriceFault[], text: string): ListMistake[] {
  const placeOf = placesIn(text);
  return faults.map(({ path, message }) => ({ ...placeOf(path), path: pathText(path), message }));
}

const pathText = (path: readonly string[]): string =>
  path
    .map((step) => (/^[A-Za-z_][\w-]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`))
    .join("")
    .replace(/^\./, "");

function modelsIn(root: WireObject, list: string): WireObject {
  const entry = root[list];
  return isObject(entry) && isObject(entry["models"]) ? entry["models"] : {};
}

function modelsOf(
  vendor: VendorRow,
  root: WireObject,
  faults: PriceFault[],
): readonly ListedModel[] {
  const name = listName(vendor);
  const models = modelsIn(root, name);
  const priceAt: PriceAt = (list, model) => {
    const row = modelsIn(root, list)[model];
    // The faults are those of its own vendor.
    return isObject(row) ? readPrice(row["cost"], [], []).rates : undefined;
  };
  const found = Object.entries(models)
    .flatMap(([model, row]) => {
      const path = [name, "models", model];
      return isObject(row) ? modelOf(vendor, { model, row, path, priceAt }, faults) : [];
    })
    .sort((left, right) => (left.model < right.model ? -1 : 1));
  return withRegionalPrices(vendor, found);
}

interface Row {
  readonly model: string;
  readonly row: WireObject;
  readonly path: readonly string[];
  readonly priceAt: PriceAt;
}

/** Names of models with other endpoints than text or embeddings: speech, ranking, live sessions. */
const elsewhere =
  /whisper|transcribe|-stt|-asr|-tts|rerank|realtime|livetranslate|-live-|omni-moderation/i;
const embeds = /embed|^voyage\//i;

/** The model, if it can be called by a text protocol or as embeddings. Its price is checked in any case. */
function modelOf(
  vendor: VendorRow,
  { model, row, path, priceAt }: Row,
  faults: PriceFault[],
): ListedModel[] {
  const price = readPrice(row["cost"], [...path, "cost"], faults);
  const limit = isObject(row["limit"]) ? row["limit"] : {};
  const context = countOf(limit["context"]);
  const { input, output } = modalitiesOf(row);
  if (!isTaken(vendor, model, row["provider"])) return [];
  const isText = output.length === 1 && output[0] === "text";
  if (context === undefined || !isText || elsewhere.test(model) || /\s/.test(model)) return [];
  const isPriced = price.rates !== undefined && !(isFree(price.rates) && isBilled(vendor, model));
  const priced = isPriced
    ? { price: withBilledTiers(vendor, { model, price: price.rates, priceAt }) }
    : {};
  const named = { vendor: vendor.id, model, ...textField("name", row["name"]) };
  const released = textField("released", row["release_date"]);
  if (embeds.test(model)) return [{ ...named, kind: "embedding", ...released, context, ...priced }];
  const others = input.filter((one) => one !== "text" && !(one === "audio" && price.hasAudio));
  return [
    {
      ...named,
      ...released,
      context,
      ...numberField("output", countOf(limit["output"])),
      ...(others.length > 0 && { in: others }),
      ...protocolsOf(vendor, model, row["provider"]),
      ...priced,
      ...reasoningOf(row),
      ...(row["temperature"] === false && { temperature: false }),
      ...(row["tool_call"] === false && { tools: false }),
      ...flag("structured", row["structured_output"]),
      ...statusOf(row["status"]),
    },
  ];
}

const isFree = ({ input, output }: ListedRates): boolean => input === "0" && output === "0";
const isBilled = ({ not_free: billed }: VendorRow, model: string): boolean =>
  billed !== undefined && new RegExp(billed).test(model);

/** True if the vendor's row accepts this model of its list. */
function isTaken({ models = "", at = "" }: VendorRow, model: string, provider: unknown): boolean {
  const api = isObject(provider) ? provider["api"] : undefined;
  const address = typeof api === "string" ? api : "";
  return new RegExp(models).test(model) && new RegExp(at).test(address);
}

const countOf = (value: unknown): number | undefined => {
  const count = value instanceof JsonNumber ? Number(value.text) : 0;
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
};

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

function modalitiesOf(row: WireObject): { input: string[]; output: string[] } {
  const both = isObject(row["modalities"]) ? row["modalities"] : {};
  return { input: textsOf(both["input"]), output: textsOf(both["output"]) };
}

const textField = (name: string, value: unknown): object =>
  typeof value === "string" && value !== "" ? { [name]: value } : {};
const numberField = (name: string, value: number | undefined): object =>
  value === undefined ? {} : { [name]: value };
const flag = (name: string, value: unknown): object =>
  typeof value === "boolean" ? { [name]: value } : {};

const statusOf = (status: unknown): Pick<ListedModel, "status"> => {
  if (status === "deprecated") return { status };
  return status === "alpha" || status === "beta" ? { status: "preview" } : {};
};

/** The protocol of a model by its SDK package, for vendors with a separate path for each kind of model. */
const packages: Readonly<Record<string, NonNullable<ListedModel["protocols"]>>> = {
  "@ai-sdk/openai": ["responses"],
  "@ai-sdk/anthropic": ["messages"],
  "@ai-sdk/google": ["generate_content"],
  "@ai-sdk/openai-compatible": ["chat"],
};

/** An entry with another address describes a second way to the model; then the vendor's own protocols apply. */
function protocolsOf(
  vendor: VendorRow,
  model: string,
  provider: unknown,
): Pick<ListedModel, "protocols"> {
  if (vendor.responses_only !== undefined && new RegExp(vendor.responses_only).test(model))
    return { protocols: ["responses"] };
  if (vendor.speaks !== undefined) return {};
  if (!isObject(provider) || typeof provider["api"] === "string") return {};
  if (provider["shape"] === "responses") return { protocols: ["responses"] };
  const protocols = packages[String(provider["npm"])];
  const own = vendor.protocols ?? ["chat"];
  return protocols === undefined || protocols.join() === own.join() ? {} : { protocols };
}

function reasoningOf(row: WireObject): Pick<ListedModel, "reasoning"> {
  const { reasoning, reasoning_options: options } = row;
  if (reasoning !== true) return reasoning === false ? { reasoning } : {};
  const known = Array.isArray(options) ? options.flatMap(optionOf) : [];
  return { reasoning: known.length > 0 ? known : true };
}

function optionOf(option: unknown): ReasoningOption[] {
  if (!isObject(option)) return [];
  const { type } = option;
  if (type === "toggle") return [{ type }];
  if (type === "effort") {
    const values = textsOf(option["values"]);
    return values.length > 0 ? [{ type, values }] : [];
  }
  if (type !== "budget_tokens") return [];
  const min = option["min"] instanceof JsonNumber ? Number(option["min"].text) : undefined;
  return [{ type, ...numberField("min", min), ...numberField("max", countOf(option["max"])) }];
}

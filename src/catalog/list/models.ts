/** Builds a catalogue model from a row of the list: its vendor's offers, its price, and its record as far as the list knows it. */
import {
  modalities,
  toolChoiceModes,
  type Modality,
  type ReasoningAbility,
  type ReasoningField,
  type ToolChoiceAbility,
} from "../../base/abilities.ts";
import { parseUsd } from "../../base/money.ts";
import { usdOrNone } from "../price-rows.ts";
import type { ModelRecord } from "../record.ts";
import type { TextPrice, TextRates } from "../price-types.ts";
import {
  embeddingEndpoint,
  textEndpoints,
  type EmbeddingModel,
  type TextModel,
  type OfferProtocol,
} from "../types.ts";
import type { ListedModel, ListedPrice, ListedRates, ReasoningOption, VendorRow } from "./types.ts";

const reserveDefault = 4096;
/** Used if the list has no release date: 2026-01-01T00:00:00Z. */
const createdDefault = 1_767_225_600;

/** The model id for callers. Colons become dashes, because a colon would pin a provider. */
export function listedId({ model }: Pick<ListedModel, "model">, vendor: VendorRow): string {
  const prefix = `${vendor.prefix ?? vendor.id}/`;
  const name = model.replaceAll(":", "-");
  return name.startsWith(prefix) ? name : prefix + name;
}

/** The model; undefined if the list has no price for it, because a call could not be charged. */
export function listedModel(
  row: ListedModel,
  vendor: VendorRow,
): TextModel | EmbeddingModel | undefined {
  if (row.price === undefined) return undefined;
  const at = { provider: vendor.id, upstreamModel: row.model };
  const request = usdOrNone(fitting(vendor.request_fees, row.model));
  const fee = request === undefined ? {} : { request };
  const price = priceOf(row.model, row.price, fee);
  const released = Date.parse(row.released ?? "");
  const common = {
    id: listedId(row, vendor),
    name: row.name,
    created: Number.isNaN(released) ? createdDefault : released / 1000,
    contextLength: row.context,
  };
  if (row.kind === "embedding")
    return {
      ...common,
      kind: "embedding",
      endpoints: [embeddingEndpoint],
      offers: [
        { ...at, protocol: "embeddings", price: { input: price.input, output: 0n, ...fee } },
      ],
    };
  const protocols = row.protocols ?? protocolsAt(vendor, row.model);
  const maxOutputTokens = row.output ?? row.context;
  return {
    ...recordOf(row, vendor, protocols),
    ...common,
    kind: "text",
    endpoints: textEndpoints,
    maxOutputTokens,
    reserveOutputTokens: Math.min(reserveDefault, maxOutputTokens),
    offers: protocols.map((protocol) => ({ ...at, protocol, price })),
  };
}

/** The value of the first regular expression that matches the name. */
const fitting = <Said>(by: Readonly<Record<string, Said>> | undefined, name: string) =>
  Object.entries(by ?? {}).find(([pattern]) => new RegExp(pattern).test(name))?.[1];

/** The protocols of a vendor's model, unless its row names others. */
const protocolsAt = ({ speaks, protocols }: VendorRow, model: string): readonly OfferProtocol[] =>
  fitting(speaks, model) ?? protocols ?? ["chat"];

const ratesOf = (rates: ListedRates, storage: string | undefined): TextRates => ({
  input: parseUsd(rates.input),
  cacheRead: usdOrNone(rates.cache_read),
  cacheWrite:
    storage === undefined
      ? usdOrNone(rates.cache_write)
      : parseUsd(rates.input) + parseUsd(rates.cache_write ?? storage),
  output: parseUsd(rates.output),
  reasoning: usdOrNone(rates.reasoning),
});

/**
 * The rate of storage for written tokens of Gemini. Google bills them as input, and their storage as well. OpenRouter and those behind it
 * list the storage of five minutes alone, which is below the input.
 */
const storageOf = (model: string, { input, cache_write: write }: ListedRates): string | undefined =>
  write !== undefined && model.includes("gemini") && parseUsd(write) < parseUsd(input)
    ? write
    : undefined;

/** The price with its tiers; `fee` is billed at any length of a call. */
function priceOf(
  model: string,
  { above = [], ...rates }: ListedPrice,
  fee: Pick<TextRates, "request">,
): TextPrice {
  const storage = storageOf(model, rates);
  const base = { ...ratesOf(rates, storage), ...fee };
  if (above.length === 0) return base;
  const tiers = above.map(({ tokens, ...tier }) => ({
    inputTokens: tokens,
    rates: { ...ratesOf(tier, storage), ...fee },
  }));
  return { ...base, above: tiers };
}

function recordOf(
  row: ListedModel,
  vendor: VendorRow,
  protocols: readonly OfferProtocol[],
): ModelRecord & Pick<TextModel, "parameters"> {
  const field = fitting(vendor.reasoning_fields, row.model) ?? vendor.reasoning_field;
  const known = reasoningOf(row.reasoning, field, protocols);
  const isMarked = known?.kind === "adaptive" && alwaysReasons.test(row.model);
  const reasoning = isMarked ? { ...known, off: false } : known;
  return {
    parameters: parametersOf(row, vendor, protocols),
    ...(reasoning && { reasoning }),
    ...(reasoning && vendor.forced_while_reasoning === false && { toolChoice: forcedOrReasoning }),
    ...(isClaude(vendor, protocols) && claudeRecord(row, vendor)),
    ...structureOf(row, vendor),
    inputModalities: ["text", ...(row.in ?? []).filter(isModality)],
    outputModalities: ["text"],
    ...(row.status && { lifecycle: { stage: row.status } }),
  };
}

/** The unsupported parameters, by chat-completions name, each as `false`. */
function parametersOf(
  { model, temperature, tools }: ListedModel,
  { lacks }: VendorRow,
  protocols: readonly OfferProtocol[],
): TextModel["parameters"] {
  const sampling = ["temperature", "top_p", ...(protocols.includes("messages") ? ["top_k"] : [])];
  const missing = [
    ...(temperature === false ? sampling : []),
    ...(fitting(lacks, model) ?? []),
    ...(tools === false ? ["tools", "tool_choice", "parallel_tool_calls"] : []),
  ];
  return Object.fromEntries(missing.map((name) => [name, false as const]));
}

/** Dialects of vendors whose `messages` endpoint serves only Claude. */
const claudeDialects: readonly unknown[] = ["anthropic", "bedrock", "vertex"];

const isClaude = ({ dialect }: VendorRow, protocols: readonly OfferProtocol[]): boolean =>
  claudeDialects.includes(dialect) && protocols.includes("messages");

/** The models can be forced to call a tool only if they do not reason. */
const forcedOrReasoning = { modes: toolChoiceModes, forcedWhileReasoning: false };
const unforced: ToolChoiceAbility = { modes: ["auto", "none"] };

/** Claude models that refuse to be switched off (`thinking: disabled`), and those that refuse a forced tool call in any case. */
const alwaysReasons = /fable|mythos|opus-5-5/;
const neverForced = /(?:fable|mythos)-5-1|(?:opus|sonnet)-5-5/;

/** Abilities of every Claude model that no list has. */
const claudeRecord = (
  { model }: ListedModel,
  { no_prefill: noPrefill, structured_outputs: structured }: VendorRow,
) => ({
  toolChoice: neverForced.test(model) ? unforced : forcedOrReasoning,
  ...(fits(noPrefill, model) && { prefill: false }),
  ...(fits(structured, model) && { structuredOutputs: true }),
});

/** Whether answers are held to a schema, if known. Lists set `structured` for JSON without a schema, too. */
function structureOf(
  { model, structured }: ListedModel,
  { no_structured_outputs: none }: VendorRow,
): Pick<ModelRecord, "structuredOutputs"> {
  const holds = fits(none, model) ? false : structured;
  return holds === undefined ? {} : { structuredOutputs: holds };
}

const fits = (pattern: string | undefined, model: string): boolean =>
  pattern !== undefined && new RegExp(pattern).test(model);

const isModality = (name: string): name is Modality =>
  (modalities as readonly string[]).includes(name);

/** The reasoning ability from the list's options; undefined if it is unknown how a request asks the model to reason. */
function reasoningOf(
  options: boolean | readonly ReasoningOption[] | undefined,
  field: ReasoningField | undefined,
  protocols: readonly OfferProtocol[],
): ReasoningAbility | undefined {
  if (options === false) return { kind: "none" };
  if (options === undefined || options === true) return undefined;
  const { values, toggles, off } = chosenBy(options);
  const speaksMessages = protocols.includes("messages");
  // In messages, a call that does not ask for reasoning gets none.
  const reasons = { off: off || speaksMessages, ...(field && { field }) };
  const budget = budgetOf(options, values);
  if (budget !== undefined && takesBudgets(protocols)) return { ...budget, ...reasons };
  if (values.length > 0)
    return { kind: speaksMessages ? "adaptive" : "effort", ...reasons, values };
  // Only a budget or a switch: usable only if the request field for it is known.
  if (budget !== undefined && field === "enable_thinking") return { ...budget, ...reasons };
  return toggles && field !== undefined ? { kind: "toggle", ...reasons } : undefined;
}

/** The efforts except `none`, whether there is a switch, and whether reasoning can be turned off. */
function chosenBy(options: readonly ReasoningOption[]) {
  const words = options.find(({ type }) => type === "effort")?.values ?? [];
  const toggles = options.some(({ type }) => type === "toggle");
  const values = words.filter((word) => word !== "none");
  return { values, toggles, off: toggles || words.includes("none") };
}

/** The range of the reasoning budget, in tokens; undefined if there is no budget option. */
function budgetOf(options: readonly ReasoningOption[], values: readonly string[]) {
  const budget = options.find(({ type }) => type === "budget_tokens");
  if (budget === undefined) return undefined;
  const { min = 0, max } = budget;
  return { kind: "budget", min, max, ...(values.length > 0 && { values }) } as const;
}

/** True if a protocol has a field for a budget in tokens. */
const takesBudgets = (protocols: readonly OfferProtocol[]): boolean =>
  protocols.includes("messages") || protocols.includes("generate_content");

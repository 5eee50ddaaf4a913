/**
 * Our own records of vendors' models, which override the public list's. docs/models.md.
 *
 * This is a short list of current models, not a complete one. Names, limits and prices are from the vendors' public lists of
 * November 2026, for calls at the standard tier. They change without notice, so an operator who bills by them should
 * check them and write a configuration file. `tollgate config print` prints this list as a starting point.
 */
import { parseUsd } from "../base/money.ts";
import { vendorRecords } from "./vendor-records.ts";
import type { DatedPrice, PriceTier, TextRates } from "./price-types.ts";
import { textEndpoints, type TextModel, type TextProtocol } from "./types.ts";

interface VendorModel {
  /** `vendor/name`, as callers write it. */
  readonly id: string;
  readonly upstream: string;
  readonly protocols: readonly TextProtocol[];
  readonly context: number;
  readonly maxOutput: number;
  readonly rates: TextRates;
  readonly above?: readonly PriceTier[];
  readonly later?: readonly DatedPrice[];
}

interface Vendor {
  readonly provider: string;
  readonly models: readonly VendorModel[];
}

/** USD per million tokens: input, cache read, output, and cache write if it differs from the input rate. */
function usd(input: string, cacheRead: string, output: string, cacheWrite?: string): TextRates {
  return {
    input: parseUsd(input),
    cacheRead: parseUsd(cacheRead),
    output: parseUsd(output),
    ...(cacheWrite === undefined ? {} : { cacheWrite: parseUsd(cacheWrite) }),
  };
}

const vendors: readonly Vendor[] = [
  {
    provider: "openai",
    models: [
      {
        // Its chat endpoint refuses tools, so responses serves callers of every endpoint better.
        id: "openai/gpt-6.2-sol",
        upstream: "gpt-6.2-sol",
        protocols: ["responses"],
        context: 1_050_000,
        maxOutput: 128_000,
        rates: usd("2", "0.10", "10", "2.50"),
        above: [{ inputTokens: 272_000, rates: usd("4", "0.20", "15", "5") }],
      },
      {
        // Its chat endpoint refuses tools together with an effort.
        id: "openai/gpt-5.4",
        upstream: "gpt-5.4",
        protocols: ["responses"],
        context: 1_050_000,
        maxOutput: 128_000,
        rates: usd("2.50", "0.25", "15"),
        above: [{ inputTokens: 272_000, rates: usd("5", "0.50", "22.50") }],
      },
    ],
  },
  {
    provider: "anthropic",
    models: [
      {
        id: "anthropic/claude-opus-5-5",
        upstream: "claude-opus-5-5",
        protocols: ["messages"],
        context: 1_000_000,
        maxOutput: 128_000,
        rates: usd("4", "0.20", "20", "5"),
      },
      {
        id: "anthropic/claude-sonnet-5-5",
        upstream: "claude-sonnet-5-5",
        protocols: ["messages"],
        context: 1_000_000,
        maxOutput: 128_000,
        rates: usd("2", "0.10", "10", "2.50"),
      },
    ],
  },
  {
    provider: "google",
    models: [
      {
        id: "google/gemini-3.8-flash",
        upstream: "gemini-3.8-flash",
        protocols: ["generate_content"],
        context: 1_048_576,
        maxOutput: 65_536,
        // Half of the price from January on.
        rates: usd("0.75", "0.075", "3.75"),
        later: [{ fromMs: Date.UTC(2027, 0, 1), price: usd("1.50", "0.15", "7.50") }],
      },
      {
        id: "google/gemini-3.1-pro-preview",
        upstream: "gemini-3.1-pro-preview",
        protocols: ["generate_content"],
        context: 1_048_576,
        maxOutput: 65_536,
        rates: usd("2", "0.20", "12"),
        above: [{ inputTokens: 200_000, rates: usd("4", "0.40", "18") }],
      },
    ],
  },
  {
    provider: "xai",
    models: [
      {
        id: "xai/grok-4.7",
        upstream: "grok-4.7",
        protocols: ["chat", "responses"],
        context: 500_000,
        maxOutput: 500_000,
        rates: usd("2", "0.50", "6"),
        above: [{ inputTokens: 200_000, rates: usd("4", "1", "12") }],
      },
    ],
  },
  {
    provider: "dashscope",
    models: [
      {
        id: "alibaba/qwen3-max",
        upstream: "qwen3-max",
        protocols: ["chat"],
        context: 262_144,
        maxOutput: 65_536,
        rates: usd("1.20", "0.24", "6", "1.50"),
        above: [
          { inputTokens: 32_000, rates: usd("2.40", "0.48", "12", "3") },
          { inputTokens: 128_000, rates: usd("3", "0.60", "15", "3.75") },
        ],
      },
    ],
  },
  {
    provider: "ark",
    models: [
      {
        id: "bytedance/seed-2-0-lite",
        upstream: "seed-2-0-lite-260228",
        protocols: ["chat"],
        context: 256_000,
        maxOutput: 128_000,
        rates: usd("0.25", "0.05", "2"),
        above: [{ inputTokens: 128_000, rates: usd("0.50", "0.05", "4") }],
      },
    ],
  },
];

/** The date of this list: 2026-11-20. */
const listedAt = 1_795_132_800;

function textModel(vendor: Vendor, model: VendorModel): TextModel {
  const record = vendorRecords[model.upstream] ?? {};
  return {
    id: model.id,
    kind: "text",
    created: listedAt,
    endpoints: textEndpoints,
    contextLength: model.context,
    maxOutputTokens: model.maxOutput,
    reserveOutputTokens: 4096,
    ...record,
    parameters: record.parameters ?? {},
    offers: model.protocols.map((protocol) => ({
      provider: vendor.provider,
      protocol,
      upstreamModel: model.upstream,
      price: { ...model.rates, above: model.above, later: model.later },
    })),
  };
}

/** Our own records of a vendor's models, which override the list's. */
export const ownModels = (provider: string): readonly TextModel[] =>
  vendors.flatMap((vendor) =>
    vendor.provider === provider ? vendor.models.map((model) => textModel(vendor, model)) : [],
  );

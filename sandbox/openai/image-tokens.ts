/** How the openai-like vendor counts pictures in tokens. */
import type { Script } from "../script-fields.ts";
import { tokensOf } from "../conversation.ts";
import type { Json } from "../json.ts";
import type { Size } from "../pictures.ts";

/** Pixels along one side of the square that is a token, at each quality. */
const patches: Readonly<Record<string, number>> = { low: 64, medium: 32, high: 16 };
const tokensPerPartial = 100;

/** 272, 1056 and 4160 for 1024x1024, as in the vendor's price list. */
function outputTokens({ width, height }: Size, quality: string): number {
  const patch = patches[quality]!;
  return (Math.ceil(width / patch) + 1) * Math.ceil(height / patch);
}

const inputBase = 65;
const inputTile = 129;
const tilePixels = 512;

/** A picture is shrunk to 512 on its short side and counted in tiles; high fidelity counts it once more in detail. */
function inputTokens({ width, height }: Size, fidelity: string): number {
  const long = Math.max(width, height) / Math.min(width, height, tilePixels);
  const tiles = Math.min(4, Math.max(1, Math.ceil(long)));
  const detail = width === height ? 4160 : 6240;
  return inputBase + inputTile * tiles + (fidelity === "high" ? detail : 0);
}

export interface Counted {
  readonly prompt: string;
  readonly inputs: readonly Size[];
  readonly fidelity: string;
  readonly outputs: readonly Size[];
  readonly quality: string;
  readonly partials: number;
}

/** The `usage` of an answer. A script may tell other totals, or none at all. */
export function imageUsage(counted: Counted, { usage: told }: Script): Json | undefined {
  if (told === null) return undefined;
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const text = tokensOf(counted.prompt);
  const images = sum(counted.inputs.map((size) => inputTokens(size, counted.fidelity)));
  const made = sum(counted.outputs.map((size) => outputTokens(size, counted.quality)));
  const input = told?.input ?? text + images;
  const output = told?.output ?? made + counted.partials * tokensPerPartial;
  const inputText = Math.min(text, input);
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: inputText, image_tokens: input - inputText },
    output_tokens_details: { text_tokens: 0, image_tokens: output },
  };
}

/**
 * `POST /openai/v1/embeddings`: vectors of unit length that depend on nothing but the input, so that the same text has
 * the same vector on every run, and another text another one.
 */
import { createHash } from "node:crypto";
import { tokensOf } from "../conversation.ts";
import type { Json } from "../json.ts";
import { asNumber } from "../json.ts";
import type { Failure } from "../refusal.ts";
import type { Route } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { refuseWhen, unknownField } from "../checks.ts";
import { missingParameter, unknownParameter } from "./errors.ts";

const fields = new Set(["model", "input", "dimensions", "encoding_format", "user"]);
const dimensionsUsual = 256;
const dimensionsMax = 3072;
const inputsMax = 2048;

type Input = string | readonly number[];

/** A text, texts, tokens, or lists of tokens; undefined for what is none of them. */
function inputsOf(value: unknown): Input[] | undefined {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return undefined;
  if (value.every(Number.isInteger)) return [value as number[]];
  const good = value.every(
    (one) => typeof one === "string" || (Array.isArray(one) && one.every(Number.isInteger)),
  );
  return good ? (value as Input[]) : undefined;
}

function wrongInput(body: Json): Failure | undefined {
  if (typeof body["model"] !== "string") return missingParameter("model");
  if (body["input"] === undefined) return missingParameter("input");
  const inputs = inputsOf(body["input"]);
  if (inputs && inputs.length <= inputsMax && inputs.every((one) => one.length > 0)) {
    return undefined;
  }
  return { message: "'$.input' is invalid. Please check the API reference.", param: "input" };
}

function wrongForm(body: Json): Failure | undefined {
  const { dimensions, encoding_format: format } = body;
  if (format !== undefined && format !== "float" && format !== "base64") {
    return { message: "Invalid value for 'encoding_format'.", param: "encoding_format" };
  }
  if (dimensions === undefined) return undefined;
  const number = asNumber(dimensions) ?? 0;
  const good = Number.isInteger(number) && number >= 1 && number <= dimensionsMax;
  return good ? undefined : { message: "Invalid value for 'dimensions'.", param: "dimensions" };
}

const checks = [
  refuseWhen((body) => unknownParameter(unknownField(body, fields))),
  refuseWhen(wrongInput),
  refuseWhen(wrongForm),
];

/** Numbers between -1 and 1 drawn from the input's hash, scaled to a vector of length one. */
function vectorOf(input: Input, dimensions: number): number[] {
  const seed = typeof input === "string" ? input : input.join(" ");
  const numbers: number[] = [];
  for (let block = 0; numbers.length < dimensions; block += 1) {
    const hash = createHash("sha512").update(`${block} ${seed}`).digest();
    for (let at = 0; at < hash.length; at += 4) numbers.push(hash.readInt32LE(at) / 2 ** 31);
  }
  const vector = numbers.slice(0, dimensions);
  const length = Math.hypot(...vector);
  return vector.map((one) => one / length);
}

const encoded = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString("base64");

const tokensIn = (input: Input): number =>
  typeof input === "string" ? tokensOf(input) : input.length;

export const embeddings: Route = {
  kind: "json",
  answer(call) {
    const { body } = call;
    for (const check of checks) check(call);
    const inputs = inputsOf(body["input"]);
    if (!inputs) throw new Refusal(400, missingParameter("input"));
    const dimensions = asNumber(body["dimensions"]) ?? dimensionsUsual;
    const tokens = inputs.reduce((sum, input) => sum + tokensIn(input), 0);
    return {
      object: "list",
      data: inputs.map((input, index) => {
        const vector = vectorOf(input, dimensions);
        const embedding = body["encoding_format"] === "base64" ? encoded(vector) : vector;
        return { object: "embedding", index, embedding };
      }),
      model: call.model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    };
  },
};

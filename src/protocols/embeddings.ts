/**
 * Embeddings: all vendors share one wire shape, which the gateway forwards and bills. Nothing is converted: text or tokens in, vectors out.
 * docs/decisions.md "Also served"; docs/configuration.md.
 */
import { Type } from "../base/json-schema.ts";
import { isObject } from "../base/json.ts";
import { noUsage, reportedCount, type Usage } from "../base/usage.ts";
import type { JsonObject } from "./canonical/request.ts";
import { chatCodec, idText } from "./chat/index.ts";
import type { WireError } from "./codec.ts";
import { jsonCharacters } from "./count-text.ts";
import { withDropped } from "./dropped-params.ts";
import { removeFilteredFields } from "./filter.ts";
import { objects } from "./read.ts";
import type { Route } from "./route.ts";
import { compileCheck, nullable, oneOf } from "./wire-check.ts";

const token = Type.Integer({ minimum: 0 });

/** The body of `POST /v1/embeddings`. Unknown fields pass to the upstream. */
export const embeddingsRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([
    Type.String({ minLength: 1 }),
    Type.Array(
      Type.Union([Type.String({ minLength: 1 }), token, Type.Array(token, { minItems: 1 })]),
      { minItems: 1 },
    ),
  ]),
  dimensions: nullable(Type.Integer({ minimum: 1 })),
  encoding_format: nullable(oneOf("float", "base64")),
  user: nullable(Type.String()),
});

/** @throws GatewayError naming the first field at fault. */
export const validateEmbeddings = compileCheck(embeddingsRequest);

/** The size of an embedding call's input, before it is counted. */
export interface EmbeddingInput {
  readonly characters: number;
  /** Number of tokens, if the caller sent tokens instead of text. */
  readonly tokens: number;
  /** The end-user id, which keeps a session with one provider. */
  readonly session: string | undefined;
}

/** Returns the input size of a validated request. */
export function embeddingInput({ input, user }: JsonObject): EmbeddingInput {
  const entries = [input].flat(2);
  const texts = entries.filter((entry) => typeof entry === "string");
  return {
    characters: jsonCharacters(texts),
    tokens: entries.length - texts.length,
    session: typeof user === "string" && user !== "" ? user : undefined,
  };
}

interface EmbeddingRouteInput {
  /** The caller's validated body. */
  readonly body: JsonObject;
  readonly model: string;
  readonly upstreamModel: string;
}

/** Creates the route of an embedding call. It has whole answers only. */
export function embeddingRoute(input: EmbeddingRouteInput): Route {
  const { model } = input;
  const isPacked = input.body["encoding_format"] === "base64";
  let sent: UpstreamRequest | undefined = upstreamRequest(input);
  const { notes } = sent;
  return {
    kind: "direct",
    get body() {
      return (sent ??= upstreamRequest(input)).body;
    },
    discardDerived: () => void (sent = undefined),
    notes,
    askedOutputTokens: undefined,
    streams: false,
    failure,
    isInProgress: () => false,
    usage: (answer) => usageOf(answer["usage"]),
    // The answer has no text: without usage, it is billed by its input.
    text: () => "",
    pictures: () => 0,
    answer(answer, droppedParams, { inputTokens }) {
      answer["model"] = model;
      answer["object"] ??= "list";
      // Mistral's SDK refuses an answer without an id. OpenAI's answers have none.
      answer["id"] = idText(answer) ?? `embd-${crypto.randomUUID()}`;
      completeVectors(answer["data"], isPacked);
      answer["usage"] = completeUsage(answer["usage"], inputTokens);
      return withDropped(answer, droppedParams);
    },
    tap: noStream,
    framesOf: noStream,
    answerFromFrames: () => undefined,
  };
}

type UpstreamRequest = Pick<Route, "body" | "notes">;

function upstreamRequest({ body, upstreamModel }: EmbeddingRouteInput): UpstreamRequest {
  const sent = { ...body };
  const notes = removeFilteredFields(sent);
  sent["model"] = upstreamModel;
  return { body: sent, notes };
}

/** No input is empty, so an answer without vectors is none. */
const failure = (answer: JsonObject): WireError | undefined =>
  answer["error"] || objects(answer["data"]).length === 0
    ? chatCodec.decodeError(502, answer)
    : undefined;

function usageOf(wire: unknown): Usage | undefined {
  if (!isObject(wire)) return undefined;
  const count = reportedCount(wire["prompt_tokens"] ?? wire["total_tokens"]);
  return count === undefined ? undefined : { ...noUsage, inputTokens: count };
}

/**
 * Adds what typed clients require and vendors leave out: Google's vectors have no `index`. `isPacked`: the caller asked for base64, as
 * OpenAI's SDK for JavaScript does by itself. Mistral, LM Studio and others send numbers all the same, which that SDK reads as zeros.
 */
function completeVectors(vectors: unknown, isPacked: boolean): void {
  for (const [at, vector] of (objects(vectors) as JsonObject[]).entries()) {
    vector["object"] ??= "embedding";
    vector["index"] ??= at;
    if (isPacked && isNumbers(vector["embedding"]))
      vector["embedding"] = packed(vector["embedding"]);
  }
}

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number");

/** Returns the numbers as 32-bit floats in base64. They are little-endian, as on all platforms that the gateway runs on. */
const packed = (numbers: readonly number[]): string =>
  Buffer.from(new Float32Array(numbers).buffer).toString("base64");

/** Returns a usage with both counts. Google's answers have none at all, and Jina's only the total. */
function completeUsage(wire: unknown, inputTokens: number): JsonObject {
  const usage = isObject(wire) ? (wire as JsonObject) : {};
  // Counts that cannot be true are replaced by the estimate that is charged (T51).
  const told = usageOf(usage) === undefined ? {} : usage;
  return {
    ...usage,
    prompt_tokens: told["prompt_tokens"] ?? inputTokens,
    total_tokens: told["total_tokens"] ?? inputTokens,
  };
}

function noStream(): never {
  throw new Error("an embedding call has no stream");
}

// Validates the chat and responses payloads of the transcripts: requests to upstreams, whole answers and stream events to callers.
// The schemas are the vendors' own, if their documents are next to the repository.
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { schemaOf } from "../sandbox/support.ts";
import { billed, eventsOf, relayed, routeOf } from "./directions.ts";
import { items, text, wire, type Frame } from "./readers/index.ts";
import {
  caseNames,
  directions,
  forDirection,
  readTranscript,
  type Direction,
  type Transcript,
} from "./transcript.ts";

const openai = "openai-slice.json";
const openResponses = "openresponses-openapi-2026-04-24.json";

type Validator = (value: unknown) => unknown[];
type ValidatorsByProtocol = Readonly<Record<string, readonly Validator[]>>;

/** A validator by one schema. `normalize` covers differences between a document and what its vendor sends and accepts. */
const validatorOf = (file: string, name: string): Validator => {
  const validate = schemaOf(file, name);
  return (value) => validate?.(normalize(file, value)) ?? [];
};

/** The schemas of requests by protocol: all must fit. */
const requestSchemas: ValidatorsByProtocol = {
  chat: [validatorOf(openai, "CreateChatCompletionRequest")],
  responses: [
    validatorOf(openai, "CreateResponse"),
    validatorOf(openResponses, "CreateResponseBody"),
  ],
};
const answerSchemas: ValidatorsByProtocol = {
  chat: [validatorOf(openai, "CreateChatCompletionResponse")],
  responses: [validatorOf(openai, "Response"), validatorOf(openResponses, "ResponseResource")],
};

/** Open Responses has no custom tools and no namespaces. OpenAI's document lacks pieces of their calls, which its SDK reads. */
function isKnown(file: string, item: unknown): boolean {
  const { type, index } = wire(item);
  const isOpenAis = /^namespace$|^custom(?:$|_tool)/.test(text(type));
  return !isOpenAis || (file === openai && index === undefined);
}

function normalize(file: string, value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((item) => isKnown(file, item)).map((item) => normalize(file, item));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, normalize(file, member)]);
  const object = wire(Object.fromEntries(members));
  if (file === openResponses) {
    // Open Responses has no schema in an answer's format, and no json_object in requests.
    const { format } = wire(object["text"]);
    return format ? { ...object, text: { format: { type: "text" } } } : object;
  }
  // Answers in progress have a usage of null.
  if (object["usage"] === null) delete object["usage"];
  // Callers may send messages back without their ids and token probabilities.
  const isSentBack =
    object["type"] === "message" && object["role"] === "assistant" && !("id" in object);
  if (!isSentBack) return object;
  const content = items(object["content"]).map((part) => ({ logprobs: [], ...part }));
  return { ...object, id: "msg_1", status: "completed", content };
}

/** The names of a document's event schemas, by the type of event. */
function eventNames(file: string): Map<string, string> {
  const path = new URL(`../../../shared/wire/data/${file}`, import.meta.url);
  if (!existsSync(path)) return new Map();
  const document = wire(JSON.parse(readFileSync(path, "utf8")));
  const schemas = Object.entries(wire(wire(document["components"])["schemas"]));
  return new Map(
    schemas
      .filter(([name]) => name.endsWith("Event"))
      .map(([name, schema]) => [typeOf(wire(wire(schema)["properties"])["type"]), name]),
  );
}

const typeOf = (schema: unknown): string => {
  const { enum: values, const: constant } = wire(schema);
  return text(constant ?? (Array.isArray(values) ? values[0] : undefined));
};

const names: Readonly<Record<string, Map<string, string>>> = {
  [openai]: eventNames(openai),
  [openResponses]: eventNames(openResponses),
};

/** The schemas of an event by its type. Each document must know each event. */
function eventSchemas(caller: string, type: string): Validator[] {
  if (caller === "chat") return [validatorOf(openai, "CreateChatCompletionStreamResponse")];
  return [openai, openResponses].map((file) => validatorOf(file, names[file]!.get(type) ?? type));
}

const faultsOf = (validators: readonly Validator[], value: unknown): unknown[] =>
  validators.flatMap((validate) => validate(value));

const isOpenProtocol = (protocol: string): boolean => protocol in answerSchemas;

/** Directions in which the gateway writes the payloads. A vendor's own payloads are passed on unchanged. */
const checkedDirections = ({ meaning }: Transcript): Direction[] =>
  directions.filter(
    (direction) =>
      direction.caller !== direction.upstream &&
      forDirection(meaning.refused, direction).length === 0,
  );

/** True for an error chunk, which no schema has: it is a convention of OpenRouter and the SDKs. */
const isError = (data: string): boolean => "error" in wire(JSON.parse(data));

function* streamFaults(caller: string, frames: readonly Frame[]): Generator {
  for (const { data } of frames) {
    if (data === "[DONE]" || (caller === "chat" && isError(data))) continue;
    const event: unknown = JSON.parse(data);
    yield* faultsOf(eventSchemas(caller, text(wire(event)["type"])), event);
  }
}

/** The schema faults of one transcript's payloads, by direction. */
function schemaFaultsOf(transcript: Transcript): Record<string, unknown[]> {
  const faults: Record<string, unknown[]> = {};
  for (const direction of checkedDirections(transcript)) {
    const { caller, upstream } = direction;
    const { answer, stream } = transcript.exchanges[upstream];
    const found: unknown[] = [];
    const streaming = routeOf(transcript, direction, { stream: true });
    const route = routeOf(transcript, direction);
    if (isOpenProtocol(upstream)) {
      for (const { body } of [route, streaming])
        found.push(...faultsOf(requestSchemas[upstream]!, body));
    }
    if (isOpenProtocol(caller)) {
      found.push(...streamFaults(caller, relayed(streaming.tap(), eventsOf(stream))));
      const isAnswer = route.failure(answer) === undefined;
      const given = isAnswer ? [route.answer(structuredClone(answer), [], billed)] : [];
      found.push(...given.flatMap((one) => faultsOf(answerSchemas[caller]!, one)));
    }
    if (found.length > 0) faults[`caller ${caller}, upstream ${upstream}`] = found;
  }
  return faults;
}

const hasDocuments = schemaOf(openai, "Response") !== undefined;

it.for(caseNames())("RESP-51: all payloads of %s fit the vendors' schemas", (name, { skip }) => {
  skip(!hasDocuments, "the vendors' documents do not stand beside the repository");
  expect(schemaFaultsOf(readTranscript(name))).toEqual({});
});

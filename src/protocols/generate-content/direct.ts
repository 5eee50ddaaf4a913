/**
 * The direct route of generateContent. The path has model and streaming, so the body passes without the filtered fields. TXT-07 to TXT-11,
 * TXT-18.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { CallFacts, DirectCodec, RequestAddress, WireError } from "../codec.ts";
import { jsonCharacters, textCharacters, textInData } from "../count-text.ts";
import { removeFilteredFields } from "../filter.ts";
import { isSet, list, objectOf } from "../read.ts";
import { usesToReserve, withUses } from "../tool-uses.ts";
import { isSkipSignature, skipSignature, skipSignatureInAnswers } from "../skip-signature.ts";
import { decodeError } from "./errors.ts";
import { groundingUses } from "./grounding-uses.ts";
import { isOlderGeneration, makesPictures } from "./limits.ts";
import { joinTurns } from "./join-turns.ts";
import { withLists } from "./lists.ts";
import { read } from "./names.ts";
import { framesOf, answerFromFrames } from "./stream-conversion.ts";
import { withoutProofs } from "./proofs.ts";
import { answerPictures, answerText } from "./read-stream.ts";
import { validate } from "./request.ts";
import { GenerateTap } from "./tap.ts";
import { dropDuplicateSpellings } from "./duplicate-spellings.ts";
import { decodeUsage, encodeUsage, misreports } from "./usage.ts";

function facts(given: JsonObject): CallFacts {
  const body = withLists(given);
  const input = { characters: 0, media: 0 };
  const system = read(body, "systemInstruction");
  if (isObject(system)) countParts(system["parts"], input);
  else input.characters += typeof system === "string" ? textCharacters(system) : 0;
  for (const content of list(body["contents"])) {
    if (isObject(content)) countParts(content["parts"], input);
  }
  if (isSet(body["tools"])) input.characters += jsonCharacters(body["tools"]);
  const config = objectOf(read(body, "generationConfig"));
  const schema = read(config, "responseJsonSchema") ?? read(config, "responseSchema");
  if (isSet(schema)) input.characters += jsonCharacters(schema);
  const maxOutputTokens = read(config, "maxOutputTokens");
  const candidates = read(config, "candidateCount");
  return {
    maxOutputTokens: typeof maxOutputTokens === "number" ? maxOutputTokens : undefined,
    answers: typeof candidates === "number" ? candidates : 1,
    // The protocol has no end-user id and no cache key.
    session: undefined,
    inputCharacters: input.characters,
    inputMedia: input.media,
    toolUses: {
      webSearches: usesToReserve(isWebSearch, body["tools"]),
      mapSearches: usesToReserve((tool) => isSet(read(tool, "googleMaps")), body["tools"]),
    },
  };
}

const webSearches = ["googleSearch", "googleSearchRetrieval", "enterpriseWebSearch"];
const isWebSearch = (tool: WireObject): boolean =>
  webSearches.some((name) => isSet(read(tool, name)));

/** Adds up the text that a model reads and the number of media, also in function responses. */
function countParts(parts: unknown, input: { characters: number; media: number }): void {
  for (const part of list(parts)) {
    if (!isObject(part)) continue;
    const response = read(part, "functionResponse");
    const data = read(part, "inlineData") ?? read(part, "fileData");
    if (data !== undefined) {
      input.media += 1;
      if (isObject(data)) input.characters += textInData(read(data, "mimeType"), data["data"]);
      input.characters += jsonCharacters(part["text"] ?? "");
    } else if (isObject(response)) {
      const { parts: inner, ...rest } = response;
      countParts(inner, input);
      input.characters += jsonCharacters(rest);
    } else input.characters += jsonCharacters(part);
  }
}

function request(
  body: JsonObject,
  { model }: RequestAddress,
): { body: JsonObject; notes: readonly Note[] } {
  const copy = { ...body };
  joinTurns(copy);
  fitSkips(copy, model);
  const notes = [...removeFilteredFields(copy), ...dropDuplicateSpellings(copy)];
  // Some SDKs repeat the path's model in the body, where it would contradict the upstream's name.
  delete copy["model"];
  return { body: copy, notes };
}

/**
 * The marker that replaces a signature stands on calls that other vendors made, and on parts whose signature was refused. Older models do not
 * know it and go without; others get it as Google documents it, on texts and pictures only picture models.
 */
function fitSkips(copy: JsonObject, model: string): void {
  const contents = exactTwinOf(copy["contents"]);
  const isOlder = isOlderGeneration(model);
  const isMeant = isOlder ? isSkipped : isRespelt;
  const holds = (content: Json): content is Holder =>
    isObject(content) && Array.isArray(content["parts"]) && content["parts"].some(isMeant);
  if (!Array.isArray(contents) || !contents.some(holds)) return;
  const isRequired = (part: JsonObject): boolean =>
    !isOlder && (isObject(read(part, "functionCall")) || makesPictures(model));
  const fitted = (part: Json): Json => {
    if (!isMeant(part)) return part;
    const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part;
    return isRequired(part) ? { ...rest, thoughtSignature: skipSignature } : rest;
  };
  copy["contents"] = contents.map((content) =>
    holds(content) ? { ...content, parts: content.parts.map(fitted) } : content,
  );
}

type Holder = JsonObject & { parts: Json[] };

const isSkipped = (part: Json): part is JsonObject =>
  isObject(part) && isSkipSignature(read(part, "thoughtSignature"));

const isRespelt = (part: Json): part is JsonObject =>
  isObject(part) && read(part, "thoughtSignature") === skipSignatureInAnswers;

/** A blocked prompt has no candidates, and neither has an empty answer: each has one of the other members. */
function failure(wire: JsonObject): WireError | undefined {
  const isAnswer = ["candidates", "promptFeedback", "usageMetadata"].some((key) => wire[key]);
  return isAnswer && !wire["error"] ? undefined : decodeError(502, wire);
}

export const direct: DirectCodec = {
  validate,
  facts,
  request,
  withoutProofs,
  failure,
  usage: (wire) => withUses(decodeUsage(wire["usageMetadata"]), groundingUses(wire["candidates"])),
  misreportsUsage: (wire) => misreports(wire["usageMetadata"]),
  text: answerText,
  pictures: answerPictures,
  answer: (wire, model) => Object.assign(wire, { modelVersion: model }),
  withUsage: (wire, usage) => ({ ...wire, usageMetadata: encodeUsage(usage) }),
  framesOf,
  answerFromFrames,
  tap: ({ model }) => new GenerateTap(model),
};

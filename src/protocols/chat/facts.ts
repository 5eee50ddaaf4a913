/** Facts of a chat request or answer for routing, reservation and metering, read without decoding it. */
import { isObject, type WireObject } from "../../base/json.ts";
import { tokenCount } from "../../base/usage.ts";
import type { CallFacts } from "../codec.ts";
import { jsonCharacters, textCharacters, textInDataUrl } from "../count-text.ts";
import { isSet, list, nonEmpty, objectOf, objects } from "../read.ts";
import { isSearchTool, searchTool, usesToReserve } from "../tool-uses.ts";
import { outputTexts, readOutput, type Output } from "./output.ts";

/** Reads the facts of a validated request. */
export function readFacts(body: WireObject): CallFacts {
  const size = { characters: 0, media: 0, markers: 0, hourMarkers: 0 };
  for (const holder of [body, ...objects(body["tools"])]) countMarker(holder, size);
  for (const message of list(body["messages"])) if (isObject(message)) addMessage(message, size);
  const definitions = [body["tools"], body["functions"], body["response_format"]];
  for (const value of definitions) if (isSet(value)) size.characters += jsonCharacters(value);
  const asked = isObject(body["web_search_options"]) ? [searchTool] : body["tools"];
  return {
    maxOutputTokens: largest(body["max_completion_tokens"], body["max_tokens"]),
    answers: Math.max(1, tokenCount(body["n"], 1)),
    session: nonEmpty(body["prompt_cache_key"]) ?? nonEmpty(body["user"]),
    inputCharacters: size.characters,
    inputMedia: size.media,
    toolUses: { webSearches: usesToReserve(isSearchTool, asked) },
    ...(size.markers > 0 && size.markers === size.hourMarkers && { hourWrites: true }),
  };
}

/** If both limits are given, each upstream uses the one that it knows; so the larger one counts. */
function largest(...limits: readonly unknown[]): number | undefined {
  const given = limits.filter((limit) => typeof limit === "number");
  return given.length === 0 ? undefined : Math.max(...given);
}

interface Size {
  characters: number;
  media: number;
  /** Cache markers, and those among them that ask for an hour. */
  markers: number;
  hourMarkers: number;
}

function countMarker({ cache_control: marker }: WireObject, size: Size): void {
  if (!isObject(marker)) return;
  size.markers += 1;
  if (marker["ttl"] === "1h") size.hourMarkers += 1;
}

const mediaParts = new Set(["image_url", "input_audio", "file", "video_url"]);

function addMessage(message: WireObject, size: Size): void {
  for (const holder of [message, ...objects(message["tool_calls"])]) countMarker(holder, size);
  for (const key of Object.keys(message)) {
    const value = message[key];
    if (key !== "content") size.characters += typeof value === "string" ? textCharacters(value) : 0;
    else if (typeof value === "string") size.characters += textCharacters(value);
    else for (const part of list(value)) addPart(part, size);
  }
  size.media += list(message["images"]).length;
  for (const key of ["tool_calls", "function_call", "reasoning_details"]) {
    if (isSet(message[key])) size.characters += jsonCharacters(message[key]);
  }
}

function addPart(part: unknown, size: Size): void {
  if (!isObject(part)) return;
  countMarker(part, size);
  if (typeof part["type"] === "string" && mediaParts.has(part["type"])) {
    size.media += 1;
    size.characters += textInDataUrl(objectOf(part["file"])["file_data"]);
  } else size.characters += jsonCharacters(part);
}

const outputsOf = (answer: WireObject): Output[] =>
  objects(answer["choices"])
    .map((choice) => choice["message"])
    .filter(isObject)
    .map(readOutput);

/** Returns the output text of a whole answer, all choices. */
export const answerText = (answer: WireObject): string =>
  outputsOf(answer).flatMap(outputTexts).join("");

/** Returns how many pictures a whole answer has, all choices. */
export const answerPictures = (answer: WireObject): number =>
  outputsOf(answer).reduce((sum, { images }) => sum + images.length, 0);

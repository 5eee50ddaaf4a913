/** What routing, reserving and metering read of a chat request or answer without decoding it. */
import { isObject, type WireObject } from "../../base/json.ts";
import { tokenCount } from "../../base/usage.ts";
import type { CallFacts } from "../codec.ts";
import { jsonCharacters } from "../count-text.ts";
import { isSet, list, nonEmpty, objectOf } from "../read.ts";

/** Facts of a request that passed the check. */
export function readFacts(body: WireObject): CallFacts {
  const size = { characters: 0, media: 0 };
  for (const message of list(body["messages"])) if (isObject(message)) addMessage(message, size);
  const definitions = [body["tools"], body["functions"], body["response_format"]];
  for (const value of definitions) if (isSet(value)) size.characters += jsonCharacters(value);
  const maximum = tokenCount(body["max_completion_tokens"] ?? body["max_tokens"], 0);
  return {
    maxOutputTokens: maximum > 0 ? maximum : undefined,
    answers: Math.max(1, tokenCount(body["n"], 1)),
    affinity: nonEmpty(body["prompt_cache_key"]) ?? nonEmpty(body["user"]),
    inputCharacters: size.characters,
    inputMedia: size.media,
  };
}

interface Size {
  characters: number;
  media: number;
}

const mediaParts = new Set(["image_url", "input_audio", "file", "video_url"]);

function addMessage(message: WireObject, size: Size): void {
  for (const key of Object.keys(message)) {
    const value = message[key];
    if (key !== "content") size.characters += typeof value === "string" ? value.length : 0;
    else if (typeof value === "string") size.characters += value.length;
    else for (const part of list(value)) addPart(part, size);
  }
  for (const key of ["tool_calls", "function_call", "reasoning_details"]) {
    if (isSet(message[key])) size.characters += jsonCharacters(message[key]);
  }
}

function addPart(part: unknown, size: Size): void {
  if (!isObject(part)) return;
  if (typeof part["type"] === "string" && mediaParts.has(part["type"])) size.media += 1;
  else size.characters += jsonCharacters(part);
}

/** The strings of a message or a delta that count as output: text, reasoning, refusal, tool names and arguments. */
export function outputTexts(message: WireObject): unknown[] {
  const { tool_calls: calls, function_call: legacy } = message;
  const texts = [
    message["content"],
    message["reasoning_content"] ?? message["reasoning"],
    message["refusal"],
  ];
  if (Array.isArray(calls)) for (const call of calls) texts.push(...callTexts(call));
  if (legacy) texts.push(...callTexts({ function: legacy }));
  return texts;
}

function callTexts(call: unknown): unknown[] {
  const { function: named, custom } = objectOf(call);
  const { name, arguments: text, input } = objectOf(named ?? custom);
  return [name, text ?? input];
}

/** The output text of a whole answer, all choices. */
export function answerText(answer: WireObject): string {
  return list(answer["choices"])
    .map((choice) => (isObject(choice) ? choice["message"] : undefined))
    .filter(isObject)
    .flatMap(outputTexts)
    .filter((text) => typeof text === "string")
    .join("");
}

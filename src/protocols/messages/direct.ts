/**
 * The direct route of the messages protocol. The caller's body passes, except for `model`, filtered fields, surplus cache markers and
 * Claude's billing line. Thinking and citations without a vendor's signature are removed, as is `thinking` in a tool loop or an answer
 * that another vendor began. Call ids that Claude refuses are replaced, and so are system turns that earlier models refuse.
 * TXT-07 to TXT-11, TXT-17, TXT-19, CONV-605.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { CallFacts, DirectCodec, RequestAddress, WireError } from "../codec.ts";
import { jsonCharacters, textCharacters, textInData } from "../count-text.ts";
import { removeFilteredFields } from "../filter.ts";
import { objectOf } from "../read.ts";
import { isSearchTool, usesToReserve } from "../tool-uses.ts";
import { removeBillingLine } from "./billing.ts";
import { removeBlankTexts } from "./blank-text.ts";
import { fillThinking } from "./blank-thinking.ts";
import { limitCacheMarkers } from "./cache-markers.ts";
import { fitCallIds } from "./call-ids.ts";
import { completeAnswer } from "./complete.ts";
import { decodeError } from "./errors.ts";
import { fitSystemTurns } from "./late-system.ts";
import { framesOf, answerFromFrames } from "./stream-conversion.ts";
import { withoutProofs } from "./proofs.ts";
import { validate } from "./request.ts";
import { fillOmittedThinking } from "./omitted-thinking.ts";
import { fitPatterns } from "./patterns.ts";
import { MessagesTap } from "./tap.ts";
import { disableThinkingInLoop } from "./unsigned-loop.ts";
import { removeUnsigned } from "./unsigned.ts";
import { withoutUnset } from "./unset-sampling.ts";
import { decodeUsage, encodeUsage, misreports } from "./usage.ts";

function facts(body: JsonObject): CallFacts {
  const input = { characters: 0, media: 0 };
  countContent(body["system"], input);
  if (Array.isArray(body["messages"])) {
    for (const message of body["messages"]) {
      if (isObject(message)) countContent(message["content"], input);
    }
  }
  if (Array.isArray(body["tools"])) input.characters += jsonCharacters(body["tools"]);
  const { format } = objectOf(body["output_config"]);
  if (isObject(format)) input.characters += jsonCharacters(format);
  const { max_tokens: maxTokens, metadata } = body;
  const userId = isObject(metadata) ? metadata["user_id"] : undefined;
  return {
    maxOutputTokens: typeof maxTokens === "number" ? maxTokens : undefined,
    answers: 1,
    session: typeof userId === "string" && userId !== "" ? userId : undefined,
    inputCharacters: input.characters,
    inputMedia: input.media,
    toolUses: { webSearches: usesToReserve(isSearchTool, body["tools"]) },
  };
}

/** Adds up the model's text and the number of media. Base64 data counts as text only if its type says so; a text document always does. */
function countContent(content: unknown, input: { characters: number; media: number }): void {
  if (typeof content === "string") {
    input.characters += textCharacters(content);
    return;
  }
  if (!Array.isArray(content)) return;
  for (const block of content) {
    if (!isObject(block)) continue;
    const { source } = block;
    if (isObject(source)) countSource(source, input);
    if (block["type"] === "tool_result") countContent(block["content"], input);
    else input.characters += jsonCharacters(isObject(source) ? withoutSource(block) : block);
  }
}

const withoutSource = ({ source: _source, ...rest }: WireObject): WireObject => rest;

function countSource(source: WireObject, input: { characters: number; media: number }): void {
  if (source["type"] === "text") input.characters += jsonCharacters(source["data"]);
  else if (source["type"] === "content") countContent(source["content"], input);
  else {
    input.media += 1;
    input.characters += textInData(source["media_type"], source["data"]);
  }
}

function request(
  body: JsonObject,
  upstream: RequestAddress,
): { body: JsonObject; notes: readonly Note[] } {
  const copy = { ...withoutUnset(body) };
  fillOmittedThinking(copy);
  const notes = [
    ...removeFilteredFields(copy),
    ...removeBillingLine(copy, upstream.model),
    ...fitSystemTurns(copy, upstream.model),
  ];
  const { messages: turns } = copy;
  notes.push(...removeUnsigned(copy, upstream.model));
  removeBlankTexts(copy, upstream.model);
  notes.push(
    ...disableThinkingInLoop(copy, turns, upstream.model),
    ...fitCallIds(copy, upstream.model),
    ...limitCacheMarkers(copy),
    ...fitPatterns(copy, upstream.model),
  );
  fillThinking(copy, upstream.model);
  copy["model"] = upstream.model;
  return { body: copy, notes };
}

const failure = (wire: JsonObject): WireError | undefined =>
  Array.isArray(wire["content"]) || isEmpty(wire) ? undefined : decodeError(502, wire);

/** Ollama's answer without text: a model may write nothing. */
const isEmpty = ({ type, content }: JsonObject): boolean => type === "message" && content === null;

function text(answer: JsonObject): string {
  if (!Array.isArray(answer["content"])) return "";
  let all = "";
  for (const block of answer["content"]) {
    if (!isObject(block)) continue;
    if (typeof block["text"] === "string") all += block["text"];
    else if (typeof block["thinking"] === "string") all += block["thinking"];
    else if (isObject(block["input"])) all += JSON.stringify(block["input"]);
  }
  return all;
}

export const direct: DirectCodec = {
  validate,
  facts,
  request,
  withoutProofs,
  failure,
  usage: (wire) => decodeUsage(wire["usage"], wire),
  misreportsUsage: (wire) => misreports(wire["usage"]),
  text,
  answer: (wire, model) => ({ ...completeAnswer(wire), model }),
  alwaysHasUsage: true,
  withUsage: (wire, usage) => ({ ...wire, usage: encodeUsage(usage, "messages") }),
  framesOf,
  answerFromFrames,
  tap: (options) => new MessagesTap(options),
};

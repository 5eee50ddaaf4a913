/**
 * Reads the output of a message or delta in any vendor's spelling. Traps T1, T3, T4, T18. Empty strings and lists are no content: vendors
 * fill unused fields with them.
 */
import { exactText } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { Citation } from "../canonical/request.ts";
import { decodeAnnotations } from "../citations.ts";
import { list, nonEmpty, numberOf, objectOf, objects } from "../read.ts";
import { reasoningText } from "./reasoning.ts";
import { thinkingParts } from "./response.ts";

export interface Output {
  readonly texts: readonly string[];
  readonly reasoning: string;
  /** `reasoning_details`, as received. */
  readonly details: readonly WireObject[];
  readonly refusal: string;
  /** The sources of the text. */
  readonly citations: readonly Citation[];
  /** Pictures: beside the text (OpenRouter) or among its parts. */
  readonly images: readonly unknown[];
  /** The words in the sound of the answer. */
  readonly transcript: string;
  /** Length of that sound in base64. */
  readonly soundCharacters: number;
  readonly calls: readonly CallPiece[];
}

/** A tool call, or a piece of one. */
export interface CallPiece {
  /** The vendor's number of the call, if sent. */
  readonly index: unknown;
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** Arguments, or the input of a custom tool. */
  readonly text: string;
  readonly isCustom: boolean;
}

const none: readonly never[] = [];
const silence: WireObject = {};

/** Reads a message or a delta. */
export function readOutput(wire: WireObject): Output {
  const { content, tool_calls: calls, function_call: legacy, reasoning_details: details } = wire;
  // Nearly every delta is text: allocate nothing for absent members.
  const parts = Array.isArray(content) ? objects(content) : none;
  const reasoning = reasoningText(wire);
  const sound = wire["audio"] === undefined ? silence : objectOf(wire["audio"]);
  return {
    texts: contentTexts(content),
    reasoning: parts.length > 0 ? reasoning + thinkingText(parts) : reasoning,
    details: details === undefined ? none : objects(details),
    refusal: (nonEmpty(wire["refusal"]) ?? "") + (parts.length > 0 ? refusalIn(parts) : ""),
    citations: wire["annotations"] === undefined ? none : decodeAnnotations(wire["annotations"]),
    images:
      wire["images"] === undefined && parts.length === 0
        ? none
        : [...list(wire["images"]), ...parts.filter(({ type }) => type === "image_url")],
    transcript: nonEmpty(sound["transcript"]) ?? "",
    soundCharacters: nonEmpty(sound["data"])?.length ?? 0,
    calls: calls === undefined && !isObject(legacy) ? none : callPieces(calls, legacy),
  };
}

function contentTexts(content: unknown): readonly string[] {
  if (typeof content === "string") return content === "" ? none : [content];
  return list(content).flatMap((part) => nonEmpty(objectOf(part)["text"]) ?? []);
}

const refusalIn = (parts: readonly WireObject[]): string =>
  parts.map((part) => nonEmpty(part["refusal"]) ?? "").join("");

const thinkingText = (content: readonly unknown[]): string =>
  thinkingParts(content)
    .map((part) => (part.type === "reasoning" ? part.text : ""))
    .join("");

function callPieces(calls: unknown, legacy: unknown): CallPiece[] {
  const pieces = objects(calls).map(readCall);
  if (isObject(legacy)) pieces.push(readCall({ index: -1, function: legacy }));
  return pieces;
}

function readCall(wire: WireObject): CallPiece {
  const isCustom = !isObject(wire["function"]) && isObject(wire["custom"]);
  const named = objectOf(wire[isCustom ? "custom" : "function"]);
  const written = named["arguments"] ?? named["input"] ?? "";
  return {
    index: numberOf(wire["index"]),
    id: nonEmpty(wire["id"]),
    name: nonEmpty(named["name"]),
    text: typeof written === "string" ? written : exactText(written),
    isCustom,
  };
}

/** Returns all texts that count as output: text, reasoning, refusal, transcript, tool names and arguments. */
export function outputTexts({ texts, reasoning, refusal, transcript, calls }: Output): string[] {
  const all = [...texts, reasoning, refusal, transcript];
  for (const { name, text } of calls) all.push(name ?? "", text);
  return all;
}

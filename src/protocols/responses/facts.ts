/** Facts of a responses request or answer for routing, reservation and metering, read without decoding it. */
import { isObject, type WireObject } from "../../base/json.ts";
import type { CallFacts } from "../codec.ts";
import { jsonCharacters, textCharacters, textInDataUrl } from "../count-text.ts";
import { asksForImageTool } from "../image-tool.ts";
import { list, nonEmpty } from "../read.ts";
import { isSearchTool, usesAllowed, usesToReserve, xUses } from "../tool-uses.ts";
import { isSealed } from "./agent-message.ts";

interface Size {
  characters: number;
  media: number;
  /** Files among the media. */
  files: number;
}

const codeTools: ReadonlySet<unknown> = new Set(["code_interpreter", "code_execution"]);

/** Reads the facts of a validated request. */
export function readFacts(body: WireObject): CallFacts {
  const size: Size = { characters: 0, media: 0, files: 0 };
  for (const value of [body["instructions"], body["input"], body["tools"], body["text"]]) {
    addValue(value, size);
  }
  const max = body["max_tool_calls"];
  const reserved = (isTool: (tool: WireObject) => boolean): number =>
    usesToReserve(isTool, body["tools"], max);
  const maximum = body["max_output_tokens"];
  return {
    maxOutputTokens: typeof maximum === "number" ? maximum : undefined,
    answers: 1,
    session: nonEmpty(body["prompt_cache_key"]) ?? nonEmpty(body["user"]),
    inputCharacters: size.characters,
    inputMedia: size.media,
    toolUses: {
      webSearches: reserved(isSearchTool),
      fileSearches: reserved(({ type }) => type === "file_search"),
      attachmentSearches: size.files > 0 ? usesAllowed(max) : 0,
      codeRuns: reserved(({ type }) => codeTools.has(type)),
      ...xUses(reserved(({ type }) => type === "x_search")),
    },
    imageTool: asksForImageTool(body["tools"]),
  };
}

const mediaTypes = new Set([
  "input_image",
  "input_file",
  "input_audio",
  "computer_screenshot",
  "image_generation_call",
]);
// The model does not read these as text; the vendor's usage counts encrypted content.
const opaqueKeys = new Set(["encrypted_content", "type", "id", "status"]);

function addValue(value: unknown, size: Size): void {
  if (typeof value === "string") size.characters += textCharacters(value);
  else if (Array.isArray(value)) for (const item of value) addValue(item, size);
  else if (isObject(value)) addObject(value, size);
}

function addObject(value: WireObject, size: Size): void {
  const type = value["type"];
  if (typeof type === "string" && mediaTypes.has(type)) {
    size.media += 1;
    if (type === "input_file") size.files += 1;
    size.characters += textInDataUrl(value["file_data"]);
  } else if (type === "function" || type === "json_schema") {
    // The names in a schema are most of it.
    size.characters += jsonCharacters(value);
  } else if (type === "encrypted_content" && !isSealed(value["encrypted_content"])) {
    // A task of another vendor's agent, in plain text.
    addValue(value["encrypted_content"], size);
  } else {
    for (const key in value) if (!opaqueKeys.has(key)) addValue(value[key], size);
  }
}

/** Returns the output text of a whole answer: text, refusals, reasoning, tool names and arguments. */
export function answerText(answer: WireObject): string {
  return list(answer["output"])
    .filter(isObject)
    .flatMap(itemTexts)
    .filter((text) => typeof text === "string")
    .join("");
}

function itemTexts(item: WireObject): unknown[] {
  const parts = [...list(item["content"]), ...list(item["summary"])].filter(isObject);
  return [
    ...parts.map((part) => part["text"] ?? part["refusal"]),
    item["name"],
    item["arguments"],
    item["input"],
  ];
}

/** Decodes and encodes the whole answer of Converse, which has no id, time or model. */
import { exactText } from "../../base/exact-numbers.ts";
import type { Citation, JsonObject, MediaPart, Part } from "../canonical/request.ts";
import { reasonWithCalls, type CanonicalResponse, type Finish } from "../canonical/response.ts";
import type { WireError } from "../codec.ts";
import { callId } from "../call-id.ts";
import { citationOf, fileCitationOf } from "../citations.ts";
import { member, nonEmpty, objectOf, objects, lookUp } from "../read.ts";
import type { WireObject } from "../../base/json.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { decodeError } from "./errors.ts";
import { decodeUsage, encodeUsage } from "./usage.ts";

const blocksOf = (body: JsonObject): WireObject[] =>
  objects(objectOf(objectOf(body["output"])["message"])["content"]);

/** Returns why a body with a success status is no answer; undefined for an answer. */
export const answerFailure = (body: JsonObject): WireError | undefined =>
  Array.isArray(objectOf(objectOf(body["output"])["message"])["content"])
    ? undefined
    : decodeError(502, body);

/** Decodes an upstream's answer. */
export function decodeResponse(body: JsonObject): CanonicalResponse {
  const content = blocksOf(body).flatMap(decodeBlock);
  const usage = decodeUsage(body["usage"]);
  const hasCalls = content.some(({ type }) => type === "tool_call");
  return {
    protocol: "converse",
    id: "",
    createdAt: 0,
    content,
    finish: decodeFinish(body["stopReason"], hasCalls),
    ...(usage ? { usage } : {}),
  };
}

/** Returns a tool call's id and name; made up or empty if the vendor omits them. */
export const nameOfCall = ({ toolUseId, name }: WireObject, index: number) => ({
  id: nonEmpty(toolUseId) ?? callId("", index),
  name: nonEmpty(name) ?? "",
});

/** Signatures are left out: no caller's protocol could send them back. Redacted reasoning has nothing else. */
function decodeBlock(block: WireObject, index: number): Part[] {
  if (typeof block["text"] === "string") return [{ type: "text", text: block["text"] }];
  if ("toolUse" in block) {
    const call = objectOf(block["toolUse"]);
    if (isServerToolUse(call)) return [];
    const json = exactText(call["input"] ?? {});
    return [{ type: "tool_call", ...nameOfCall(call, index), arguments: json }];
  }
  if ("citationsContent" in block) return decodeCited(objectOf(block["citationsContent"]));
  if ("image" in block) return decodePicture(objectOf(block["image"]));
  if (!("reasoningContent" in block)) return [];
  const { text } = objectOf(objectOf(block["reasoningContent"])["reasoningText"]);
  return typeof text === "string" ? [{ type: "reasoning", text }] : [];
}

/** True for a call of a tool that the vendor runs itself: the caller cannot answer it. */
export const isServerToolUse = ({ type }: WireObject): boolean => type === "server_tool_use";

/** A picture that the model made. */
function decodePicture({ format, source }: WireObject): Part[] {
  const data = nonEmpty(objectOf(source)["bytes"]);
  return data === undefined ? [] : [pictureOf(format, data)];
}

export const pictureOf = (format: unknown, data: string): MediaPart => ({
  type: "media",
  media: "image",
  source: { kind: "base64", mediaType: `image/${nonEmpty(format) ?? "png"}`, data },
});

const textOfPieces = (pieces: unknown): string =>
  objects(pieces)
    .map((piece) => nonEmpty(piece["text"]) ?? "")
    .join("");

/** Decodes a text with the pages that it cites, as Amazon's own search reports them. */
function decodeCited({ content, citations }: WireObject): Part[] {
  const text = textOfPieces(content);
  const cited = objects(citations).flatMap(decodeCitation);
  if (text === "") return [];
  return [{ type: "text", text, ...(cited.length > 0 ? { citations: cited } : {}) }];
}

/** Decodes a citation of a page, or of a document in the request, which has no address. */
export function decodeCitation({ title, source, sourceContent, location }: WireObject): Citation[] {
  const { web, documentChar, documentPage, documentChunk } = objectOf(location);
  const { url } = objectOf(web);
  const quote = textOfPieces(sourceContent);
  const pages = citationOf(url ?? source, { title, quote });
  if (pages.length > 0) return pages;
  const { documentIndex: index } = objectOf(documentChar ?? documentPage ?? documentChunk);
  return fileCitationOf(undefined, { title, quote, index });
}

const reasonByWire: Readonly<Record<string, Finish["reason"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
  malformed_model_output: "error",
  malformed_tool_use: "error",
};

/** Decodes the stop reason. The presence of calls decides between a plain or unknown reason and `tool_calls`. */
export function decodeFinish(reason: unknown, hasCalls: boolean): Finish {
  if (typeof reason !== "string") return { reason: reasonWithCalls("stop", hasCalls) };
  const canonicalReason = lookUp(reasonByWire, reason) ?? "stop";
  return { reason: reasonWithCalls(canonicalReason, hasCalls), raw: reason };
}

const wireByReason: Readonly<Record<Finish["reason"], string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "content_filtered",
  error: "malformed_model_output",
};

/** Encodes an answer in the vendor's shape, for a stream that has to become a whole answer. */
export function encodeResponse({ content, finish, usage }: CanonicalResponse): JsonObject {
  const { reason, raw } = finish;
  const isOwn = raw !== undefined && Object.hasOwn(reasonByWire, raw);
  return {
    output: { message: { role: "assistant", content: content.flatMap(encodeBlock) } },
    stopReason: isOwn ? raw : wireByReason[reason],
    ...(usage ? { usage: encodeUsage(usage) } : {}),
  };
}

function encodeBlock(part: Part): JsonObject[] {
  switch (part.type) {
    case "text":
    case "refusal":
      if (part.text === "") return [];
      return part.type === "text" && part.citations
        ? [encodeCited(part.text, part.citations)]
        : [{ text: part.text }];
    case "media":
      return encodePicture(part);
    case "reasoning":
      return part.text === "" ? [] : [{ reasoningContent: { reasoningText: { text: part.text } } }];
    case "tool_call": {
      const input = argumentsObject(part.arguments);
      return [{ toolUse: { toolUseId: part.id, name: part.name, input } }];
    }
    default:
      return [];
  }
}

const encodeCited = (text: string, citations: readonly Citation[]): JsonObject => ({
  citationsContent: {
    content: [{ text }],
    citations: citations.map(({ title, quote, ...of }) => ({
      ...member("title", title),
      ...(quote === undefined ? {} : { sourceContent: [{ text: quote }] }),
      location: placeOf(of),
    })),
  },
});

const placeOf = ({ file, url }: Pick<Citation, "file"> & { readonly url?: string }): JsonObject =>
  file
    ? { documentChar: { documentIndex: file.index ?? 0, start: 0, end: 0 } }
    : { web: member("url", url) };

function encodePicture({ source }: MediaPart): JsonObject[] {
  if (source.kind !== "base64") return [];
  const format = source.mediaType.replace(/^image\//, "");
  return [{ image: { format, source: { bytes: source.data } } }];
}

/** Returns the text of a whole answer, for an estimate if usage is missing. */
export const answerText = (body: JsonObject): string =>
  blocksOf(body)
    .flatMap(decodeBlock)
    .map((part) => ("text" in part ? part.text : "arguments" in part ? part.arguments : ""))
    .join("");

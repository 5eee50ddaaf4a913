/**
 * Decodes and encodes content blocks of the messages protocol. Requirements: CONV. Kinds that only this protocol has (server tools and
 * their results) are native fields.
 */
import { exactText } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { registeredType } from "../../base/media-types.ts";
import { keepMarker, markerOf } from "../cache-marker.ts";
import type {
  CacheBreakpoint,
  JsonObject,
  MediaSource,
  NativeField,
  Part,
  ToolResultPart,
} from "../canonical/request.ts";
import { keepUnknown, keepUnknownIn } from "../native.ts";
import { objectOf } from "../read.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { decodeThinking, encodeThinking } from "./thinking.ts";

type MediaPart = Extract<Part, { type: "media" }>;

const knownFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(["type", "text", "cache_control"]),
  image: new Set(["type", "source", "cache_control"]),
  document: new Set(["type", "source", "title", "context", "cache_control"]),
  search_result: new Set(["type", "source", "title", "content", "cache_control"]),
  tool_use: new Set(["type", "id", "name", "input", "cache_control"]),
  tool_result: new Set(["type", "tool_use_id", "content", "is_error", "cache_control"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
};

/**
 * Decodes a message's content. `param` is its path; parts and members that no other protocol knows are added to `native` under their own
 * paths.
 */
export function decodeContent(
  content: unknown,
  param: string,
  native: NativeField[],
  kinds?: ReadonlySet<unknown>,
): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  const parts: Part[] = [];
  for (const [index, block] of content.entries()) {
    if (!isObject(block)) continue;
    const name = `${param}[${index}]`;
    const isRead = kinds === undefined || kinds.has(block["type"]);
    const part = isRead ? decodeBlock(block, name, native) : undefined;
    if (part) {
      parts.push(part);
      keepRest(block, name, native);
    } else native.push({ param: name, value: block });
  }
  return parts;
}

const innerKinds = new Set(["text", "image", "document", "search_result"]);

/** The same for tool results and the system prompt, where no other kind has a meaning. */
export const decodeInner = (content: unknown, param: string, native: NativeField[]): Part[] =>
  decodeContent(content, param, native, innerKinds);

/** The members that are read, by kind of source. */
const sourceFields: Readonly<Record<string, ReadonlySet<string>>> = {
  base64: new Set(["type", "media_type", "data"]),
  text: new Set(["type", "media_type", "data"]),
  url: new Set(["type", "url"]),
  file: new Set(["type", "file_id"]),
  content: new Set(["type", "content"]),
};

/** Notes the members of a decoded block that no other protocol knows. */
function keepRest(block: WireObject, name: string, native: NativeField[]): void {
  const fields = knownFields[String(block["type"])]!;
  keepUnknown(block, fields, name, native);
  if (fields.has("cache_control")) keepMarker(block, name, native);
  const { source } = block;
  const known = isObject(source) ? sourceFields[String(source["type"])] : undefined;
  if (known && fields.has("source"))
    keepUnknownIn(block, "source", { known, prefix: name, native });
}

function decodeBlock(block: WireObject, param: string, native: NativeField[]): Part | undefined {
  const cache = markerOf(block);
  const cached = cache === undefined ? {} : { cache };
  switch (block["type"]) {
    case "text":
      return { type: "text", text: text(block["text"]), ...cached };
    case "image":
    case "document":
      return decodeMedia(block, cached, { param, native });
    case "search_result": {
      const source = decodePieces(block["content"], `${param}.content`, native);
      const named = { address: text(block["source"]), filename: text(block["title"]) };
      return source && { type: "media", media: "file", source, ...named, ...cached };
    }
    case "tool_use":
      return {
        type: "tool_call",
        id: text(block["id"]),
        name: text(block["name"]),
        arguments: exactText(block["input"] ?? {}),
        ...cached,
      };
    case "tool_result":
      return {
        type: "tool_result",
        callId: text(block["tool_use_id"]),
        content: decodeInner(block["content"], `${param}.content`, native),
        ...(block["is_error"] === true ? { isError: true } : {}),
        ...cached,
      };
    case "thinking":
    case "redacted_thinking":
      return decodeThinking(block);
    default:
      return undefined;
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Decodes the texts and pictures of a document; undefined if it has no list of them. */
function decodePieces(
  content: unknown,
  param: string,
  native: NativeField[],
): MediaSource | undefined {
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const all = decodeContent(content, param, native, pieceKinds);
  const parts = all.filter((part) => part.type === "text" || part.type === "media");
  return { kind: "parts", parts };
}

const pieceKinds = new Set(["text", "image"]);

/** The path of a block, and the list that collects its unread members. */
interface Place {
  readonly param: string;
  readonly native: NativeField[];
}

function decodeMedia(
  block: WireObject,
  cached: { cache?: CacheBreakpoint },
  { param, native }: Place,
): MediaPart | undefined {
  const isImage = block["type"] === "image";
  const { type, content } = objectOf(block["source"]);
  const source =
    type === "content" && !isImage
      ? decodePieces(content, `${param}.source.content`, native)
      : decodeSource(block["source"], isImage);
  if (!source) return undefined;
  const { title, context } = block;
  return {
    type: "media",
    media: isImage ? "image" : "file",
    source,
    ...(typeof title === "string" ? { filename: title } : {}),
    ...(typeof context === "string" ? { context } : {}),
    ...cached,
  };
}

function decodeSource(wire: unknown, isImage: boolean): MediaSource | undefined {
  if (!isObject(wire)) return undefined;
  switch (wire["type"]) {
    case "base64":
      return {
        kind: "base64",
        mediaType: registeredType(text(wire["media_type"])),
        data: text(wire["data"]),
      };
    case "text": {
      const data = Buffer.from(text(wire["data"]), "utf8").toString("base64");
      return { kind: "base64", mediaType: "text/plain", data };
    }
    case "url":
      return isImage
        ? { kind: "url", url: text(wire["url"]) }
        : { kind: "url", url: text(wire["url"]), mediaType: "application/pdf" };
    case "file":
      return { kind: "file_id", fileId: text(wire["file_id"]) };
    default:
      return undefined;
  }
}

/** Encodes canonical parts as blocks. Parts that the protocol cannot carry are left out; `fit` has noted them. */
export function encodeContent(parts: readonly Part[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    const block = encodePart(part);
    if (!block) continue;
    if ("cache" in part && part.cache) block["cache_control"] = encodeCache(part.cache);
    blocks.push(block);
  }
  return blocks;
}

function encodePart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      // The vendor refuses empty text blocks (T25).
      return part.text === "" ? undefined : { type: "text", text: part.text };
    case "media":
      return encodeMedia(part);
    case "tool_call":
      return {
        type: "tool_use",
        id: toolId(part.id),
        name: part.name,
        input: argumentsObject(part.arguments),
      };
    case "tool_result":
      return encodeToolResult(part);
    case "reasoning":
      return encodeThinking(part);
  }
}

/** The vendor accepts only letters, digits, "_" and "-"; call and result get the same id. */
const toolId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, "_");

function encodeToolResult(part: ToolResultPart): JsonObject {
  const block: JsonObject = {
    type: "tool_result",
    tool_use_id: toolId(part.callId),
    content: encodeContent(part.content),
  };
  if (part.isError === true) block["is_error"] = true;
  return block;
}

export function encodeCache({ ttl }: CacheBreakpoint): JsonObject {
  return ttl === undefined ? { type: "ephemeral" } : { type: "ephemeral", ttl };
}

function encodeMedia(part: MediaPart): JsonObject | undefined {
  if (part.address !== undefined) return encodeResult(part, part.address);
  if (part.media !== "image" && part.media !== "file") return undefined;
  const type = part.media === "image" ? "image" : "document";
  const block: JsonObject = { type, source: encodeSource(part.source, part.media === "file") };
  if (type === "document" && part.filename !== undefined) block["title"] = part.filename;
  if (type === "document" && part.context !== undefined) block["context"] = part.context;
  return block;
}

function encodeResult({ source, filename = "" }: MediaPart, address: string): JsonObject {
  const content = source.kind === "parts" ? encodeContent(source.parts) : [];
  return { type: "search_result", source: address, title: filename, content };
}

function encodeSource(source: MediaSource, isFile: boolean): JsonObject {
  switch (source.kind) {
    case "base64":
      return isFile && source.mediaType === "text/plain"
        ? {
            type: "text",
            media_type: "text/plain",
            data: Buffer.from(source.data, "base64").toString("utf8"),
          }
        : { type: "base64", media_type: source.mediaType, data: source.data };
    case "url":
      return { type: "url", url: source.url };
    case "file_id":
      return { type: "file", file_id: source.fileId };
    case "parts":
      return { type: "content", content: encodeContent(source.parts) };
  }
}

/** Parts of a generateContent message, written from canonical parts. T22, T25, T27, T38. */
import type {
  JsonObject,
  MediaSource,
  Part,
  ReasoningPart,
  Signature,
  ToolCallPart,
  ToolResultPart,
} from "../canonical/request.ts";
import { argumentsObject, objectIn } from "../tool-arguments.ts";
import { isFileStoreUri, skipSignature } from "./limits.ts";
import { madeUpPrefix } from "./open-calls.ts";

export interface EncodeContext {
  /** What of a model's turn without a signature gets the vendor's word that none is to be asked for. */
  readonly skipsSignature: "nothing" | "first call" | "all it said";
  readonly namesById: ReadonlyMap<string, string>;
  /** Whether addresses come from a caller of this protocol, who knows what the vendor can read. */
  readonly takesAnyUri: boolean;
}

/** The contents of a user's turn. Older models refuse media within a result: there it follows in a content of its own, with its origin. */
export function encodeUserTurn(
  parts: readonly Part[],
  context: EncodeContext,
  nestsMedia: boolean,
): JsonObject[] {
  const content = (said: readonly Part[]): JsonObject => ({
    role: "user",
    parts: encodeParts(said, context),
  });
  const results = parts.filter((part) => part.type === "tool_result");
  const returned = nestsMedia ? [] : results.flatMap((result) => mediaOf(result, context));
  if (returned.length === 0) return [content(parts)];
  const isMedia = ({ type }: Part): boolean => type === "media";
  const bare = results.map((result) => ({
    ...result,
    content: result.content.filter((part) => !isMedia(part)),
  }));
  return [
    content(bare),
    content([...returned, ...parts.filter(({ type }) => type !== "tool_result")]),
  ];
}

function mediaOf(result: ToolResultPart, { namesById }: EncodeContext): Part[] {
  const media = result.content.filter(({ type }) => type === "media");
  if (media.length === 0) return [];
  const name = namesById.get(result.callId) ?? result.name ?? result.callId;
  return [{ type: "text", text: `Returned by ${name}:` }, ...media];
}

/** What the protocol cannot carry is left out; `fit` has noted it. */
export function encodeParts(parts: readonly Part[], context: EncodeContext): JsonObject[] {
  const wire: JsonObject[] = [];
  // A signature without text belongs to the part after it, or stands in a part of its own (T38).
  let waiting: string | undefined;
  for (const part of parts) {
    const signature = loneSignature(part);
    const encoded = signature === undefined ? encodePart(part, context) : undefined;
    if (signature === undefined && !encoded) continue;
    const joins = part.type === "text" || part.type === "media";
    if (encoded && joins && waiting !== undefined) encoded["thoughtSignature"] = waiting;
    else if (waiting !== undefined) wire.push({ text: "", thoughtSignature: waiting });
    waiting = signature;
    if (encoded) wire.push(encoded);
  }
  if (waiting !== undefined) wire.push({ text: "", thoughtSignature: waiting });
  if (context.skipsSignature !== "nothing") signFirstCall(wire);
  if (context.skipsSignature === "all it said") signSpoken(wire);
  return wire;
}

/** The signature of a reasoning part that has nothing else. */
function loneSignature(part: Part): string | undefined {
  return part.type === "reasoning" && part.text === "" ? ownValue(part.signature) : undefined;
}

/**
 * The vendor asks for a signature on the first call of a turn only; a real one stays. So the answers of other vendors have the word
 * too: their calls may go on to this one.
 */
export function signFirstCall(wire: readonly JsonObject[]): void {
  const first = wire.find((part) => "functionCall" in part);
  if (first) first["thoughtSignature"] ??= skipSignature;
}

/** A model that makes pictures asks for one on every text and picture of its own. Of a file it takes none. */
function signSpoken(wire: readonly JsonObject[]): void {
  for (const part of wire) {
    if ("text" in part || "inlineData" in part) part["thoughtSignature"] ??= skipSignature;
  }
}

/** The value of a signature of this protocol; another's would be refused. */
export const ownValue = (signature: Signature | undefined): string | undefined =>
  signature?.protocol === "generate_content" ? signature.value : undefined;

function encodePart(part: Part, context: EncodeContext): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? undefined : { text: part.text };
    case "media":
      return encodeSource(part.source, context.takesAnyUri);
    case "reasoning":
      return encodeReasoning(part);
    case "tool_call":
      return encodeCall(part);
    case "tool_result":
      return encodeResult(part, context);
  }
}

/** Thoughts go back only with the signature that proves them. */
function encodeReasoning({ text, signature }: ReasoningPart): JsonObject | undefined {
  const value = ownValue(signature);
  return value === undefined ? undefined : { text, thought: true, thoughtSignature: value };
}

/** A call as the vendor writes it; an id we made up is left out. */
export function encodeCall({ id, name, arguments: json, signature }: ToolCallPart): JsonObject {
  const call: JsonObject = { name, args: argumentsObject(json) };
  if (!id.startsWith(madeUpPrefix)) call["id"] = id;
  const value = ownValue(signature);
  return value === undefined
    ? { functionCall: call }
    : { functionCall: call, thoughtSignature: value };
}

function encodeResult(part: ToolResultPart, { namesById, takesAnyUri }: EncodeContext): JsonObject {
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const piece of part.content) {
    if (piece.type === "text") texts.push(piece.text);
    else if (piece.type === "media") {
      const encoded = encodeSource(piece.source, takesAnyUri);
      if (encoded) media.push(encoded);
    }
  }
  const response: JsonObject = {
    name: namesById.get(part.callId) ?? part.name ?? part.callId,
    response: resultObject(texts.join("\n"), part.isError === true),
  };
  if (!part.callId.startsWith(madeUpPrefix)) response["id"] = part.callId;
  if (media.length > 0) response["parts"] = media;
  return { functionResponse: response };
}

/** The vendor wants an object: a result that is one goes as it is, any other text under `output` or `error`. */
function resultObject(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  return objectIn(text) ?? { output: text };
}

/** Base64 goes inline, an address as a file if the vendor can read it: media anywhere else is lost (CONV-518). */
export function encodeSource(source: MediaSource, takesAnyUri: boolean): JsonObject | undefined {
  switch (source.kind) {
    case "base64":
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case "url":
      if (!takesAnyUri && !isFileStoreUri(source.url)) return undefined;
      return source.mediaType === undefined
        ? { fileData: { fileUri: source.url } }
        : { fileData: { mimeType: source.mediaType, fileUri: source.url } };
    case "file_id":
    case "parts":
      // Another vendor's file store, and a document that has become its parts.
      return undefined;
  }
}

/** Encodes canonical parts as parts of a generateContent message. T22, T25, T27, T38. */
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
import { skipSignature } from "../skip-signature.ts";
import { isFileStoreUri } from "./limits.ts";
import { generatedIdPrefix } from "./open-calls.ts";

export interface EncodeContext {
  /** The unsigned parts of a model turn that get the vendor's marker in place of a signature. */
  readonly skipsSignature: "nothing" | "first call" | "all it said";
  readonly namesById: ReadonlyMap<string, string>;
  /** True if addresses come from a caller of this protocol, who knows which ones the vendor can read. */
  readonly takesAnyUri: boolean;
}

/**
 * Encodes a user turn as contents. Tool results are a content of their own: Gemini 3.6 and later refuse anything else beside them ("Requests
 * ending with a model turn are not supported"). Older models refuse media in a result: they follow in the next content, with their origin.
 */
export function encodeUserTurn(
  parts: readonly Part[],
  context: EncodeContext,
  nestsMedia: boolean,
): JsonObject[] {
  const results = parts.filter((part) => part.type === "tool_result");
  const returned = nestsMedia ? [] : results.flatMap((result) => mediaOf(result, context));
  const answers = returned.length === 0 ? results : results.map(withoutMedia);
  const others = [...returned, ...parts.filter(({ type }) => type !== "tool_result")];
  return [answers, others].flatMap((said) =>
    said.length === 0 ? [] : [{ role: "user", parts: encodeParts(said, context) }],
  );
}

const withoutMedia = (result: ToolResultPart): ToolResultPart => ({
  ...result,
  content: result.content.filter(({ type }) => type !== "media"),
});

function mediaOf(result: ToolResultPart, { namesById }: EncodeContext): Part[] {
  const media = result.content.filter(({ type }) => type === "media");
  if (media.length === 0) return [];
  const name = namesById.get(result.callId) ?? result.name ?? result.callId;
  return [{ type: "text", text: `Returned by ${name}:` }, ...media];
}

/** Encodes parts. Parts that the protocol cannot carry are left out; `fit` has noted them. */
export function encodeParts(parts: readonly Part[], context: EncodeContext): JsonObject[] {
  const wire: JsonObject[] = [];
  // A signature without text belongs to the next part, or stands in its own part (T38).
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
  if (context.skipsSignature !== "nothing") signFirstCall(wire, skipSignature);
  if (context.skipsSignature === "all it said") signAllContent(wire);
  return wire;
}

/** Returns the signature of a reasoning part that has nothing else. */
function loneSignature(part: Part): string | undefined {
  return part.type === "reasoning" && part.text === "" ? signatureValue(part.signature) : undefined;
}

/**
 * Adds the marker to an unsigned first call: the vendor requires a signature only there. Answers of other vendors get it too, because their
 * calls may be sent to this vendor later.
 */
export function signFirstCall(wire: readonly JsonObject[], marker: string): void {
  const first = wire.find((part) => "functionCall" in part);
  if (first) first["thoughtSignature"] ??= marker;
}

/** Picture models require a signature on each text and picture of their own. They accept none on a file. */
function signAllContent(wire: readonly JsonObject[]): void {
  for (const part of wire) {
    if ("text" in part || "inlineData" in part) part["thoughtSignature"] ??= skipSignature;
  }
}

/** Returns the value of a signature of this protocol; the vendor would refuse others. */
export const signatureValue = (signature: Signature | undefined): string | undefined =>
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

/** Thoughts are sent back only with their signature. */
function encodeReasoning({ text, signature }: ReasoningPart): JsonObject | undefined {
  const value = signatureValue(signature);
  return value === undefined ? undefined : { text, thought: true, thoughtSignature: value };
}

/** Encodes a call. Ids that the gateway made up are left out. */
export function encodeCall({ id, name, arguments: json, signature }: ToolCallPart): JsonObject {
  const call: JsonObject = { name, args: argumentsObject(json) };
  if (!id.startsWith(generatedIdPrefix)) call["id"] = id;
  const value = signatureValue(signature);
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
  if (!part.callId.startsWith(generatedIdPrefix)) response["id"] = part.callId;
  if (media.length > 0) response["parts"] = media;
  return { functionResponse: response };
}

/** The vendor requires an object: a result that is one stays, any other text goes under `output` or `error`. */
function resultObject(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  return objectIn(text) ?? { output: text };
}

/** Encodes base64 inline, and an address as a file if the vendor can read it; undefined for other media, which is lost (CONV-518). */
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
      // A file at another vendor, or a document that has already become its parts.
      return undefined;
  }
}

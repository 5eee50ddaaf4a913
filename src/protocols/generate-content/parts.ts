/**
 * Decodes parts of a generateContent message into canonical parts. Requirements: CONV, T21, T22, T27, T38. Calls without an id get one from
 * their position, so that results find them and ids never collide.
 */
import { exactText } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { registeredType } from "../../base/media-types.ts";
import { plainBase64 } from "../../base/plain-base64.ts";
import type {
  MediaPart,
  MediaSource,
  NativeField,
  Part,
  Signature,
  ToolResultPart,
} from "../canonical/request.ts";
import { keepUnknown } from "../native.ts";
import { list, nonEmpty, objectOf } from "../read.ts";
import { argumentsText } from "../tool-arguments.ts";
import { isSkipSignature } from "../skip-signature.ts";
import { read, spelling, spellings } from "./names.ts";
import { generatedIdPrefix, type OpenCalls } from "./open-calls.ts";

const signed = ["thoughtSignature"];

/** The members that are read, by kind of data. */
const knownByData: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "thought", ...signed],
  inlineData: ["inlineData", "text", ...signed],
  fileData: ["fileData", "text", ...signed],
  functionCall: ["functionCall", "text", ...signed],
  functionResponse: ["functionResponse", "text"],
};

/** The members that are read in each kind of data. */
const knownWithin: Readonly<Record<string, readonly string[]>> = {
  inlineData: ["mimeType", "data"],
  fileData: ["mimeType", "fileUri"],
  functionCall: ["id", "name", "args"],
  functionResponse: ["id", "name", "response", "parts"],
};

interface Context {
  readonly native: NativeField[];
  readonly calls: OpenCalls;
  readonly place: string;
}

/** Decodes the parts of one content. `param` is their path; `place` makes ids unique. */
export function decodeParts(wire: unknown, param: string, context: Context): Part[] {
  const parts: Part[] = [];
  for (const [index, part] of list(wire).entries()) {
    if (!isObject(part)) continue;
    const name = `${param}[${index}]`;
    const decoded = decodePart(part, {
      ...context,
      param: name,
      place: `${context.place}_${index}`,
    });
    if (!decoded) {
      context.native.push({ param: name, value: part });
      continue;
    }
    const { data } = decoded;
    // Google itself takes one kind of data only. Words beside it are the caller's own all the same.
    const words = data === "text" ? undefined : nonEmpty(part["text"]);
    if (words !== undefined) parts.push({ type: "text", text: words });
    parts.push(...decoded.parts);
    keepRest(part, { data, known: knownByData[data]! }, name, context.native);
  }
  return parts;
}

/** The data field of a part, and the members of the part that are read. */
interface PartRead {
  readonly data: string;
  readonly known: readonly string[];
}

/** Notes the members of a decoded part that no other protocol knows. */
function keepRest(
  part: WireObject,
  { data, known }: PartRead,
  name: string,
  native: NativeField[],
): void {
  keepUnknown(part, spellings(part, known), name, native);
  const key = spelling(part, data);
  const within = knownWithin[data];
  const held = objectOf(part[key]);
  if (within) keepUnknown(held, spellings(held, within), `${name}.${key}`, native);
}

interface Decoded {
  /** The part's data field. */
  readonly data: string;
  readonly parts: readonly Part[];
}

function decodePart(
  part: WireObject,
  context: Context & { readonly param: string },
): Decoded | undefined {
  const signature = signatureOf(part);
  const call = read(part, "functionCall");
  if (isObject(call)) {
    return { data: "functionCall", parts: [decodeCall(call, signature, context)] };
  }
  const response = read(part, "functionResponse");
  if (isObject(response)) {
    const param = `${context.param}.${spelling(part, "functionResponse")}`;
    return { data: "functionResponse", parts: [decodeResult(response, { ...context, param })] };
  }
  const media = decodeMedia(part);
  if (media) return { data: media.data, parts: withSignature(media.part, signature) };
  if (typeof part["text"] === "string") {
    return { data: "text", parts: decodeText(part, part["text"], signature) };
  }
  // A part with only a signature (T38). Beside data that is not decoded, the signature belongs to that data.
  if (!signature || hasUnknownData(part)) return undefined;
  return { data: "text", parts: decodeText(part, "", signature) };
}

/** Members that accompany a part's data. */
const besideData = new Set(["thought", "thoughtSignature", "thought_signature", "text"]);

/** True if a part has data without a canonical form, such as a step of the vendor's own tools. */
export const hasUnknownData = (part: WireObject): boolean =>
  Object.keys(part).some((key) => !besideData.has(key) && isObject(part[key]));

/** Returns the signature of a part. The marker in its place does not count. */
export function signatureOf(part: WireObject): Signature | undefined {
  const value = nonEmpty(read(part, "thoughtSignature"));
  return value === undefined || isSkipSignature(value)
    ? undefined
    : { protocol: "generate_content", value };
}

function decodeText(part: WireObject, text: string, signature: Signature | undefined): Part[] {
  if (part["thought"] === true) {
    return [signature ? { type: "reasoning", text, signature } : { type: "reasoning", text }];
  }
  if (text === "" && signature) return [{ type: "reasoning", text: "", signature }];
  return withSignature({ type: "text", text }, signature);
}

/** A signature on a part of the answer becomes an empty reasoning part before it; the encoder joins them again. */
function withSignature(part: Part, signature: Signature | undefined): Part[] {
  return signature ? [{ type: "reasoning", text: "", signature }, part] : [part];
}

function decodeCall(
  call: WireObject,
  signature: Signature | undefined,
  { place, calls }: Context,
): Part {
  const id =
    typeof call["id"] === "string" && call["id"] !== ""
      ? call["id"]
      : `${generatedIdPrefix}${place}`;
  const name = typeof call["name"] === "string" ? call["name"] : "";
  calls.add(id, name);
  const json = argumentsText(call["args"]);
  return signature
    ? { type: "tool_call", id, name, arguments: json, signature }
    : { type: "tool_call", id, name, arguments: json };
}

/** Decodes a result. It finds its call by id, otherwise by name and order (T22); without a call it keeps its own id and name. */
function decodeResult(
  wire: WireObject,
  { native, calls, param }: Context & { readonly param: string },
): ToolResultPart {
  const { id, name } = wire;
  const ownId = text(id);
  const called = text(name);
  const call = calls.take(ownId, called);
  const callId = call?.id ?? (ownId === "" ? `${generatedIdPrefix}lost` : ownId);
  const content: Part[] = [];
  const result = resultText(wire["response"]);
  const place = `${param}.parts`;
  if (result.text !== "") content.push({ type: "text", text: result.text });
  for (const [index, part] of list(wire["parts"]).entries()) {
    const media = isObject(part) ? decodeMedia(part) : undefined;
    if (media && isObject(part)) {
      content.push(media.part);
      // A tool's picture cannot have a signature.
      const read = { data: media.data, known: [media.data] };
      keepRest(part, read, `${place}[${index}]`, native);
    } else native.push({ param: `${place}[${index}]`, value: part });
  }
  return {
    type: "tool_result",
    callId,
    name: typeof name === "string" ? name : (call?.name ?? ""),
    content,
    ...(result.isError ? { isError: true } : {}),
  };
}

/** Unwraps `{output: "text"}` and `{error: "text"}`; any other object stays whole, as JSON (T22). */
function resultText(response: unknown): { text: string; isError: boolean } {
  if (!isObject(response)) return { text: "", isError: false };
  const [only, ...others] = Object.entries(response);
  if (only && others.length === 0 && typeof only[1] === "string" && !looksLikeObject(only[1])) {
    if (only[0] === "output") return { text: only[1], isError: false };
    if (only[0] === "error") return { text: only[1], isError: true };
  }
  return { text: exactText(response), isError: false };
}

const looksLikeObject = (text: string): boolean => text.trimStart().startsWith("{");

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export function decodeMedia(part: WireObject): { data: string; part: MediaPart } | undefined {
  const inline = read(part, "inlineData");
  if (isObject(inline)) {
    const mediaType = registeredType(text(read(inline, "mimeType")));
    // Google's SDK for Python writes the alphabet of URLs, which only Google reads.
    const data = plainBase64(text(inline["data"]));
    return { data: "inlineData", part: media(mediaType, { kind: "base64", mediaType, data }) };
  }
  const file = read(part, "fileData");
  if (!isObject(file)) return undefined;
  const url = text(read(file, "fileUri"));
  const given = read(file, "mimeType");
  if (typeof given !== "string") {
    const kind = youtube.test(url) ? "video/*" : "";
    return { data: "fileData", part: media(kind, { kind: "url", url }) };
  }
  const mediaType = registeredType(given);
  return { data: "fileData", part: media(mediaType, { kind: "url", url, mediaType }) };
}

/** YouTube is the only address that the vendor accepts without a type; it is a video, not a document. */
const youtube = /^https?:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i;

function media(mediaType: string, source: MediaSource): MediaPart {
  const kind = mediaType.slice(0, mediaType.indexOf("/"));
  const isKnown = kind === "image" || kind === "audio" || kind === "video";
  return { type: "media", media: isKnown ? kind : "file", source };
}

/** True for a picture that a model drew while thinking. Such drafts come before the answer's pictures and are not part of it. */
export const isDraft = (part: unknown): boolean =>
  isObject(part) && part["thought"] === true && decodeMedia(part) !== undefined;

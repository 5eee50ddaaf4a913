/**
 * Parts of a generateContent message, read into canonical parts. Requirements: CONV, T21, T22, T27, T38.
 * Calls without an id get one from their place, so that results find them and no two collide.
 */
import { exactText } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { registeredType } from "../../base/media-types.ts";
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
import { skipSignature } from "./limits.ts";
import { read, spelling, spellings } from "./names.ts";
import { madeUpPrefix, type OpenCalls } from "./open-calls.ts";

const signed = ["thoughtSignature"];

/** The members that are read beside each kind of data. */
const knownByData: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "thought", ...signed],
  inlineData: ["inlineData", ...signed],
  fileData: ["fileData", ...signed],
  functionCall: ["functionCall", ...signed],
  functionResponse: ["functionResponse"],
};

/** The members of each kind of data. */
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

/** The canonical parts of one content. `param` is the dotted name of its parts; `place` makes ids unique. */
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
    parts.push(...decoded.parts);
    const { data } = decoded;
    keepRest(part, { data, known: knownByData[data]! }, name, context.native);
  }
  return parts;
}

/** The field whose value a part holds, and the members of the part that were read. */
interface PartRead {
  readonly data: string;
  readonly known: readonly string[];
}

/** Notes what of a part that was read no other protocol knows. */
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
  /** The data field the part holds. */
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
  // A part with nothing but a signature (T38). Beside data that is not read here it is a part of that.
  if (!signature || holdsOther(part)) return undefined;
  return { data: "text", parts: decodeText(part, "", signature) };
}

/** The members that are no data of their own, but belong to a part's data. */
const besideData = new Set(["thought", "thoughtSignature", "thought_signature", "text"]);

/** Whether a part has data that has no canonical form, such as a step of the vendor's own tools. */
export const holdsOther = (part: WireObject): boolean =>
  Object.keys(part).some((key) => !besideData.has(key) && isObject(part[key]));

/** The proof on a part. The word that none is to be asked for is none. */
export function signatureOf(part: WireObject): Signature | undefined {
  const value = nonEmpty(read(part, "thoughtSignature"));
  return value === undefined || value === skipSignature
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

/** A signature on an answer's own part stands before it, as a reasoning part without text; the encoder joins them again. */
function withSignature(part: Part, signature: Signature | undefined): Part[] {
  return signature ? [{ type: "reasoning", text: "", signature }, part] : [part];
}

function decodeCall(
  call: WireObject,
  signature: Signature | undefined,
  { place, calls }: Context,
): Part {
  const id =
    typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : `${madeUpPrefix}${place}`;
  const name = typeof call["name"] === "string" ? call["name"] : "";
  calls.add(id, name);
  const json = exactText(call["args"] ?? {});
  return signature
    ? { type: "tool_call", id, name, arguments: json, signature }
    : { type: "tool_call", id, name, arguments: json };
}

/** A result finds its call by id, else by name and order (T22); without a call it keeps an id and a name of its own. */
function decodeResult(
  wire: WireObject,
  { native, calls, param }: Context & { readonly param: string },
): ToolResultPart {
  const { id, name } = wire;
  const ownId = text(id);
  const called = text(name);
  const call = calls.take(ownId, called);
  const callId = call?.id ?? (ownId === "" ? `${madeUpPrefix}lost` : ownId);
  const content: Part[] = [];
  const result = resultText(wire["response"]);
  const place = `${param}.parts`;
  if (result.text !== "") content.push({ type: "text", text: result.text });
  for (const [index, part] of list(wire["parts"]).entries()) {
    const media = isObject(part) ? decodeMedia(part) : undefined;
    if (media && isObject(part)) {
      content.push(media.part);
      // A tool's picture has no signature.
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

/** `{output: "text"}` and `{error: "text"}` are unwrapped; any other object is kept whole, as JSON (T22). */
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
    const data = text(inline["data"]);
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

/** The one address that the vendor takes without a type: it is a video, and no document. */
const youtube = /^https?:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i;

function media(mediaType: string, source: MediaSource): MediaPart {
  const kind = mediaType.slice(0, mediaType.indexOf("/"));
  const isKnown = kind === "image" || kind === "audio" || kind === "video";
  return { type: "media", media: isKnown ? kind : "file", source };
}

/** A picture that a model drew while it thought. Such pictures come before the answer's own, and are no part of it. */
export const isDraft = (part: unknown): boolean =>
  isObject(part) && part["thought"] === true && decodeMedia(part) !== undefined;

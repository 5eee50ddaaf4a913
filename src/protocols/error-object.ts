/** Encodes and decodes the error object of the two OpenAI-style protocols. ERR-01. */
import { errorCatalogue, GatewayError, type ErrorCode } from "../base/errors.ts";
import { isObject, type WireObject } from "../base/json.ts";
import type { JsonObject } from "./canonical/request.ts";
import type { WireError } from "./codec.ts";
import { messageInWords, openAiWords } from "./too-long-words.ts";

/** Returns `{error: {message, type, param, code}}`; all four keys are always present. */
export function encodeErrorObject(error: GatewayError): { error: JsonObject } {
  const { type, param, code } = error;
  return { error: { message: openAiMessage(error), type, param, code } };
}

/** Returns the message for a caller of OpenAI's protocols. */
export const openAiMessage = (error: Pick<GatewayError, "code" | "message">): string =>
  messageInWords(error, openAiWords);

/** Returns the error that ends a running stream. A code of the gateway stays; anything else becomes `upstream_error`. */
export const streamError = ({ message, code }: Pick<WireError, "message" | "code">): GatewayError =>
  new GatewayError(isErrorCode(code) ? code : "upstream_error", message);

const isErrorCode = (code: string | undefined): code is ErrorCode =>
  code !== undefined && Object.hasOwn(errorCatalogue, code);

const messageCharactersMax = 4000;

/**
 * Decodes an upstream's error body in any shape. Shapes are OpenAI's object, xAI's `{code, error: string}`, OpenRouter's integer codes
 * with `metadata`, FastAPI's `detail`, MiniMax's `base_resp`, arrays around any of them, plain text and HTML pages. Never throws.
 */
export function decodeErrorObject(status: number, body: unknown): WireError {
  const outer = Array.isArray(body) ? body[0] : body;
  if (typeof outer === "string") return { message: plainText(outer) || fallback(status) };
  if (!isObject(outer)) return { message: fallback(status) };
  const inner = isObject(outer["error"]) ? outer["error"] : (failedStatus(outer) ?? outer);
  const message = messageOf(inner) ?? messageOf(outer) ?? fallback(status);
  return {
    message: message.slice(0, messageCharactersMax),
    type: name(inner["type"]) ?? word(metadata(inner)["error_type"]),
    code: name(inner["code"]) ?? word(outer["code"]),
    param: name(inner["param"]),
  };
}

/** Returns MiniMax's status beside an answer, if it is one of failure. A status of success is 0. */
export function failedStatus({ base_resp: status }: WireObject): WireObject | undefined {
  if (!isObject(status)) return undefined;
  const { status_code: code, status_msg: message } = status;
  return (code ?? 0) !== 0 && word(message) !== undefined ? { code, message } : undefined;
}

const fallback = (status: number): string => `The upstream answered with status ${status}.`;

const metadata = (error: WireObject): WireObject =>
  isObject(error["metadata"]) ? error["metadata"] : {};

/** Codes are strings at some vendors and numbers at others (OpenRouter: the HTTP status). */
function word(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** LiteLLM writes Python's word for nothing. */
function name(value: unknown): string | undefined {
  return value === "None" ? undefined : word(value);
}

function messageOf(error: WireObject): string | undefined {
  const { message } = error;
  // Mistral puts validation errors in the message, as FastAPI's object or only its list. Cloudflare has a list of errors.
  const inner = isObject(message) ? message["detail"] : message;
  const text =
    word(message) ??
    word(error["error"]) ??
    detailOf(error["detail"]) ??
    detailOf(inner) ??
    detailOf(error["errors"]) ??
    detailOf(error["error"]);
  const raw = metadata(error)["raw"] ?? vercelRaw(error);
  // OpenRouter says "Provider returned error" and keeps the provider's message in `raw`.
  return text !== undefined && typeof raw === "string" ? `${text}: ${plainText(raw)}` : text;
}

/** Vercel's gateway says "Stream error occurred" within a stream and keeps the provider's body in `value`. */
const vercelRaw = ({ value }: WireObject): unknown =>
  isObject(value) ? value["error_message"] : undefined;

const findingsMax = 3;

/** FastAPI's `detail`: a string, or a list of `{loc, msg}`, of which the first few are reported. */
function detailOf(detail: unknown): string | undefined {
  const findings = Array.isArray(detail) ? detail.slice(0, findingsMax) : [detail];
  const texts = findings.flatMap((finding) => findingOf(finding) ?? []);
  return texts.length > 0 ? texts.join("; ") : undefined;
}

/** Returns a finding with its path: "Extra inputs are not permitted" alone does not help. */
function findingOf(finding: unknown): string | undefined {
  if (!isObject(finding)) return word(finding);
  const text = word(finding["msg"]) ?? word(finding["message"]);
  const { loc } = finding;
  const steps = Array.isArray(loc)
    ? loc.slice(0, stepsMax).flatMap((step) => word(step) ?? [])
    : [];
  const place = steps.filter((step, index) => index > 0 || step !== "body").join(".");
  return text === undefined || place === "" ? text : `${place}: ${text}`;
}

/** Longest path of a finding. */
const stepsMax = 20;

/** Returns the start of a text or HTML page, without tags and runs of white space. */
function plainText(text: string): string {
  const start = text.slice(0, messageCharactersMax);
  const bare = start.trimStart().startsWith("<") ? start.replace(/<[^<>]*>/g, " ") : start;
  return bare.replace(/\s+/g, " ").trim().slice(0, 500);
}

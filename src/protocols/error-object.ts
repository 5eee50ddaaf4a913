/**
 * The error object of the two OpenAI-style protocols, written and read. ERR-01.
 */
import { GatewayError } from "../base/errors.ts";
import { isObject, type WireObject } from "../base/json.ts";
import type { JsonObject } from "./canonical/request.ts";
import type { WireError } from "./codec.ts";

/** `{error: {message, type, param, code}}`, all four keys always there. */
export function encodeErrorObject(error: GatewayError): { error: JsonObject } {
  return {
    error: { message: error.message, type: error.type, param: error.param, code: error.code },
  };
}

/** The error that ends a stream which had begun. Of codes only those stay that say that the request is at fault. */
export const streamError = ({ message, code }: Pick<WireError, "message" | "code">): GatewayError =>
  new GatewayError(
    code === "context_length_exceeded" || code === "upstream_rejected" ? code : "upstream_error",
    message,
  );

/**
 * The message of an error in a protocol without codes of its own, whose clients know a context that is too long by these
 * words: they come first where the vendor said it in others.
 */
export const tellTooLong = ({ code, message }: GatewayError, words: string): string =>
  code !== "context_length_exceeded" || message.includes(words) ? message : `${words}: ${message}`;

const messageCharactersMax = 4000;

/**
 * An upstream's error body, whatever its quirks: OpenAI's object, xAI's `{code, error: string}`, OpenRouter's integer
 * codes with `metadata`, FastAPI's `detail`, arrays around any of them, plain text and HTML pages. Never throws.
 */
export function decodeErrorObject(status: number, body: unknown): WireError {
  const outer = Array.isArray(body) ? body[0] : body;
  if (typeof outer === "string") return { message: plainText(outer) || fallback(status) };
  if (!isObject(outer)) return { message: fallback(status) };
  const inner = isObject(outer["error"]) ? outer["error"] : outer;
  const message = messageOf(inner) ?? messageOf(outer) ?? fallback(status);
  return {
    message: message.slice(0, messageCharactersMax),
    type: word(inner["type"]) ?? word(metadata(inner)["error_type"]),
    code: word(inner["code"]) ?? word(outer["code"]),
    param: word(inner["param"]),
  };
}

const fallback = (status: number): string => `The upstream answered with status ${status}.`;

const metadata = (error: WireObject): WireObject =>
  isObject(error["metadata"]) ? error["metadata"] : {};

/** Codes are strings here and numbers there (OpenRouter: the HTTP status). */
function word(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function messageOf(error: WireObject): string | undefined {
  const { message } = error;
  // Mistral's validation stands in the message, be it as FastAPI's object or its list alone; Cloudflare has a list of errors.
  const inner = isObject(message) ? message["detail"] : message;
  const text =
    word(message) ??
    word(error["error"]) ??
    detailOf(error["detail"]) ??
    detailOf(inner) ??
    detailOf(error["errors"]);
  const raw = metadata(error)["raw"];
  // OpenRouter says "Provider returned error" and keeps the provider's own words in `raw`.
  return text !== undefined && typeof raw === "string" ? `${text}: ${plainText(raw)}` : text;
}

const findingsMax = 3;

/** FastAPI: a string, or a list of `{loc, msg}`, of which the first are told. */
function detailOf(detail: unknown): string | undefined {
  const findings = Array.isArray(detail) ? detail.slice(0, findingsMax) : [detail];
  const texts = findings.flatMap((finding) => findingOf(finding) ?? []);
  return texts.length > 0 ? texts.join("; ") : undefined;
}

/** What is wrong, after the place where it is: "Extra inputs are not permitted" alone helps nobody. */
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

/** Of a place in a body. */
const stepsMax = 20;

/** Text of what may be an HTML page: the start of it, tags and runs of white space taken out. */
function plainText(text: string): string {
  const start = text.slice(0, messageCharactersMax);
  const bare = start.trimStart().startsWith("<") ? start.replace(/<[^<>]*>/g, " ") : start;
  return bare.replace(/\s+/g, " ").trim().slice(0, 500);
}

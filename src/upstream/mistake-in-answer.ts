/**
 * Detects caller's mistakes that a vendor reports after its answer began with 200. Examples: in OpenAI's Responses, an unreadable picture
 * or a refused prompt; at Anthropic, an output that its filter blocks. Every provider would refuse the same. TXT-20; docs/routing.md.
 */
import { GatewayError } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { isAboutAccount } from "./account.ts";
import { isForeignProof } from "./foreign-proof.ts";
import { isModelsMistake } from "./models-mistake.ts";
import { moderationWords } from "./moderation.ts";
import { isAboutModel } from "./not-found.ts";

/** The codes of a failed response that are about the request, in lower case; the first is that of another gateway of this kind. */
const codes: ReadonlySet<string> = new Set([
  "upstream_rejected",
  "invalid_prompt",
  "invalid_type",
  "invalid_value",
  "missing_required_parameter",
  "unknown_parameter",
  "unsupported_parameter",
  "unsupported_value",
  "content_policy_violation",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "invalid_image_mode",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "image_file_too_large",
  "image_file_not_found",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
]);

/** The statuses of refusals, as OpenRouter, vLLM and SGLang send them in `code`, and Google's word for them. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["400", 400],
  ["413", 413],
  ["422", 422],
  ["INVALID_ARGUMENT", 400],
]);

/** True if the error may be about the model, the operator's account or another vendor's reasoning, in spite of its words. */
const isAboutSetup = ({ code = "", message }: WireError): boolean =>
  isModelsMistake({ message }) ||
  isAboutModel({ message }) ||
  isAboutAccount(code, message) ||
  isForeignProof({ message });

/**
 * True for the refusal of a request at OpenAI and Anthropic. The word is the type, or in a converted stream the code. With another code,
 * the error may be about the model or the key.
 */
const isRefusedRequest = ({ code, type, message }: WireError): boolean =>
  (code ?? type) === "invalid_request_error" && !isAboutSetup({ message });

/** Returns the caller's error, in the vendor's words; undefined if the vendor reports anything else. */
export function mistakeInAnswer(wire: WireError): GatewayError | undefined {
  const { code, message, param } = wire;
  const isNamed = code !== undefined && codes.has(code.toLowerCase());
  const isTheirs = (isNamed && !isForeignProof(wire)) || isRefusedRequest(wire);
  return isTheirs ? new GatewayError("upstream_rejected", message, { param }) : undefined;
}

/**
 * Returns the caller's error if the vendor's own has the status of a refusal. Another provider may answer: older vLLM gives that status to
 * every failure within a stream.
 */
export function refusalByStatus(wire: WireError): GatewayError | undefined {
  const { code, type, message, param } = wire;
  const status = statuses.get(code ?? type ?? "");
  return status === undefined || isAboutSetup(wire)
    ? undefined
    : new GatewayError("upstream_rejected", moderationWords(message), { status, param });
}

/**
 * Detects caller's mistakes that a vendor reports after its answer began with 200. Examples: in OpenAI's Responses, an unreadable picture
 * or a refused prompt; at Anthropic, an output that its filter blocks. Every provider would refuse the same. TXT-20; docs/routing.md.
 */
import { GatewayError } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { isAboutAccount } from "./account.ts";
import { isModelsMistake } from "./models-mistake.ts";
import { isAboutModel } from "./not-found.ts";

/** The codes of a failed response that are about the request. */
const codes: ReadonlySet<string> = new Set([
  "invalid_prompt",
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

/**
 * True for the refusal of a request at OpenAI and Anthropic. The word is the type, or in a converted stream the code. With another code,
 * the error may be about the model or the key.
 */
const isRefusedRequest = ({ code, type, message }: WireError): boolean =>
  (code ?? type) === "invalid_request_error" &&
  !isModelsMistake({ message }) &&
  !isAboutModel({ message }) &&
  !isAboutAccount("", message);

/** Returns the caller's error, in the vendor's words; undefined if the vendor reports anything else. */
export function mistakeInAnswer(wire: WireError): GatewayError | undefined {
  const { code, message, param } = wire;
  const isTheirs = (code !== undefined && codes.has(code)) || isRefusedRequest(wire);
  return isTheirs ? new GatewayError("upstream_rejected", message, { param }) : undefined;
}

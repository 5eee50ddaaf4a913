/**
 * A caller's mistake that a vendor tells once its answer has begun with 200: OpenAI's responses of a picture that cannot be read or a
 * prompt that is refused, Anthropic of an output that its filter blocks. Every provider would find the same. TXT-20; docs/routing.md.
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
 * What OpenAI and Anthropic call a refusal of the request. It is a type, or in a converted stream the code; beside a code of its own
 * it may be of the model or the key.
 */
const isRefusedRequest = ({ code, type, message }: WireError): boolean =>
  (code ?? type) === "invalid_request_error" &&
  !isModelsMistake({ message }) &&
  !isAboutModel({ message }) &&
  !isAboutAccount("", message);

/** The error that its caller gets, in the vendor's words; undefined where the vendor tells of anything else. */
export function toldMistake(wire: WireError): GatewayError | undefined {
  const { code, message, param } = wire;
  const isTheirs = (code !== undefined && codes.has(code)) || isRefusedRequest(wire);
  return isTheirs ? new GatewayError("upstream_rejected", message, { param }) : undefined;
}

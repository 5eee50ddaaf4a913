/**
 * A caller's mistake that OpenAI's responses tell once their answer has begun with 200: a picture that cannot be read, a prompt that is
 * refused. Every provider would find the same. TXT-20; docs/routing.md.
 */
import { GatewayError } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";

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

/** The error that its caller gets, in the vendor's words; undefined where the vendor tells of anything else. */
export const toldMistake = ({ code, message, param }: WireError): GatewayError | undefined =>
  code !== undefined && codes.has(code)
    ? new GatewayError("upstream_rejected", message, { param })
    : undefined;

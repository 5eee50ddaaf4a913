/**
 * Names by which other vendors' endpoints and SDKs take an input picture, and which the endpoint of the call does not have. Such a field
 * is refused, although unknown ones are dropped: without the picture the result would be another, and it is charged.
 * docs/decisions.md "Unknown fields and bad values".
 */
import type { ErrorCode } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { MediaFamily } from "./family.ts";
import type { MediaInput } from "./types.ts";

/** Such as `image`, `image_url` and `image_urls` (Together, fal), `input_image_2` and `image_prompt` (FLUX), `init_image`, `image2`. */
const pictureName =
  /^(?:(?:input|init|reference|source|start|end|tail|first_frame|last_frame)_)?images?(?:_(?:urls?|prompt|input|tail|list|base64|b64))?(?:_?\d{1,3})?(?:\[\d{0,3}\])?$/;
const otherPictureNames: ReadonlySet<string> = new Set([
  "input_reference",
  "subject_reference",
  "first_frame",
  "last_frame",
]);
const maskName = /^mask(?:_image)?(?:_urls?)?$/;

const isPicture = (name: string): boolean => pictureName.test(name) || otherPictureNames.has(name);

/** True if a value may be a picture: an address, base64, an object with one, or a list. A number or a switch is none. */
const mayBePicture = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : isObject(value);

/** The code and clause of a refusal. */
interface Refusal {
  readonly code: ErrorCode;
  readonly why: string;
}

/** Returns the refusal of a field that the endpoint does not have, if it is a picture to work from. */
export function pictureRefusal(
  family: MediaFamily,
  { form, fields }: MediaInput,
  name: string,
): Refusal | undefined {
  if (!mayBePicture(fields[name])) return undefined;
  if (family.kind === "video") {
    if (!isPicture(name) && name !== "media") return undefined;
    const why = "is not a field of this endpoint; send image, last_frame or reference_images";
    return { code: "unsupported_parameter", why };
  }
  const isMask = family.files?.mask === true && maskName.test(name);
  if (!isMask && !isPicture(name)) return undefined;
  if (form === "images") {
    const why = "is not taken here; send pictures to POST /v1/images/edits, as files of a form";
    return { code: "unsupported_parameter", why };
  }
  const why = `must be a file of a multipart body, named ${isMask ? "mask" : "image"}`;
  return { code: "image_url_not_supported", why };
}

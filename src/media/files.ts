/**
 * Checks the uploaded pictures of a call against the limits of its family. Their types were detected from their content before.
 * LIM-04 to LIM-06; docs/decisions.md "Masks".
 */
import { refusal, type ErrorCode } from "../base/errors.ts";
import type { Note } from "../base/notes.ts";
import type { FileLimits, MediaFamily } from "./family.ts";
import type { MediaInput, Upload } from "./types.ts";

/**
 * True if a field of a form holds a picture: `image`, `image[]`, or `image[0]`. Clients whose forms have each name only once, such as
 * PHP's, write the last one.
 */
export const isImageField = (name: string): boolean => /^image(?:\[\d{0,3}\])?$/.test(name);

/** A mask must have fewer bytes than this. */
const maskBytesBelow = 4_000_000;

/** Refuses a field. @throws GatewayError, always */
export function refuse(param: string, code: ErrorCode, why: string): never {
  throw refusal(code, param, why);
}

/**
 * Checks the files; returns the mask to use, if any. Pictures are never dropped without a note (TIMG1-08).
 * @throws GatewayError `image_url_not_supported`, `missing_required_parameter`, `too_many_images`, `image_too_large`,
 * `invalid_image_file`
 */
export function checkFiles(
  family: MediaFamily,
  input: MediaInput,
  notes: Note[],
): { readonly mask: Upload | undefined } {
  const none = { mask: undefined };
  const { files } = family;
  if (files === undefined || input.form === "images") {
    if (input.images.length > 0) refuse("image", "invalid_type", "cannot be a file here");
    return none;
  }
  const text = Object.keys(input.fields).find((name) => isImageField(name) && isGiven(input, name));
  if (text !== undefined)
    refuse(text, "image_url_not_supported", "must be a file of a multipart body");
  checkImages(files, input);
  return { mask: usedMask(files, input, notes) };
}

const isGiven = ({ fields }: MediaInput, name: string) =>
  fields[name] !== undefined && fields[name] !== null;

/** A mask as text is refused, with or without an image; a mask file without an image is dropped with a note (TIMG2-05, TIMG2-09). */
function usedMask(files: FileLimits, input: MediaInput, notes: Note[]): Upload | undefined {
  const { images, mask } = input;
  const isText = isGiven(input, "mask");
  if (isText && files.mask)
    refuse("mask", "image_url_not_supported", "must be a file of a multipart body");
  if (!isText && mask === undefined) return undefined;
  if (files.mask && mask !== undefined && images.length > 0) return checkedMask(mask, images[0]!);
  const detail = files.mask
    ? "nothing to apply it to without an image, ignored"
    : "not supported by this model, dropped";
  notes.push({ param: "mask", kind: "dropped", detail });
  return undefined;
}

const megabytes = (bytes: number) =>
  bytes % 1_000_000 === 0 ? `${bytes / 1_000_000} MB` : `${bytes / 1024 / 1024} MiB`;

function checkImages(files: FileLimits, { images, form }: MediaInput): void {
  if (images.length === 0 && files.requiredIn?.includes(form)) {
    refuse("image", "missing_required_parameter", "is required");
  }
  if (images.length > files.most) {
    refuse(
      "image",
      "too_many_images",
      `at most ${files.most} files are allowed, and ${images.length} were sent`,
    );
  }
  for (const [index, { bytes }] of images.entries()) {
    if (bytes > files.bytesMost) {
      const why = `file ${index + 1} is larger than ${megabytes(files.bytesMost)}`;
      refuse("image", "image_too_large", why);
    }
  }
  const { encodedBytesMost } = files;
  const encoded = images.reduce((sum, { bytes }) => sum + 4 * Math.ceil(bytes / 3), 0);
  if (encodedBytesMost !== undefined && encoded > encodedBytesMost) {
    const why = `the files are larger than ${megabytes(encodedBytesMost)} together, in base64`;
    refuse("image", "image_too_large", why);
  }
}

/** True if the mask has the size of the picture. A photo may be stored on its side: masks are drawn on it as it is shown. */
function fits(mask: Upload, { width, height, isTurned }: Upload): boolean {
  const hasSize = (wide: number, high: number) => mask.width === wide && mask.height === high;
  return hasSize(width, height) || (isTurned === true && hasSize(height, width));
}

/** The mask applies to the first image only (EDIT2-06 to EDIT2-09, LIM-05). */
function checkedMask(mask: Upload, first: Upload): Upload {
  if (mask.mediaType !== "image/png") refuse("mask", "invalid_image_file", "must be a PNG");
  if (!mask.hasAlpha) refuse("mask", "invalid_image_file", "must have an alpha channel");
  if (mask.bytes >= maskBytesBelow) refuse("mask", "image_too_large", "must be smaller than 4 MB");
  if (!fits(mask, first)) {
    const shown = first.isTurned ? `, shown as ${first.height}x${first.width}` : "";
    const why = `must have the size of the first image, ${first.width}x${first.height}${shown}`;
    refuse("mask", "invalid_image_file", why);
  }
  return mask;
}

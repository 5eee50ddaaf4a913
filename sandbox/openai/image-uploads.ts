/** The files of an edit: what the openai-like vendor takes, found by reading them. */
import type { FormFile } from "../multipart.ts";
import { readPicture } from "../pictures.ts";
import type { PictureInfo } from "../pictures.ts";
import type { Failure } from "../refusal.ts";
import type { Call } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { missingParameter } from "./errors.ts";

export interface Upload {
  readonly file: FormFile;
  readonly info: PictureInfo;
}

export interface Uploads {
  /** At least one. */
  readonly images: readonly [Upload, ...Upload[]];
  readonly mask: FormFile | undefined;
}

const imagesMax = 16;
const imageBytesMax = 50_000_000;
const maskBytesMax = 4_000_000;
const types = ["image/png", "image/jpeg", "image/webp"];

const refuse = (param: string, failure: Omit<Failure, "param">): never => {
  throw new Refusal(400, { param, ...failure });
};

/** @throws Refusal for what the vendor does not take. */
export async function uploadsOf({ files }: Call): Promise<Uploads> {
  const images = files.filter(({ name }) => name === "image" || name === "image[]");
  const masks = files.filter(({ name }) => name === "mask");
  const stray = files.find((file) => !images.includes(file) && !masks.includes(file));
  if (stray) {
    refuse(stray.name, {
      message: `Unknown parameter: '${stray.name}'.`,
      code: "unknown_parameter",
    });
  }
  if (images.length === 0) throw new Refusal(400, missingParameter("image"));
  refuseRepeated(images, masks);
  if (images.length > imagesMax) {
    refuse("image", {
      message: `Invalid 'image': array too long. Expected an array with maximum length ${imagesMax}, but got an array with length ${images.length} instead.`,
      code: "array_above_max_length",
    });
  }
  const read: Upload[] = [];
  for (const [index, file] of images.entries()) read.push(await imageUpload(file, index + 1));
  const mask = masks[0];
  if (mask) await checkMask(mask, read[0]!.info);
  return { images: read as [Upload, ...Upload[]], mask };
}

/** One file is `image`; several are `image[]`. */
function refuseRepeated(images: readonly FormFile[], masks: readonly FormFile[]): void {
  const plain = images.filter(({ name }) => name === "image").length;
  const param = masks.length > 1 ? "mask" : "image";
  if (masks.length <= 1 && (plain === 0 || images.length === 1)) return;
  refuse(param, {
    message: `Duplicate parameter: '${param}'. You provided multiple values for this parameter, whereas only one is allowed. If you are trying to provide a list of values, use the array syntax instead e.g. '${param}[]=<value>'.`,
    code: "duplicate_parameter",
  });
}

async function imageUpload(file: FormFile, number: number): Promise<Upload> {
  if (!types.includes(file.type)) {
    refuse("image", {
      message: `Invalid file 'image': unsupported mimetype ('${file.type}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.`,
      code: "unsupported_file_mimetype",
    });
  }
  if (file.bytes > imageBytesMax) {
    refuse("image", { message: "Invalid file 'image': file too large.", code: "file_too_large" });
  }
  const info = await readPicture(file.path);
  if (info && `image/${info.format}` === file.type) return { file, info };
  throw unreadable(number);
}

/** A file that is no picture, or not a whole one. */
export const unreadable = (number: number): Refusal =>
  new Refusal(400, {
    message: `Invalid image file or mode for image ${number}, please check your image file.`,
    type: "image_generation_user_error",
    param: "image",
    code: "invalid_image_file",
  });

async function checkMask(file: FormFile, image: PictureInfo): Promise<void> {
  const wrong = (message: string): never =>
    refuse("mask", { message, type: "image_generation_user_error", code: "invalid_mask_image" });
  if (file.type !== "image/png") {
    refuse("mask", {
      message: `Invalid file 'mask': unsupported mimetype ('${file.type}'). Supported file formats are 'image/png'.`,
      code: "unsupported_file_mimetype",
    });
  }
  if (file.bytes >= maskBytesMax) wrong("Invalid mask image: must be less than 4MB.");
  const info = await readPicture(file.path);
  if (info?.format !== "png") wrong("Invalid mask image: not a PNG.");
  if (!info!.hasAlpha) wrong("Invalid mask image format - mask image missing alpha channel");
  if (info!.width !== image.width || info!.height !== image.height) {
    wrong("Invalid mask image: the mask must have the same size as the first image.");
  }
}

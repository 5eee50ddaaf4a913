/** Reads images that the reader chooses, for a call. */
import { isolated } from "../../base/isolated.ts";
import type { Picture } from "./conversation.ts";

export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const bytesMax = 20 * 1024 * 1024;

/** @throws Error with a message for the reader, if a file is no image or too large */
export async function readPicture(file: File): Promise<Picture> {
  if (!pictureTypes.includes(file.type))
    throw new Error(`${isolated(file.name)} is not a PNG, JPEG, WebP or GIF file.`);
  if (file.size > bytesMax) throw new Error(`${isolated(file.name)} is larger than 20 MB.`);
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result as string));
    reader.addEventListener("error", () =>
      reject(new Error(`${isolated(file.name)} cannot be read.`)),
    );
    reader.readAsDataURL(file);
  });
  return { name: file.name, mediaType: file.type, base64: url.slice(url.indexOf(",") + 1) };
}

/** Converts base64 to a Blob. */
export function blobOf({ mediaType, base64 }: Pick<Picture, "mediaType" | "base64">): Blob {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.codePointAt(0)!);
  return new Blob([bytes], { type: mediaType });
}

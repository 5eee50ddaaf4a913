/** Reading pictures that a caller sent along. sharp is loaded when the first one comes. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of the picture in a base64 data URL; undefined when it is elsewhere, or no picture. */
export async function sizeOfDataUrl(address: string | undefined): Promise<Size | undefined> {
  if (address === undefined || !address.startsWith("data:")) return undefined;
  const bytes = Buffer.from(address.slice(address.indexOf(",") + 1), "base64");
  const { default: sharp } = await import("sharp");
  try {
    const { width, height } = await sharp(bytes).metadata();
    return { width, height };
  } catch {
    return undefined;
  }
}

/** What a file is, by its first bytes: what a vendor says of it is not believed. docs/tasks.md. */

/** How many bytes {@link mediaTypeOf} needs. */
export const mediaTypeBytes = 16;

interface Mark {
  readonly type: string;
  readonly fits: (head: Buffer) => boolean;
}

const bytes =
  (...values: number[]) =>
  (head: Buffer): boolean =>
    values.every((value, index) => head[index] === value);
const letters =
  (at: number, text: string) =>
  (head: Buffer): boolean =>
    head.toString("latin1", at, at + text.length) === text;

/** Brands of pictures, sound and QuickTime, which share MP4's container. */
const otherBrands = new Set(["avif", "avis", "heic", "heix", "heim", "hevc", "mif1", "msf1"]);
const soundBrands = new Set(["M4A ", "M4B ", "qt  "]);

const marks: readonly Mark[] = [
  {
    type: "video/mp4",
    fits: (head) => {
      const brand = head.toString("latin1", 8, 12);
      return letters(4, "ftyp")(head) && !otherBrands.has(brand) && !soundBrands.has(brand);
    },
  },
  { type: "video/webm", fits: bytes(0x1a, 0x45, 0xdf, 0xa3) },
  { type: "image/png", fits: bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a) },
  { type: "image/jpeg", fits: bytes(0xff, 0xd8, 0xff) },
  { type: "image/webp", fits: (head) => letters(0, "RIFF")(head) && letters(8, "WEBP")(head) },
];

/** The media type of a file that begins with `head`; undefined for what is no video or picture we keep. */
export function mediaTypeOf(head: Uint8Array): string | undefined {
  const buffer = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  return marks.find((mark) => mark.fits(buffer))?.type;
}

const pageTypes = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i;

/** Whether what begins with `head` is text for people or programs, such as HTML or an error in JSON; of an SVG it is not. */
export function isPage(head: Uint8Array, named: string | string[] | undefined = ""): boolean {
  const type = String(named);
  if (/^image\/svg/i.test(type)) return false;
  const text = Buffer.from(head).toString("latin1");
  return pageTypes.test(type) || /^(?:\u00ef\u00bb\u00bf)?\s*[<{](?!svg)/i.test(text);
}

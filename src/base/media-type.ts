/** Detects the type of a file by its first bytes; the vendor's `content-type` is not trusted. docs/tasks.md. */

/** Number of bytes that {@link mediaTypeOf} needs. */
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

/** Brands of pictures, sound and QuickTime, which share the MP4 container. */
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

/** Returns the media type of a file that begins with `head`; undefined unless it is a video or picture type that we store. */
export function mediaTypeOf(head: Uint8Array): string | undefined {
  const buffer = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  return marks.find((mark) => mark.fits(buffer))?.type;
}

const pageTypes = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i;

/** True if `head` begins a text, such as HTML or an error in JSON; false for an SVG. */
export function isPage(head: Uint8Array, named: string | string[] | undefined = ""): boolean {
  const type = String(named);
  if (/^image\/svg/i.test(type)) return false;
  const text = Buffer.from(head).toString("latin1");
  return pageTypes.test(type) || /^(?:\u00ef\u00bb\u00bf)?\s*[<{](?!svg)/i.test(text);
}

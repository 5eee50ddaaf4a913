/** Pictures with long metadata before their size, as cameras and editors write them. */
import { crc32 } from "node:zlib";

/** The picture with at least `bytes` of metadata: APP1 segments of a JPEG, text chunks of a PNG. */
export function withMetadata(picture: Buffer, bytes: number): Buffer<ArrayBuffer> {
  const isJpeg = picture[0] === 0xff;
  const part = isJpeg ? segment(60_000) : chunk(60_000);
  const parts = Array.from({ length: Math.ceil(bytes / part.length) }, () => part);
  // After the start of image, or after the signature and IHDR, which must be the first chunk.
  const at = isJpeg ? 2 : 33;
  return Buffer.concat([picture.subarray(0, at), ...parts, picture.subarray(at)]);
}

function segment(length: number): Buffer {
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(length + 2, 2);
  return Buffer.concat([head, Buffer.alloc(length, "x")]);
}

function chunk(length: number): Buffer {
  const data = Buffer.concat([Buffer.from("tEXtComment\0"), Buffer.alloc(length, "x")]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length - 4);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(data));
  return Buffer.concat([size, data, sum]);
}

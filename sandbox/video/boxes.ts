/** MP4 boxes (ISO/IEC 14496-12): a length, four letters, and what is inside. */

/** A box around its parts. */
export function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(length);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, ...parts], length);
}

/** A box that starts with a version (0) and flags. */
export const fullBox = (type: string, flags: number, ...parts: readonly Buffer[]): Buffer =>
  box(type, u32(flags), ...parts);

/** 32-bit numbers in a row. */
export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
  return bytes;
}

/** 16-bit numbers in a row. */
export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => bytes.writeUInt16BE(value, index * 2));
  return bytes;
}

export const u8 = (...values: readonly number[]): Buffer => Buffer.from(values);
export const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
export const zeros = (count: number): Buffer => Buffer.alloc(count);
/** The matrix that turns and scales nothing. */
export const plainMatrix: Buffer = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

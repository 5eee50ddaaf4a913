// Bytes in pieces: joined to the same whole however they are cut, and held in few buffers.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChunkBuffer } from "../../src/base/chunk-buffer.ts";

const joined = (pieces: readonly Buffer[]): ChunkBuffer => {
  const all = new ChunkBuffer();
  for (const piece of pieces) all.add(piece);
  return all;
};

describe("the pieces of a chunk buffer", () => {
  it("join to the bytes that were added, at any lengths", () => {
    const length = fc.oneof(fc.nat(10), fc.nat(9_000), fc.nat(70_000));
    fc.assert(
      fc.property(fc.array(length, { maxLength: 40 }), (lengths) => {
        const pieces = lengths.map((bytes, at) => Buffer.alloc(bytes, at + 1));
        const all = joined(pieces);
        expect(all.join().equals(Buffer.concat(pieces))).toBe(true);
        expect(all.length).toBe(Buffer.concat(pieces).length);
      }),
    );
  });

  it("join to the same buffer if there is only one piece, and to an empty one if there is none", () => {
    const piece = Buffer.from("a body in one read");
    expect(joined([piece]).join()).toBe(piece);
    expect(joined([]).join()).toHaveLength(0);
  });

  it.each([
    ["one byte", 1, 1_000_000],
    ["4,095 bytes", 4_095, 1_000],
    ["one byte after each full read", undefined, 1_000],
  ])("are held in few buffers, for pieces of %s", (_name, bytes, count) => {
    const [read, byte] = [Buffer.alloc(bytes ?? 65_536), Buffer.alloc(bytes ?? 1)];
    const all = joined(Array.from({ length: count }, (_, at) => (at % 2 === 0 ? read : byte)));
    expect(all.buffers).toBeLessThan(20 + (2 * all.length) / 65_536);
  });

  it("can be added after a join", () => {
    const all = joined([Buffer.from("a"), Buffer.from("b")]);
    expect(all.join().toString()).toBe("ab");
    all.add(Buffer.from("c"));
    expect(all.join().toString()).toBe("abc");
  });
});

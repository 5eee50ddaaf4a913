// Notes: how bodies and the header report dropped and rewritten parameters.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  inRequestOrder,
  type Note,
  noteHeader,
  noteParams,
  noteSentences,
} from "../../src/base/notes.ts";

const dropped = (param: string): Note => ({ param, kind: "dropped", detail: "not supported" });

describe("names and sentences", () => {
  it("notes are told in the order of the request, several of one field in the order they were noted", () => {
    const notes = ["tools[1].type", "b", "elsewhere", "a.y", "a.x"].map(dropped);
    expect(noteParams(inRequestOrder(notes, { a: 1, b: 2, tools: [] }))).toEqual([
      "elsewhere",
      "a.y",
      "a.x",
      "b",
      "tools[1].type",
    ]);
  });

  it("names are unique, as the caller wrote them, in the order they were noted", () => {
    const notes = ["top_k", "reasoning.summary", "top_k", "Seed"].map(dropped);
    expect(noteParams(notes)).toEqual(["top_k", "reasoning.summary", "Seed"]);
  });

  it("rewritten parameters are named beside dropped ones", () => {
    const notes: Note[] = [
      dropped("seed"),
      { param: "temperature", kind: "rewritten", detail: "capped at 1" },
    ];
    expect(noteParams(notes)).toEqual(["seed", "temperature"]);
    expect(noteHeader(notes)).toBe("seed, temperature");
  });

  it("a sentence is the parameter, a colon and the reason, one for each note", () => {
    const notes: Note[] = [
      { param: "size", kind: "ignored", detail: "both given, size wins" },
      { param: "size", kind: "rewritten", detail: "rounded" },
    ];
    expect(noteSentences(notes)).toEqual(["size: both given, size wins", "size: rounded"]);
  });
});

describe("the header", () => {
  it("is absent when nothing was changed", () => {
    expect(noteHeader([])).toBeUndefined();
  });

  it("holds ASCII only: every other character becomes a question mark", () => {
    expect(noteHeader([dropped("größe"), dropped("a\r\nSet-Cookie: x"), dropped("名")])).toBe(
      "gr??e, a??Set-Cookie:?x, ?",
    );
  });

  it("is cut at a whole name once 4 KB are full", () => {
    const names = Array.from(
      { length: 500 },
      (_, index) => `parameter_${String(index).padStart(4, "0")}`,
    );
    const header = noteHeader(names.map(dropped))!;
    // 14 characters a name, 2 between: (4096 + 2) / 16 = 256 names fit.
    expect(header.split(", ")).toEqual(names.slice(0, 256));
    expect(header.length).toBe(256 * 16 - 2);
  });

  it("a name that fills the 4 KB exactly still fits, one more character does not", () => {
    expect(noteHeader([dropped("x".repeat(4096))])).toHaveLength(4096);
    expect(noteHeader([dropped("x".repeat(4097))])).toBeUndefined();
  });

  it("can always be sent: never above 4 KB, and printable ASCII", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 300 })),
        (names) => {
          const header = noteHeader(names.map(dropped)) ?? "";
          expect(header.length).toBeLessThanOrEqual(4096);
          expect(header).toMatch(/^[\x20-\x7e]*$/);
        },
      ),
    );
  });
});

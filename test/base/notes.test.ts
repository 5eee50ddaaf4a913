// Notes: how bodies and the header report dropped and rewritten parameters.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  inRequestOrder,
  loggedNotes,
  type Note,
  noteHeader,
  noteParams,
  noteSentences,
} from "../../src/base/notes.ts";

const dropped = (param: string): Note => ({ param, kind: "dropped", detail: "not supported" });

describe("names and sentences", () => {
  it("notes are sorted in the order of the request; notes of one field keep their own order", () => {
    const notes = ["tools[1].type", "b", "elsewhere", "a.y", "a.x"].map(dropped);
    expect(noteParams(inRequestOrder(notes, { a: 1, b: 2, tools: [] }))).toEqual([
      "elsewhere",
      "a.y",
      "a.x",
      "b",
      "tools[1].type",
    ]);
  });

  it("names are unique, as the caller wrote them, in the order of the notes", () => {
    const notes = ["top_k", "reasoning.summary", "top_k", "Seed"].map(dropped);
    expect(noteParams(notes)).toEqual(["top_k", "reasoning.summary", "Seed"]);
  });

  it("rewritten parameters are named together with dropped ones", () => {
    const notes: Note[] = [
      dropped("seed"),
      { param: "temperature", kind: "rewritten", detail: "capped at 1" },
    ];
    expect(noteParams(notes)).toEqual(["seed", "temperature"]);
    expect(noteHeader(notes)).toBe("seed, temperature");
  });

  it("each note becomes a sentence: the parameter, a colon and the reason", () => {
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

  it("contains only ASCII: every other character becomes a question mark", () => {
    expect(noteHeader([dropped("größe"), dropped("a\r\nSet-Cookie: x"), dropped("名")])).toBe(
      "gr??e, a??Set-Cookie:?x, ?",
    );
  });

  it("is cut at a whole name at 4 KB", () => {
    const names = Array.from(
      { length: 500 },
      (_, index) => `parameter_${String(index).padStart(4, "0")}`,
    );
    const header = noteHeader(names.map(dropped))!;
    // 14 characters a name, 2 between: (4096 + 2) / 16 = 256 names fit.
    expect(header.split(", ")).toEqual(names.slice(0, 256));
    expect(header.length).toBe(256 * 16 - 2);
  });

  it("has room for a name of exactly 4 KB, and not for one more character", () => {
    expect(noteHeader([dropped("x".repeat(4096))])).toHaveLength(4096);
    expect(noteHeader([dropped("x".repeat(4097))])).toBeUndefined();
  });

  it("can always be sent: at most 4 KB of printable ASCII", () => {
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

describe("the log", () => {
  it("keeps the names and reasons of a call as they are", () => {
    const notes = [dropped("seed"), { ...dropped("user"), detail: "another reason" }];
    expect(loggedNotes(notes)).toEqual({
      dropped: ["seed", "user"],
      notes: ["seed: not supported", "user: another reason"],
    });
  });

  it("keeps at most 200 of them, each cut, and tells how many more there were", () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `${index}`.padEnd(3_000, "x"));
    const logged = loggedNotes(names.map(dropped));
    expect(logged.dropped).toHaveLength(200);
    expect(logged.notes).toHaveLength(201);
    expect(logged.notes.at(-1)).toBe("and 9800 more that were dropped or changed");
    expect(JSON.stringify(logged).length).toBeLessThan(200_000);
  });
});

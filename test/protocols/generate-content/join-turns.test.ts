/** Answers that Google's SDKs send back in the pieces of their stream. T38, TXT-07. */
import { describe, expect, it } from "vitest";
import { joinTurns } from "../../../src/protocols/generate-content/join-turns.ts";
import type { JsonObject } from "../../../src/protocols/index.ts";

const user = { role: "user", parts: [{ text: "Look." }] };
const call = (name: string, more: JsonObject = {}): JsonObject => ({
  role: "model",
  parts: [{ functionCall: { name, args: {} }, ...more }],
});
const said = (text: string, more: JsonObject = {}): JsonObject => ({
  role: "model",
  parts: [{ text, ...more }],
});
const results = {
  role: "user",
  parts: ["a", "b"].map((name) => ({ functionResponse: { name, response: {} } })),
};
const joined = (...contents: JsonObject[]): unknown => {
  const body: JsonObject = { contents };
  joinTurns(body);
  return body["contents"];
};

describe("a streamed answer with parallel calls", () => {
  it("is one content before its results, without the empty text that ended it", () => {
    const first = call("a", { thoughtSignature: "s" });
    expect(joined(user, said("I look."), first, call("b"), said(""), results)).toEqual([
      user,
      {
        role: "model",
        parts: [
          { text: "I look." },
          { functionCall: { name: "a", args: {} }, thoughtSignature: "s" },
          { functionCall: { name: "b", args: {} } },
        ],
      },
      results,
    ]);
  });

  it("T38: keeps an empty text with a signature, and spellings in snake case", () => {
    const snake = { role: "model", parts: [{ function_call: { name: "a" } }] };
    const answers = { role: "user", parts: [{ function_response: { name: "a" } }] };
    const signed = said("", { thoughtSignature: "s" });
    expect(joined(snake, signed, answers)).toEqual([
      { role: "model", parts: [...snake.parts, { text: "", thoughtSignature: "s" }] },
      answers,
    ]);
  });
});

describe("contents of other turns", () => {
  it.each([
    ["a whole answer", [user, call("a"), results]],
    ["pieces of text", [user, said("Well, "), said("no."), user]],
    ["calls without results", [user, call("a"), call("b"), user]],
  ])("TXT-07: pass as they came: %s", (_what, contents) => {
    const body: JsonObject = { contents };
    joinTurns(body);
    expect(body["contents"]).toEqual(contents);
  });

  it("TXT-07: are not even copied if no answer comes in pieces", () => {
    const contents = [user, call("a"), results];
    const body: JsonObject = { contents };
    joinTurns(body);
    expect(body["contents"]).toBe(contents);
  });
});

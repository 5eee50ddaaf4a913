/** Signatures that only their own vendor or account can verify, when no provider accepts them. T43. */
import { describe, expect, it } from "vitest";
import { withoutProofs } from "../../../src/protocols/generate-content/proofs.ts";
import type { JsonObject } from "../../../src/protocols/index.ts";

const user = { role: "user", parts: [{ text: "Look." }] };
const said = (text: string, more: JsonObject = {}): JsonObject => ({
  role: "model",
  parts: [{ text, ...more }],
});
const signed = { thoughtSignature: "of-another-account" };
const contentsOf = (...contents: JsonObject[]): unknown =>
  withoutProofs({ contents })?.body["contents"];

describe("a content that only has a signature", () => {
  it("T43: goes with it if it is the end of an answer in pieces, as Google's SDKs keep a stream", () => {
    const last = said("", { thought: true, ...signed });
    expect(contentsOf(user, said("No."), said("", signed), last, user)).toEqual([
      user,
      said("No."),
      user,
    ]);
  });

  it("T43: gets a text in its place if it is the whole answer, because Gemini refuses an empty one", () => {
    expect(contentsOf(user, said("", signed), said("", signed), user)).toEqual([
      user,
      said("(no content)"),
      user,
    ]);
  });
});

describe("a content with more than a signature", () => {
  it("T43: keeps the rest", () => {
    expect(contentsOf(user, said("No.", signed))).toEqual([user, said("No.")]);
  });

  it("T43: is unchanged if its signature is Google's marker", () => {
    expect(
      withoutProofs({
        contents: [said("", { thoughtSignature: "skip_thought_signature_validator" })],
      }),
    ).toBeUndefined();
  });
});

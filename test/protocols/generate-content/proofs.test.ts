/** Signatures that only their own vendor or account can verify, when no provider accepts them. T43. */
import { describe, expect, it } from "vitest";
import { withoutProofs } from "../../../src/protocols/generate-content/proofs.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";
import type { JsonObject } from "../../../src/protocols/index.ts";

const { direct } = generateContentCodec;
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
  const proofs = { thoughtSignature: "of-another-account" };
  const body = {
    contents: [
      {
        role: "model",
        parts: [
          { text: "I draw.", thought: true, ...proofs },
          { text: "Here.", ...proofs },
          { inlineData: { mimeType: "image/png", data: "AAAA" }, ...proofs },
          { functionCall: { name: "look", args: {} }, ...proofs },
        ],
      },
    ],
  };
  const signaturesAt = (model: string): unknown[] => {
    const sent = direct.request(direct.withoutProofs(body)!.body, { model, stream: false });
    const [content] = sent.body["contents"] as { parts: JsonObject[] }[];
    return content!.parts.map((part) => part["thoughtSignature"]);
  };
  const skip = "skip_thought_signature_validator";

  it.each([
    ["gemini-3-pro-preview", [undefined, undefined, undefined, skip]],
    ["gemini-3-pro-image-preview", [undefined, skip, skip, skip]],
    ["gemini-2.5-flash-image", [undefined, undefined, undefined, undefined]],
  ])("T43 T38: has Google's marker where %s requires a signature", (model, signatures) => {
    expect(signaturesAt(model)).toEqual(signatures);
  });

  it("T43: is unchanged if its signature is the marker", () => {
    expect(
      withoutProofs({ contents: [said("Here.", { thoughtSignature: skip })] }),
    ).toBeUndefined();
  });
});

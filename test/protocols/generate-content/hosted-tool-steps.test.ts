/** Steps of the vendor's own tools within a conversation. Traps T33, T38. */
import { expect, it } from "vitest";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { JsonObject } from "../../../src/protocols/index.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";

it("T33 T38: a step of the vendor's own tool with a signature is kept as it is", () => {
  const step = {
    executableCode: { language: "PYTHON", code: "print(1)" },
    thoughtSignature: "c2ln",
  };
  const contents = [
    { role: "user", parts: [{ text: "Hi" }] },
    { role: "model", parts: [step, { text: "1" }] },
  ];
  const { native } = generateContentCodec.decodeRequest(
    { contents },
    { model: "acme/talk", stream: false },
  );
  expect(native).toEqual([{ param: "contents[1].parts[0]", value: step }]);
});

/** Decodes these parts as a whole answer, and as a stream with each part in its own chunk. */
function decoded(parts: readonly JsonObject[]) {
  const candidate = { content: { parts: [...parts] }, finishReason: "STOP" };
  const whole = generateContentCodec.decodeResponse({ responseId: "r1", candidates: [candidate] });
  const decoder = generateContentCodec.decodeStream();
  const chunks = parts.map((part) => ({ candidates: [{ content: { parts: [part] } }] }));
  const last = { candidates: [{ finishReason: "STOP" }] };
  const events = [...chunks, last].flatMap((data) => decoder.push({ data: JSON.stringify(data) }));
  const streamed = collect([...events, ...decoder.end({ kind: "complete" })]);
  return { whole: whole.content, streamed: streamed.content };
}

it("CONV-701: texts before and after a step of the vendor's own tools stay separate, whole and streamed", () => {
  const { whole, streamed } = decoded([
    { text: "I count:" },
    { executableCode: { language: "PYTHON", code: "print(1)" } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
    { text: "It is" },
    { vendorStep: { at: 1 } },
    { text: "1." },
  ]);
  const texts = ["I count:", "It is", "1."].map((text) => ({ type: "text", text }));
  expect({ whole, streamed }).toEqual({ whole: texts, streamed: texts });
});

it.each(["text", "thought"])(
  "CONV-701 T38: the signature of a vendor tool's step is not attached to the %s before it, whole and streamed",
  (kind) => {
    const thought: JsonObject = kind === "thought" ? { thought: true } : {};
    const code = { language: "PYTHON", code: "print(1)" };
    const { whole, streamed } = decoded([
      { text: "I count:", ...thought },
      { executableCode: code, thoughtSignature: "c2ln" },
      { text: "1" },
    ]);
    expect(whole.map(({ type }) => type)).toEqual([
      kind === "thought" ? "reasoning" : "text",
      "text",
    ]);
    expect(JSON.stringify(whole)).not.toContain("signature");
    expect(streamed).toEqual(whole);
  },
);

it("CONV-701 T38: the signature of a picture is not attached to the thought before it, whole and streamed", () => {
  const signature = { protocol: "generate_content", value: "c2ln" };
  const source = { kind: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" };
  const { whole, streamed } = decoded([
    { text: "A cat.", thought: true },
    { inlineData: { mimeType: source.mediaType, data: source.data }, thoughtSignature: "c2ln" },
  ]);
  expect(whole).toEqual([
    { type: "reasoning", text: "A cat." },
    { type: "reasoning", text: "", signature },
    { type: "media", media: "image", source },
  ]);
  expect(streamed).toEqual(whole);
});

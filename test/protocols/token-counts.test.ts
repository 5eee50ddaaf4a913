/** A vendor that counts tokens gets what the call itself would send it: nothing that it refuses, and nothing that is not for it. */
import { expect, it } from "vitest";
import { codecs, tokenCounting, type JsonObject } from "../../src/protocols/index.ts";

it.each(["kimi-k2.5", "claude-opus-5"])(
  "T36 T52: a count at %s has the billing line only if the call has it",
  (model) => {
    const line = "x-anthropic-billing-header: cc_version=2.1.9; cch=1f2e3;";
    const body: JsonObject = {
      model: "acme/talk",
      system: [
        { type: "text", text: line },
        { type: "text", text: "You are Claude Code." },
      ],
      messages: [{ role: "user", content: "Hi" }],
    };
    const { system, messages } = codecs.messages.direct.request(body, {
      model,
      stream: false,
    }).body;
    expect(tokenCounting.messages.ask(body, model)).toEqual({ model, system, messages });
    expect(JSON.stringify(system).includes(line)).toBe(model.startsWith("claude"));
  },
);

it("CONV-605 T52: a count has at most four cache markers, as the call", () => {
  const marked = (text: string): JsonObject => ({
    type: "text",
    text,
    cache_control: { type: "ephemeral" },
  });
  const content = ["a", "b", "c", "d", "e"].map(marked);
  const asked = tokenCounting.messages.ask({ messages: [{ role: "user", content }] }, "claude-x");
  expect(asked["messages"]).toEqual([
    { role: "user", content: [content[0], { type: "text", text: "b" }, ...content.slice(2)] },
  ]);
});

it("T52: a count at an older Gemini has no marker in place of a signature, and one spelling of each field", () => {
  const call: JsonObject = { functionCall: { name: "f", args: {} } };
  const signed = { ...call, thoughtSignature: "skip_thought_signature_validator" };
  const body: JsonObject = {
    contents: [{ role: "model", parts: [signed] }],
    systemInstruction: { parts: [{ text: "Be brief." }] },
    system_instruction: { parts: [{ text: "Be long." }] },
  };
  expect(tokenCounting.generate_content.ask(body, "gemini-2.5-pro")).toEqual({
    generateContentRequest: {
      model: "models/gemini-2.5-pro",
      contents: [{ role: "model", parts: [call] }],
      systemInstruction: body["systemInstruction"],
    },
  });
});

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const { direct } = messagesCodec;
const upstream = { model: "vendor-model", stream: true };
const minimal: JsonObject = { model: "acme/talk", max_tokens: 100 };

describe("CONV-219: thinking with the gateway's own mark in place of a signature", () => {
  const marked = { type: "thinking", thinking: "Hm.", signature: "gw_unsigned" };
  const call = { type: "tool_use", id: "toolu_1", name: "ls", input: {} };
  const history = (...turns: JsonObject[][]): JsonObject => ({
    ...minimal,
    messages: [
      { role: "user", content: "hi" },
      ...turns.map((content) => ({ role: "assistant", content })),
    ],
  });

  it("is removed and reported once, without a change of the caller's object", () => {
    const body = history([marked, call], [{ type: "text", text: "Hi" }], [marked, marked, call]);
    const before = structuredClone(body);
    const { body: sent, notes } = direct.request(body, upstream);
    const kept = history([call], [{ type: "text", text: "Hi" }], [call]);
    expect(sent).toEqual({ ...kept, model: "vendor-model" });
    expect(notes).toEqual([
      {
        param: "messages.content.thinking",
        kind: "dropped",
        detail: expect.stringContaining("its own signature only") as string,
      },
    ]);
    expect(body).toEqual(before);
  });

  it("T25: leaves no message empty when it is removed", () => {
    const { body } = direct.request(history([marked]), upstream);
    expect(body["messages"]).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "text", text: "(no content)" }] },
    ]);
  });

  it.each([
    ["a vendor's signature", [{ ...marked, signature: "c2ln" }]],
    ["an empty signature, as compatible vendors give", [{ ...marked, signature: "" }]],
    ["no signature", [{ type: "thinking", thinking: "Hm." }]],
    ["no thinking", [call]],
  ] as [string, JsonObject[]][])(
    "TXT-07: does not include other blocks: with %s nothing is copied or reported",
    (_, blocks) => {
      const body = history(blocks);
      const { body: sent, notes } = direct.request(body, upstream);
      expect(sent["messages"]).toBe(body["messages"]);
      expect(notes).toEqual([]);
    },
  );

  it.each([
    ["an empty one", { type: "thinking", thinking: "Hm.", signature: "" }],
    ["none", { type: "thinking", thinking: "Hm." }],
    [
      "MiniMax's",
      {
        ...marked,
        signature: "1c3a0ae890922669e9815a201f9b645abdaafe8d8b5a65a5e48f90830c6e0750",
      },
    ],
    ["DeepSeek's", { ...marked, signature: "91cfbb94-554b-4136-8e21-fa02280d56ed" }],
  ])("T39: includes %s at Claude, which refuses the conversation otherwise", (_, bare) => {
    const own = {
      ...marked,
      signature: "EvQBCkYICxgCKkAxhD4NUKFzudtZ6NzbZdEiBACIScTzqjPViM596g==",
    };
    const body = history([bare, call], [own]);
    const { body: sent, notes } = direct.request(body, { ...upstream, model: "claude-haiku-4-5" });
    expect(sent["messages"]).toEqual(history([call], [own])["messages"]);
    expect(notes.map(({ param, kind }) => `${kind} ${param}`)).toEqual([
      "dropped messages.content.thinking",
    ]);
  });

  it("is treated like citations with that mark, which are removed too; the vendor's own stay", () => {
    const cites = (proof: string): JsonObject => ({
      type: "web_search_result_location",
      url: "https://example.org/a",
      title: null,
      cited_text: "",
      encrypted_index: proof,
    });
    const text = { type: "text", text: "So." };
    const body = history(
      [{ ...text, citations: [cites("gw_unsigned")] }],
      [{ ...text, citations: [cites("Eo8B"), cites("gw_unsigned")] }],
    );
    const { body: sent, notes } = direct.request(body, upstream);
    const kept = history([text], [{ ...text, citations: [cites("Eo8B")] }]);
    expect(sent).toEqual({ ...kept, model: "vendor-model" });
    expect(notes.map(({ param, kind }) => `${kind} ${param}`)).toEqual([
      "dropped messages.content.citations",
    ]);
  });
});

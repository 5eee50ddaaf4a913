/**
 * Earlier calls at Gemini in chat. Models of the third generation refuse a conversation in which the first call of an answer has no
 * signature. Trap T38.
 */
import { describe, expect, it } from "vitest";
import { vendorQuirks } from "../../src/catalog/index.ts";
import { routeOf } from "./route.ts";
import type { Body, Name } from "./world.ts";

const upstreamModel = "google/gemini-3.5-flash";
const skipped = { google: { thought_signature: "skip_thought_signature_validator" } };
const call = (id: string, more: Body = {}): Body => ({
  id,
  type: "function",
  function: { name: "look", arguments: "{}" },
  ...more,
});
const result = (id: string): Body => ({ role: "tool", tool_call_id: id, content: "there" });
const chat = (calls: Body[], more: Body = {}): Body => ({
  messages: [
    { role: "user", content: "Where?" },
    { role: "assistant", content: null, tool_calls: calls, ...more },
    ...calls.map(({ id }) => result(String(id))),
  ],
});

const callsSent = (from: Name, body: Body, model: string = upstreamModel): unknown => {
  const route = routeOf(from, "chat", { model: "acme/x", ...body }, { upstreamModel: model });
  expect(route.notes).toEqual([]);
  return (route.body["messages"] as Body[])[1]!["tool_calls"];
};

describe("an answer with calls", () => {
  const signed = [call("c1", { extra_content: skipped }), call("c2")];

  it("T38: has Google's marker on the first call if a caller of messages sends it", () => {
    const use = (id: string): Body => ({ type: "tool_use", id, name: "look", input: {} });
    const used = (id: string): Body => ({ type: "tool_result", tool_use_id: id, content: "there" });
    const messages = [
      { role: "user", content: "Where?" },
      { role: "assistant", content: [use("c1"), use("c2")] },
      { role: "user", content: [used("c1"), used("c2")] },
    ];
    expect(callsSent("messages", { max_tokens: 100, messages })).toEqual(signed);
  });

  it("T38: has it on the direct route, if the client did not keep the signature", () => {
    const body = chat([call("c1"), call("c2")]);
    const before = structuredClone(body);
    expect(callsSent("chat", body)).toEqual(signed);
    expect(body).toEqual(before);
  });

  it.each([
    [
      "its own signature",
      [call("c1", { extra_content: { google: { thought_signature: "c2ln" } } })],
      {},
    ],
    [
      "OpenRouter's details",
      [call("c1")],
      { reasoning_details: [{ type: "reasoning.encrypted" }] },
    ],
  ] as [string, Body[], Body][])("T38: is unchanged with %s", (_, calls, more) => {
    expect(callsSent("chat", chat(calls, more))).toEqual(calls);
  });

  it("T38: has it if OpenRouter's details are another vendor's, after a change of the model", () => {
    const details = (format: string): Body => ({
      reasoning_details: [{ type: "reasoning.encrypted", data: "c2ln", format, index: 0 }],
    });
    const calls = [call("c1"), call("c2")];
    expect(callsSent("chat", chat(calls, details("google-gemini-v1")))).toEqual(calls);
    for (const format of ["openai-responses-v1", "anthropic-claude-v1"])
      expect(callsSent("chat", chat(calls, details(format)))).toEqual(signed);
    for (const format of ["MiniMax-response-v1", "unknown", "google-gemini-v1"]) {
      const text = { type: "reasoning.text", text: "Hm.", format, index: 0 };
      expect(callsSent("chat", chat(calls, { reasoning_details: [text] }))).toEqual(signed);
      const both = { reasoning_details: [text, { type: "reasoning.encrypted", data: "c2ln" }] };
      expect(callsSent("chat", chat(calls, both))).toEqual(calls);
    }
  });

  it.each(["gemini-2.5-flash", "gpt-5"])("T38: is unchanged at %s", (model) => {
    expect(callsSent("chat", chat([call("c1")]), model)).toEqual([call("c1")]);
  });
});

describe("the signature of a call", () => {
  const own = { extra_content: { google: { thought_signature: "c2ln" } } };
  const body = { model: "acme/x", ...chat([call("c1", own), call("c2")]) };
  const at = (id: string) => {
    const quirks = vendorQuirks({
      id,
      baseUrl: "https://up.example/v1",
      dialect: "openai-compatible",
    });
    const route = routeOf("chat", "chat", body, { ...quirks, upstreamModel: "glm-5.2" });
    const [, answer] = route.body["messages"] as Body[];
    return { calls: answer!["tool_calls"], params: route.notes.map(({ param }) => param) };
  };

  it.each(["fireworks-ai", "mistral"])(
    "T38: is not sent to %s, which refuses it, and reported",
    (id) => {
      const params = ["messages.tool_calls.extra_content"];
      expect(at(id)).toEqual({ calls: [call("c1"), call("c2")], params });
      expect(body).toEqual({ model: "acme/x", ...chat([call("c1", own), call("c2")]) });
    },
  );

  it("T38: is sent to other vendors", () => {
    expect(at("local")).toEqual({ calls: [call("c1", own), call("c2")], params: [] });
  });
});

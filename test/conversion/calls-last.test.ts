/**
 * The calls of a turn towards Claude come after its texts. With a text after them, it misses their results or sees the start of an answer,
 * and refuses every later request of the conversation. Traps T20, T39.
 */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { byName, type Body } from "./world.ts";

const call = (id: string): Body => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: "{}",
});
const output = (id: string): Body => ({
  type: "function_call_output",
  call_id: id,
  output: "Here.",
});

/** Two calls, with texts of the model before, between and after them. */
const conversation: Body = {
  ...byName.responses.body("acme/x", false),
  input: [
    { role: "user", content: "Where?" },
    { role: "assistant", content: "One." },
    call("c1"),
    { role: "assistant", content: "Two." },
    call("c2"),
    { role: "assistant", content: "Three." },
    output("c1"),
    output("c2"),
  ],
};

const sent = (to: "messages" | "converse", body: Body, from: "responses" | "generate_content") =>
  (routeOf(from, to, body).body["messages"] as { role: string; content: Body[] }[]).map(
    ({ role, content }) => ({ role, content }),
  );

describe("a turn with texts after calls", () => {
  it("T20: has its calls at the end towards messages, in order", () => {
    const [, answer, results] = sent("messages", conversation, "responses");
    expect(answer!.content).toMatchObject([
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
      { type: "text", text: "Three." },
      { type: "tool_use", id: "c1" },
      { type: "tool_use", id: "c2" },
    ]);
    expect(results!.content).toMatchObject([{ tool_use_id: "c1" }, { tool_use_id: "c2" }]);
  });

  it("T20: likewise towards Converse, and from generateContent", () => {
    const [, answer] = sent("converse", conversation, "responses");
    const kinds = answer!.content.map((block) => Object.keys(block)[0]);
    expect(kinds).toEqual(["text", "text", "text", "toolUse", "toolUse"]);
    const contents = [
      { role: "user", parts: [{ text: "Where?" }] },
      {
        role: "model",
        parts: [{ functionCall: { name: "look", args: {} } }, { text: "Looking." }],
      },
      { role: "user", parts: [{ functionResponse: { name: "look", response: {} } }] },
    ];
    const [, spoken] = sent("converse", { contents }, "generate_content");
    expect(spoken!.content.map((block) => Object.keys(block)[0])).toEqual(["text", "toolUse"]);
  });
});

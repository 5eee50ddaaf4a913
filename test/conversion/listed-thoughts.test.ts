/** Thoughts among the content of earlier chat answers, as Mistral, Databricks and others write them. T18, CONV-219. */
import { expect, it } from "vitest";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const said = (...content: Body[]) => ({ role: "assistant", content });
const text = { type: "text", text: "Hi" };
const asked = (answer: Body): Body => ({
  model: "acme/x",
  messages: [{ role: "user", content: "x" }, answer, { role: "user", content: "y" }],
});

const thoughts: Body[] = [
  { type: "thinking", thinking: [{ type: "text", text: "Well" }], closed: true },
  { type: "thinking", thinking: "Well", signature: "S" },
  { type: "reasoning", summary: [{ type: "summary_text", text: "Well", signature: "S" }] },
];

it.each(thoughts)("T18: a conversation goes on at another vendor's model: %j", (thought) => {
  for (const to of ["messages", "responses", "generate_content", "converse"] as const) {
    const { body, notes } = routeOf("chat", to, asked(said(thought, text)));
    expect(JSON.stringify(body)).toContain("Hi");
    expect(JSON.stringify(body)).not.toContain("Well");
    expect(notes.map(({ param, kind }) => [param, kind])).toEqual([
      ["messages.reasoning_content", "dropped"],
    ]);
  }
  const { body } = routeOf("chat", "chat", asked(said(thought, text)));
  expect(body["messages"]).toContainEqual(said(thought, text));
});

it("T18: a thought among a user's words is still refused", () => {
  const turn = { role: "user", content: [thoughts[0]!, text] };
  expect(() => routeOf("chat", "messages", asked(turn))).toThrow(/\(thinking\)/);
});

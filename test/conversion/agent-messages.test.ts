/** Messages between the agents of Codex, in shapes that it sends (openai/codex#33551, Wei-Shaw/sub2api#6887). RESP-27; T33. */
import { expect, it } from "vitest";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { vendorQuirks } from "../../src/catalog/index.ts";
import { routeOf } from "./route.ts";
import { type Body, type Name } from "./world.ts";

const heading = "Message Type: NEW_TASK\nSender: /root\nPayload:\n";
const message = (task: string): Body => ({
  type: "agent_message",
  id: "amsg_1",
  author: "/root",
  recipient: "/root/child",
  content: [
    { type: "input_text", text: heading },
    { type: "encrypted_content", encrypted_content: task },
  ],
});
const bodyOf = (task: string): Body => ({
  model: "acme/x",
  input: [{ type: "message", role: "user", content: "Hi" }, message(task)],
});
const task = "Reply with the single word: ALPHA";
const sealed = "gAAAAABo_sealed";

it.each<[Name | "converse"]>([["chat"], ["messages"], ["generate_content"], ["converse"]])(
  "T33: a message between agents reaches %s as a user's, with its task",
  (to) => {
    const { body, notes } = routeOf("responses", to, bodyOf(task));
    expect(JSON.stringify(body)).toContain(JSON.stringify(heading).slice(1, -1));
    expect(JSON.stringify(body)).toContain(task);
    const params = notes.map(({ param }) => param);
    expect(params.slice(0, 2)).toEqual(["input[1].author", "input[1].recipient"]);
  },
);

it("T33: a task that only OpenAI can read is refused elsewhere, by its place", () => {
  expect(() => routeOf("responses", "chat", bodyOf(sealed))).toThrow(
    /input\[1\] \(agent_message\).*encrypted/,
  );
});

const direct = (dialect: "openai" | "openai-compatible", text: string) =>
  routeOf(
    "responses",
    "responses",
    bodyOf(text),
    vendorQuirks({ id: "up", baseUrl: "https://up.example/v1", dialect }),
  );

it("RESP-27: other vendors of responses get it as a user's message, which is reported", () => {
  const { body, notes } = direct("openai-compatible", task);
  expect((body["input"] as Body[])[1]).toEqual({
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: heading },
      { type: "input_text", text: task },
    ],
  });
  expect(notes).toMatchObject([{ param: "input.agent_message", kind: "rewritten" }]);
});

it("RESP-27: OpenAI gets it unchanged, and any vendor one that it may be able to read", () => {
  for (const [dialect, text] of [
    ["openai", task],
    ["openai", sealed],
    ["openai-compatible", sealed],
  ] as const) {
    const { body, notes } = direct(dialect, text);
    expect((body["input"] as Body[])[1]).toEqual(message(text));
    expect(notes).toEqual([]);
  }
});

it("T64: its task in plain text counts towards the reservation", () => {
  const sizeOf = (text: string) =>
    codecs.responses.direct.facts(bodyOf(text) as JsonObject).inputCharacters;
  expect(sizeOf(`${task}${"x".repeat(1000)}`) - sizeOf(task)).toBe(1000);
});

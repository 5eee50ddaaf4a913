/** Conversations of other protocols at Mistral models, which are stricter than other chat models. Traps T20, T21. */
import { describe, expect, it } from "vitest";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const call = (id: string): Body => ({ type: "tool_use", id, name: "look", input: {} });
const result = (id: string): Body => ({ type: "tool_result", tool_use_id: id, content: id });
const conversation: Body = {
  model: "acme/x",
  max_tokens: 100,
  messages: [
    { role: "user", content: "Where is it?" },
    { role: "assistant", content: [call("toolu_01ABC"), call("aB3dE6gH9")] },
    {
      role: "user",
      content: [
        result("toolu_01ABC"),
        result("aB3dE6gH9"),
        { type: "text", text: "Keep it short." },
      ],
    },
  ],
};

const sent = (model: string): Body[] =>
  routeOf("messages", "chat", conversation, { upstreamModel: model }).body["messages"] as Body[];

describe("a conversation with tool calls", () => {
  it.each(["devstral-medium-latest", "mistralai/mistral-small-4-119b-2603", "open-mixtral-8x22b"])(
    "T20 T21: has ids of nine characters at %s, and an answer before the user's next text",
    (model) => {
      const [, turn, first, second, ...rest] = sent(model);
      const ids = [0, 1].map((index) => at(turn, "tool_calls", index, "id"));
      expect(ids[0]).toMatch(/^[a-zA-Z0-9]{9}$/);
      expect(ids[1]).toBe("aB3dE6gH9");
      expect([first!["tool_call_id"], second!["tool_call_id"]]).toEqual(ids);
      expect(rest).toMatchObject([
        { role: "assistant" },
        { role: "user", content: "Keep it short." },
      ]);
      expect(sent(model)).toEqual(sent(model));
    },
  );

  it.each([
    ["devstral-medium-latest", [{ param: "messages", kind: "rewritten" }]],
    ["gpt-5.2", []],
  ])("T33: reports the added answer at %s", (model, notes) => {
    expect(routeOf("messages", "chat", conversation, { upstreamModel: model }).notes).toMatchObject(
      notes,
    );
  });

  it("T33: reports no addition if none was needed", () => {
    const messages = (conversation["messages"] as Body[]).slice(0, 2);
    const content = [result("toolu_01ABC"), result("aB3dE6gH9")];
    const body = { ...conversation, messages: [...messages, { role: "user", content }] };
    expect(
      routeOf("messages", "chat", body, { upstreamModel: "devstral-medium-latest" }).notes,
    ).toEqual([]);
  });

  it("is unchanged at other models", () => {
    expect(sent("gpt-5.2").map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
    ]);
    expect(at(sent("gpt-5.2")[1], "tool_calls", 0, "id")).toBe("toolu_01ABC");
  });
});

describe("a chat conversation that another vendor began, on the direct route", () => {
  const calls = ["call_PTLP8xhu3uwZk4l3nlnrrJha", "aB3dE6gH9"];
  const messages: Body[] = [
    { role: "user", content: "Where is it?" },
    {
      role: "assistant",
      content: null,
      tool_calls: calls.map((id) => ({
        id,
        type: "function",
        function: { name: "look", arguments: "{}" },
      })),
    },
    ...calls.map((id) => ({ role: "tool", tool_call_id: id, content: id })),
  ];
  const routed = (upstreamModel: string) =>
    routeOf("chat", "chat", { model: "acme/x", messages }, { upstreamModel });

  it("T21: has ids of nine characters, which is reported", () => {
    const { body, notes } = routed("mistral-large-latest");
    const [, turn, ...results] = body["messages"] as Body[];
    const ids = [0, 1].map((index) => at(turn, "tool_calls", index, "id"));
    expect(ids).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/), "aB3dE6gH9"]);
    expect(results.map(({ tool_call_id: id }) => id)).toEqual(ids);
    expect(results.map(({ content }) => content)).toEqual(calls);
    expect(notes).toMatchObject([{ param: "messages.tool_calls", kind: "rewritten" }]);
  });

  it("is unchanged at other models", () => {
    const { body, notes } = routed("gpt-5.2");
    expect([body["messages"], notes]).toEqual([messages, []]);
  });
});

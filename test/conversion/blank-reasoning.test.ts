/** Tool conversations at models that refuse earlier answers without reasoning, or `tool_choice`. Traps T29, T39, T41. */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { names, type Body } from "./world.ts";

const call = { name: "look", arguments: '{"where":"Rome"}' };
const input = { where: "Rome" };

/** A question, a call, its result, an answer and another question, in each caller's protocol. */
const conversations: Readonly<Record<Exclude<(typeof names)[number], "chat">, Body>> = {
  responses: {
    model: "acme/x",
    input: [
      { role: "user", content: "Where?" },
      { type: "function_call", call_id: "c1", ...call },
      { type: "function_call_output", call_id: "c1", output: "there" },
      { role: "assistant", content: "It is there." },
      { role: "user", content: "Sure?" },
    ],
  },
  messages: {
    model: "acme/x",
    max_tokens: 100,
    messages: [
      { role: "user", content: "Where?" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "there" }] },
      { role: "assistant", content: "It is there." },
      { role: "user", content: "Sure?" },
    ],
  },
  generate_content: {
    contents: [
      { role: "user", parts: [{ text: "Where?" }] },
      { role: "model", parts: [{ functionCall: { name: "look", args: input } }] },
      {
        role: "user",
        parts: [{ functionResponse: { name: "look", response: { output: "there" } } }],
      },
      { role: "model", parts: [{ text: "It is there." }] },
      { role: "user", parts: [{ text: "Sure?" }] },
    ],
  },
};

const callers = names.filter((name) => name !== "chat");

/** The reasoning of each assistant message, as sent to the upstream. */
function sent(from: (typeof callers)[number], body: Body, more: object): unknown[] {
  const messages = routeOf(from, "chat", body, more).body["messages"] as Body[];
  const answers = messages.filter(({ role }) => role === "assistant");
  return answers.map(({ reasoning_content }) => reasoning_content);
}

describe.each(callers)("a conversation of %s", (from) => {
  it.each([
    "kimi-k2.5",
    "moonshotai/Kimi-K2-Thinking",
    "deepseek-v4-pro",
    "deepseek-reasoner",
    "mimo-v2.5-pro",
    "XiaomiMiMo/MiMo-V2.5",
  ])("T41: has a blank as each answer's reasoning at %s", (upstreamModel) => {
    expect(sent(from, conversations[from], { upstreamModel })).toEqual([" ", " "]);
  });

  it("T39: has no added reasoning at other models", () => {
    const upstreamModel = "qwen3-max";
    expect(sent(from, conversations[from], { upstreamModel })).toEqual([undefined, undefined]);
  });

  it("T41: has no added reasoning at a provider that refuses reasoning in messages", () => {
    const more = { upstreamModel: "kimi-k2.5", refusedMembers: ["reasoning_content"] };
    expect(sent(from, conversations[from], more)).toEqual([undefined, undefined]);
  });
});

const upstreamModel = "deepseek-v4-pro";
const question = (content: string): Body => ({ role: "user", content });

it("T41: existing reasoning is sent, and answers without reasoning get a blank", () => {
  const [asked, called, ...rest] = conversations.messages["messages"] as Body[];
  const thought = { type: "thinking", thinking: "Let me look.", signature: "gw_unsigned" };
  const calling = { ...called, content: [thought, ...(called!["content"] as Body[])] };
  const body = { ...conversations.messages, messages: [asked, calling, ...rest] };
  expect(sent("messages", body, { upstreamModel })).toEqual(["Let me look.", " "]);
});

it.each(["generate_content", "responses"] as const)(
  "T41: answers of %s get blank thinking at DeepSeek in messages too",
  (from) => {
    const kindsAt = (upstreamModel: string) =>
      (routeOf(from, "messages", conversations[from], { upstreamModel }).body["messages"] as Body[])
        .filter(({ role }) => role === "assistant")
        .map(({ content }) => (content as Body[]).map(({ type }) => type));
    expect(kindsAt("deepseek-v4-pro")).toEqual([
      ["thinking", "tool_use"],
      ["thinking", "text"],
    ]);
    expect(kindsAt("claude-sonnet-5")).toEqual([["tool_use"], ["text"]]);
  },
);

it("T41: a conversation without calls is unchanged", () => {
  const messages = [question("Hi"), { role: "assistant", content: "Yes?" }];
  const body = { ...conversations.messages, messages: [...messages, question("Why?")] };
  expect(sent("messages", body, { upstreamModel })).toEqual([undefined]);
});

it.each(["messages", "chat"] as const)(
  "T41: a conversation of %s without calls has the blank if tools are offered: the prompt stays the same at the first call",
  (from) => {
    const tools = [
      { name: "look", input_schema: { type: "object", properties: {} } },
      { type: "function", function: { name: "look" } },
    ].slice(from === "chat" ? 1 : 0, from === "chat" ? 2 : 1);
    const messages = [question("Hi"), { role: "assistant", content: "Yes?" }, question("Why?")];
    const body = { model: "acme/x", max_tokens: 100, messages, tools };
    const { body: up } = routeOf(from, "chat", body, { upstreamModel });
    expect((up["messages"] as Body[])[1]).toMatchObject({ reasoning_content: " " });
  },
);

describe("a chat conversation that another vendor began, on the direct route", () => {
  const tool_calls = [{ id: "c1", type: "function", function: call }];
  const messages: Body[] = [
    { role: "user", content: "Where?" },
    { role: "assistant", content: null, tool_calls },
    { role: "tool", tool_call_id: "c1", content: "there" },
    { role: "assistant", content: "It is there.", reasoning: "Read it out." },
    { role: "user", content: "Sure?" },
    { role: "assistant", content: "Sure.", reasoning_content: "Of course." },
    { role: "user", content: "Really?" },
  ];
  const reasoningAt = (model: string, said: Body[] = messages, more: object = {}): unknown[] => {
    const body = { model: "acme/x", messages: said };
    const route = routeOf("chat", "chat", body, { upstreamModel: model, ...more });
    const answers = (route.body["messages"] as Body[]).filter(({ role }) => role === "assistant");
    return answers.map(({ reasoning_content }) => reasoning_content);
  };

  it.each(["kimi-k2.5", "deepseek/deepseek-v4-pro", "xiaomi/mimo-v2.5"])(
    "T41: has reasoning in each answer at %s, and a blank where there was none",
    (model) => {
      expect(reasoningAt(model)).toEqual([" ", "Read it out.", "Of course."]);
    },
  );

  it("T41: is unchanged at other models, without calls, or where reasoning is refused", () => {
    const unchanged = [undefined, undefined, "Of course."];
    expect(reasoningAt("qwen3-max")).toEqual(unchanged);
    expect(reasoningAt("kimi-k2.5", messages.slice(3))).toEqual(unchanged.slice(1));
    const refusedMembers = ["reasoning_content", "reasoning"];
    expect(reasoningAt("kimi-k2.5", messages, { refusedMembers })).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the tool choice", () => {
  const tools = [{ name: "look", input_schema: { type: "object", properties: {} } }];
  const sentChoice = (model: string, type: string): unknown => {
    const body = { ...conversations.messages, tools, tool_choice: { type } };
    return routeOf("messages", "chat", body, { upstreamModel: model }).body["tool_choice"];
  };

  it("T29: is not sent as auto to DeepSeek, which refuses it while it reasons", () => {
    expect(sentChoice("deepseek-v4-flash", "auto")).toBeUndefined();
    expect(sentChoice("deepseek-v4-flash", "any")).toBe("required");
    expect(sentChoice("deepseek-v4-flash", "none")).toBe("none");
  });

  it("T29: is sent as auto to other models", () => {
    expect(sentChoice("kimi-k2.5", "auto")).toBe("auto");
  });
});

describe("answers and results without text", () => {
  const tool_calls = [{ id: "c1", type: "function", function: call }];
  const textless: Readonly<Record<"chat" | "messages", Body>> = {
    chat: {
      model: "acme/x",
      messages: [
        question("Where?"),
        { role: "assistant", content: null, tool_calls },
        { role: "tool", tool_call_id: "c1", content: "" },
      ],
    },
    messages: {
      model: "acme/x",
      max_tokens: 100,
      messages: [
        question("Where?"),
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "" }] },
      ],
    },
  };

  it.each(["chat", "messages"] as const)(
    "T41: messages without text of a caller of %s get a blank at MiMo",
    (from) => {
      const contents = (model: string) => {
        const route = routeOf(from, "chat", textless[from], { upstreamModel: model });
        expect(route.notes).toEqual([]);
        return (route.body["messages"] as Body[]).map(({ content }) => content);
      };
      expect(contents("mimo-v2.5-pro")).toEqual(["Where?", " ", " "]);
      expect(contents("kimi-k2.5")).toEqual(["Where?", null, ""]);
    },
  );
});

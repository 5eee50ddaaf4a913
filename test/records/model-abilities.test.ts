/** How a request is fitted to its model's record, on the direct route and in conversion. docs/models.md; CONV-218, ERR-12. */
import { describe, expect, it } from "vitest";
import type { Abilities, ReasoningAbility } from "../../src/base/abilities.ts";
import { GatewayError } from "../../src/base/errors.ts";
import {
  codecs,
  createRoute,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";

const turns: Readonly<Record<ProtocolName, JsonObject>> = {
  chat: { model: "m", messages: [{ role: "user", content: "hi" }] },
  responses: { model: "m", input: "hi" },
  messages: { model: "m", max_tokens: 9000, messages: [{ role: "user", content: "hi" }] },
  generate_content: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

function routed(
  [caller, upstream]: readonly [ProtocolName, ProtocolName],
  members: JsonObject,
  abilities: Abilities,
) {
  return createRoute({
    caller: codecs[caller],
    upstream: codecs[upstream],
    body: { ...turns[caller], ...members },
    stream: false,
    requestedModel: "m",
    model: "m",
    upstreamModel: "up",
    maxOutputTokens: 64_000,
    abilities,
    inputMedia: JSON.stringify(members).includes("image") ? 1 : 0,
    inputEstimate: 1,
    id: "id",
    createdAt: 0,
  });
}

/** The members that are sent, without the turns, and the names of the reported ones. */
function sent(...[pair, members, abilities]: Parameters<typeof routed>) {
  const { body, notes } = routed(pair, members, abilities);
  const { model: _model, max_tokens: _max, messages, input, contents, ...rest } = body;
  expect(messages ?? input ?? contents).toBeDefined();
  return [rest, ...notes.map(({ kind, param }) => `${kind} ${param}`)];
}

const efforts = ["low", "medium", "high", "xhigh", "max"];
const adaptive: ReasoningAbility = { kind: "adaptive", values: efforts, off: false };
const betweenTools: ReasoningAbility = { ...adaptive, off: true, offAs: "between_tools" };
const budget: ReasoningAbility = { kind: "budget", min: 1024, max: 20_000, off: true };
const threeEfforts: ReasoningAbility = {
  kind: "effort",
  values: ["low", "medium", "high"],
  off: false,
};
const messagesDirect = ["messages", "messages"] as const;
const chatToMessages = ["chat", "messages"] as const;
const effort = (word: string): JsonObject => ({ output_config: { effort: word } });
const thinkingOf = (type: string, more: JsonObject = {}): JsonObject => ({
  thinking: { type, ...more },
});

describe("a model with unknown abilities", () => {
  it.each([
    [thinkingOf("disabled"), "how this model's reasoning is switched off is not known, dropped"],
    [thinkingOf("adaptive"), "the model decides itself how much it reasons, dropped"],
    [
      thinkingOf("enabled", { budget_tokens: 2000 }),
      "a token budget cannot become an effort level, dropped",
    ],
  ])("receives nothing of %j, and the note says why: CONV-218", (thinking, why) => {
    for (const to of ["chat", "responses"] as const)
      expect(routed(["messages", to], thinking, {}).notes.map(({ detail }) => detail)).toEqual([
        why,
      ]);
  });
});

describe("an adaptive model", () => {
  it("gets an effort as adaptive thinking, from callers of three protocols", () => {
    const expected = { ...thinkingOf("adaptive"), ...effort("high") };
    expect(sent(chatToMessages, { reasoning_effort: "high" }, { reasoning: adaptive })).toEqual([
      expected,
    ]);
    const level = { generationConfig: { thinkingConfig: { thinkingLevel: "HIGH" } } };
    expect(sent(["generate_content", "messages"], level, { reasoning: adaptive })).toEqual([
      expected,
    ]);
    expect(sent(messagesDirect, effort("high"), { reasoning: adaptive })).toEqual([expected]);
  });

  it("gets the nearest effort that it supports; an unknown effort is dropped", () => {
    const near = (word: string) =>
      sent(chatToMessages, { reasoning_effort: word }, { reasoning: adaptive });
    const note = "rewritten reasoning_effort";
    expect(near("minimal")).toEqual([{ ...thinkingOf("adaptive"), ...effort("low") }, note]);
    expect(near("none")).toEqual([{ ...thinkingOf("adaptive"), ...effort("low") }, note]);
    expect(near("much")).toEqual([thinkingOf("adaptive"), "dropped reasoning_effort"]);
  });

  it("gets adaptive thinking instead of the caller's budget, and the other fields unchanged", () => {
    const body = thinkingOf("enabled", { budget_tokens: 2000, display: "summarized" });
    expect(
      sent(messagesDirect, { ...body, service_tier_note: 1 }, { reasoning: adaptive }),
    ).toEqual([
      { ...thinkingOf("adaptive", { display: "summarized" }), service_tier_note: 1 },
      "rewritten thinking.budget_tokens",
    ]);
  });

  it("has reasoning switched off with its vendor's own value, or set to the lowest effort", () => {
    expect(sent(messagesDirect, thinkingOf("disabled"), { reasoning: betweenTools })).toEqual([
      thinkingOf("between_tools"),
    ]);
    expect(sent(messagesDirect, thinkingOf("between_tools"), { reasoning: betweenTools })).toEqual([
      thinkingOf("between_tools"),
    ]);
    expect(sent(chatToMessages, { reasoning_effort: "none" }, { reasoning: betweenTools })).toEqual(
      [thinkingOf("between_tools")],
    );
    for (const word of ["disabled", "between_tools"]) {
      expect(sent(messagesDirect, thinkingOf(word), { reasoning: adaptive })).toEqual([
        { ...thinkingOf("adaptive"), ...effort("low") },
        "rewritten thinking",
      ]);
    }
  });

  it("gets a request that it supports unchanged", () => {
    const body: JsonObject = {
      ...thinkingOf("adaptive"),
      ...effort("max"),
      tool_choice: { type: "auto" },
    };
    expect(sent(messagesDirect, body, { reasoning: adaptive })).toEqual([body]);
    const callersThinking = body["thinking"];
    expect(
      routed(messagesDirect, { ...body, thinking: callersThinking! }, { reasoning: adaptive }).body[
        "thinking"
      ],
    ).toBe(callersThinking);
  });
});

describe("a model that reasons in another way", () => {
  it("budgets: an effort becomes a budget in range, and adaptive thinking a medium budget", () => {
    const of = (tokens: number) => thinkingOf("enabled", { budget_tokens: tokens });
    expect(sent(chatToMessages, { reasoning_effort: "medium" }, { reasoning: budget })[0]).toEqual(
      of(8192),
    );
    expect(sent(chatToMessages, { reasoning_effort: "max" }, { reasoning: budget })[0]).toEqual(
      of(20_000),
    );
    expect(sent(messagesDirect, of(1500), { reasoning: { ...budget, min: 2000 } })).toEqual([
      of(2000),
      "rewritten thinking.budget_tokens",
    ]);
    expect(sent(messagesDirect, thinkingOf("adaptive"), { reasoning: budget })).toEqual([
      of(8192),
      "rewritten thinking",
    ]);
  });

  it("efforts: the nearest level is sent, to Google's models too, and a budget is dropped", () => {
    const pair = ["generate_content", "generate_content"] as const;
    const config = (thinkingConfig: JsonObject) => ({
      generationConfig: { topK: 3, thinkingConfig },
    });
    expect(sent(pair, config({ thinkingLevel: "MINIMAL" }), { reasoning: threeEfforts })).toEqual([
      config({ thinkingLevel: "LOW" }),
      "rewritten generationConfig.thinkingConfig.thinkingLevel",
    ]);
    const snake = { generation_config: { top_k: 3, thinking_config: { thinking_budget: 500 } } };
    expect(sent(pair, snake, { reasoning: threeEfforts })).toEqual([
      { generationConfig: { topK: 3 } },
      "dropped generation_config.thinking_config.thinking_budget",
    ]);
    expect(
      sent(["chat", "responses"], { reasoning_effort: "max" }, { reasoning: threeEfforts })[0],
    ).toEqual({
      reasoning: { effort: "high" },
    });
  });

  it("no reasoning: an effort is dropped", () => {
    expect(
      sent(["chat", "chat"], { reasoning_effort: "low" }, { reasoning: { kind: "none" } }),
    ).toEqual([{}, "dropped reasoning_effort"]);
  });

  it("vendors' own chat fields: an effort becomes `enable_thinking` or `thinking`", () => {
    const to = (field: "enable_thinking" | "thinking", can: "toggle" | "budget", word: string) =>
      sent(
        ["chat", "chat"],
        { reasoning_effort: word },
        {
          reasoning: can === "toggle" ? { kind: can, off: true, field } : { ...budget, field },
        },
      )[0];
    expect(to("enable_thinking", "toggle", "low")).toEqual({ enable_thinking: true });
    expect(to("enable_thinking", "toggle", "none")).toEqual({ enable_thinking: false });
    expect(to("enable_thinking", "budget", "medium")).toEqual({
      enable_thinking: true,
      thinking_budget: 8192,
    });
    expect(to("thinking", "toggle", "low")).toEqual({ thinking: { type: "enabled" } });
    expect(to("thinking", "toggle", "none")).toEqual({ thinking: { type: "disabled" } });
  });

  it("on or off: an effort is reported as rewritten, adaptive thinking is not", () => {
    const reasoning = { kind: "toggle", off: true, field: "thinking" } as const;
    expect(sent(["messages", "chat"], thinkingOf("adaptive"), { reasoning })).toEqual([
      { thinking: { type: "enabled" } },
    ]);
    expect(sent(["messages", "chat"], effort("high"), { reasoning })).toEqual([
      { thinking: { type: "enabled" } },
      "rewritten output_config.effort",
    ]);
  });

  it("parameters that a vendor refuses beside reasoning are dropped only if the model reasons", () => {
    const can: Abilities = {
      reasoning: { ...threeEfforts, off: true, excludes: ["temperature", "logprobs"] },
    };
    const body = { temperature: 0.5, logprobs: true };
    expect(sent(["chat", "chat"], { ...body, reasoning_effort: "none" }, can)).toEqual([
      { ...body, reasoning_effort: "none" },
    ]);
    expect(sent(["chat", "chat"], { ...body, reasoning_effort: "low" }, can)).toEqual([
      { reasoning_effort: "low" },
      "dropped temperature",
      "dropped logprobs",
    ]);
    expect(sent(["messages", "chat"], { temperature: 0.5, ...effort("low") }, can)[0]).toEqual({
      reasoning_effort: "low",
    });
  });
});

describe("a part of a request that the model does not support", () => {
  const refusal = (...given: Parameters<typeof routed>) => {
    try {
      routed(...given);
      return undefined;
    } catch (error) {
      return error instanceof GatewayError ? [error.code, error.param, error.status] : error;
    }
  };
  const tools = [{ name: "look", input_schema: { type: "object" } }];
  const chatTools = [{ type: "function", function: { name: "look" } }];
  const free: Abilities = { toolChoice: { modes: ["auto", "none"] } };

  it("a forced tool choice is refused, a free one is not", () => {
    for (const type of ["any", "tool"]) {
      const body = { tools, tool_choice: { type, name: "look" } };
      expect(refusal(messagesDirect, body, free)).toEqual([
        "unsupported_parameter",
        "tool_choice",
        400,
      ]);
    }
    const body = { tools: chatTools, tool_choice: "required" };
    expect(refusal(chatToMessages, body, free)).toEqual([
      "unsupported_parameter",
      "tool_choice",
      400,
    ]);
    expect(refusal(messagesDirect, { tools, tool_choice: { type: "auto" } }, free)).toBeUndefined();
    expect(refusal(messagesDirect, body, {})).toBeUndefined();
  });

  it("reasoning is switched off beside a forced tool choice if the model cannot combine them", () => {
    const can: Abilities = {
      reasoning: { ...adaptive, off: true },
      toolChoice: { modes: ["auto", "none", "required", "named"], forcedWhileReasoning: false },
    };
    const body = { ...effort("low"), tools, tool_choice: { type: "any" } };
    expect(sent(messagesDirect, body, can)).toEqual([
      { ...thinkingOf("disabled"), tools, tool_choice: { type: "any" } },
      "dropped output_config.effort",
    ]);
  });

  describe("the reasoning of a chat model that refuses a forced tool choice while it reasons", () => {
    const choice = { tools: chatTools, tool_choice: "required" };
    const modes = ["auto", "none", "required", "named"] as const;
    const toolChoice = { modes, forcedWhileReasoning: false };
    const toggle: Abilities = {
      reasoning: { kind: "toggle", off: true, field: "thinking" },
      toolChoice,
    };
    const words: Abilities = {
      reasoning: { ...threeEfforts, off: true, field: "thinking" },
      toolChoice,
    };
    const tokens: Abilities = {
      reasoning: { ...budget, field: "enable_thinking" },
      toolChoice,
    };

    const always: Abilities = { reasoning: { ...threeEfforts, field: "thinking" }, toolChoice };
    const inChat: Abilities = { reasoning: { ...threeEfforts, off: true }, toolChoice };

    it.each([
      [toggle, thinkingOf("disabled")],
      [words, thinkingOf("disabled")],
      [tokens, { enable_thinking: false }],
      [inChat, { reasoning_effort: "none" }],
      // Nothing is known of the pair, or it cannot be switched off: the vendor decides.
      [{ ...words, toolChoice: { modes } }, {}],
      [always, {}],
    ])("is switched off in the way of its record: %j", (can, off) => {
      expect(sent(["chat", "chat"], choice, can)).toEqual([{ ...choice, ...off }]);
      const forced = { tools, tool_choice: { type: "any" } };
      expect(sent(["messages", "chat"], forced, can)).toMatchObject([
        { tool_choice: "required", ...off },
      ]);
    });

    it("is reported as dropped if the caller asked for it", () => {
      const asked = { ...choice, reasoning_effort: "high" };
      const expected = [{ ...choice, ...thinkingOf("disabled") }, "dropped reasoning_effort"];
      expect(sent(["chat", "chat"], asked, words)).toEqual(expected);
      const off = { ...choice, reasoning_effort: "none" };
      expect(sent(["chat", "chat"], off, words)).toEqual([
        { ...choice, ...thinkingOf("disabled") },
      ]);
    });

    it("stays on if the tool choice is free", () => {
      const free = { tools: chatTools, tool_choice: "auto" };
      expect(sent(["chat", "chat"], free, words)).toEqual([free]);
    });
  });

  it("a prefilled answer is refused", () => {
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "well" },
    ];
    const no: Abilities = { prefill: false };
    const refused = ["unsupported_content", "messages", 400];
    expect(refusal(messagesDirect, { messages }, no)).toEqual(refused);
    expect(refusal(chatToMessages, { messages }, no)).toEqual(refused);
    expect(refusal(messagesDirect, { messages }, { prefill: true })).toBeUndefined();
    expect(refusal(messagesDirect, {}, no)).toBeUndefined();
  });

  it("media that the model does not read is refused", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const messages = [{ role: "user", content: [image] }];
    const text: Abilities = { inputModalities: ["text"] };
    const refused = ["unsupported_content", "messages.content.image_url", 400];
    expect(refusal(["chat", "chat"], { messages }, text)).toEqual(refused);
    expect(refusal(chatToMessages, { messages }, text)).toEqual(refused);
    expect(
      refusal(["chat", "chat"], { messages }, { inputModalities: ["text", "image"] }),
    ).toBeUndefined();
  });

  it("a schema for the answer is dropped, not refused", () => {
    const response_format = { type: "json_schema", json_schema: { name: "a", schema: {} } };
    expect(sent(["chat", "chat"], { response_format }, { structuredOutputs: false })).toEqual([
      {},
      "dropped response_format",
    ]);
  });
});

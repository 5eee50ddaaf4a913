/** Reasoning settings towards a messages upstream. CONV-413, CONV-419 to CONV-423; traps T28, T34, T39. */
import { describe, expect, it } from "vitest";
import {
  conversions,
  maxOutputTokens,
  showCase,
  titled,
  toolsOf,
  type Body,
  type Case,
} from "./world.ts";

const world = conversions();

const to = "messages";
const config = (generationConfig: Body): Body => ({ generationConfig });
const budgetOf = (tokens: number): Body => ({
  thinking: { type: "enabled", budget_tokens: tokens },
});

describe("an effort that becomes a thinking budget", () => {
  it.each(
    titled([
      ...(
        [
          ["low", 1024],
          ["medium", 8192],
          ["high", 24_576],
        ] as const
      ).map(([effort, tokens]): Case => ({
        title: `CONV-413: ${effort} becomes its budget`,
        from: "chat",
        to,
        body: { reasoning_effort: effort },
        up: { ...budgetOf(tokens), max_tokens: maxOutputTokens },
        absent: ["reasoning_effort"],
      })),
      {
        title: "CONV-413: thinkingLevel becomes its budget",
        from: "generate_content",
        to,
        body: config({ thinkingConfig: { thinkingLevel: "HIGH" } }),
        up: budgetOf(24_576),
      },
      {
        title: "CONV-413: a thinkingBudget is sent unchanged",
        from: "generate_content",
        to,
        body: config({ thinkingConfig: { thinkingBudget: 3000 } }),
        up: budgetOf(3000),
      },
      {
        title: "CONV-413: effort none switches thinking off",
        from: "responses",
        to,
        body: { reasoning: { effort: "none" }, temperature: 0.5 },
        up: { thinking: { type: "disabled" }, temperature: 0.5 },
      },
      ...(["xhigh", "max"] as const).map((effort): Case => ({
        title: `CONV-413 T34: ${effort} becomes the model's limit less room for the answer, which is reported`,
        from: "responses",
        to,
        body: { reasoning: { effort } },
        up: { ...budgetOf(maxOutputTokens * 0.8), max_tokens: maxOutputTokens },
        reported: ["reasoning.effort"],
      })),
      {
        title: "CONV-423 CONV-414: an effort is kept, and summary, mode and context are dropped",
        from: "responses",
        to,
        body: { reasoning: { mode: "pro", effort: "low", context: "all_turns", summary: "auto" } },
        up: budgetOf(1024),
        nowhere: ["summary", "all_turns"],
        reported: ["reasoning.mode", "reasoning.context", "reasoning.summary"],
      },
      {
        title: "CONV-113: an effort without a known budget is dropped",
        from: "chat",
        to,
        body: { reasoning_effort: "ultra" },
        absent: ["thinking", "output_config"],
        reported: ["reasoning_effort"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

describe("sampling with reasoning", () => {
  it.each(
    titled([
      {
        title: "CONV-419: temperature is removed",
        from: "chat",
        to,
        body: { reasoning_effort: "low", temperature: 0.5 },
        up: budgetOf(1024),
        absent: ["temperature"],
        reported: ["temperature"],
      },
      {
        title: "CONV-419: a temperature above the limit is removed, and reported once",
        from: "responses",
        to,
        body: { reasoning: { effort: "low" }, temperature: 1.6 },
        absent: ["temperature"],
        reported: ["temperature"],
      },
      {
        title: "CONV-420 T28: top_p is removed",
        from: "chat",
        to,
        body: { reasoning_effort: "low", top_p: 0.9 },
        absent: ["top_p"],
        reported: ["top_p"],
      },
      {
        title: "CONV-421 T28: top_k is removed together with the others",
        from: "generate_content",
        to,
        body: config({
          topK: 5,
          temperature: 0.5,
          topP: 0.9,
          thinkingConfig: { thinkingBudget: 2000 },
        }),
        up: budgetOf(2000),
        absent: ["top_k", "top_p", "temperature"],
        reported: [
          "generationConfig.topK",
          "generationConfig.temperature",
          "generationConfig.topP",
        ],
      },
      {
        title: "CONV-419: sampling is kept with a budget of 0",
        from: "generate_content",
        to,
        body: config({ temperature: 0.5, topK: 5, thinkingConfig: { thinkingBudget: 0 } }),
        up: { thinking: { type: "disabled" }, temperature: 0.5, top_k: 5 },
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

describe("the limits of thinking budgets", () => {
  it.each(
    titled([
      {
        title: "CONV-422 TXT-16: a small maximum is raised, and the budget is lowered",
        from: "chat",
        to,
        body: { max_tokens: 500, reasoning_effort: "high" },
        up: { ...budgetOf(1024), max_tokens: 1524 },
        reported: ["max_tokens", "reasoning_effort"],
      },
      {
        title: "CONV-422: a budget as large as the maximum leaves room for the answer",
        from: "chat",
        to,
        body: { max_completion_tokens: 8192, reasoning_effort: "medium" },
        up: { ...budgetOf(6553), max_tokens: 8192 },
        reported: ["reasoning_effort"],
      },
      {
        title: "CONV-422: a budget below the vendor's minimum is raised to it",
        from: "generate_content",
        to,
        body: config({ thinkingConfig: { thinkingBudget: 10 } }),
        up: budgetOf(1024),
        reported: ["generationConfig.thinkingConfig.thinkingBudget"],
      },
      {
        title: "CONV-422: a budget that fits is unchanged",
        from: "chat",
        to,
        body: { max_tokens: 9000, reasoning_effort: "medium" },
        up: { ...budgetOf(8192), max_tokens: 9000 },
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));

  it("CONV-422: raise the reservation too, and the charge is the actual usage", async () => {
    const { ledger, workspaceId } = world.gateway();
    const idle = async () => (await ledger.balance(workspaceId)).heldNano;
    await expect.poll(idle).toBe(0n);
    const before = await ledger.balance(workspaceId);
    const { status } = await world.send("chat", to, { max_tokens: 1, reasoning_effort: "low" });
    expect(status).toBe(200);
    const after = await ledger.balance(workspaceId);
    expect(after.chargedNano - before.chargedNano).toBe(264_000n);
    await expect.poll(idle).toBe(0n);
  });
});

const called = {
  role: "assistant",
  tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
};
const loop = {
  ...toolsOf.chat,
  messages: [
    { role: "user", content: "Where?" },
    { ...called, reasoning_content: "I should look." },
    { role: "tool", tool_call_id: "c1", content: "Here." },
  ],
};

describe("settings that the vendor refuses together with reasoning", () => {
  it.each(
    titled([
      ...(["required", { type: "function", function: { name: "look" } }] as const).map(
        (choice): Case => ({
          title: "CONV-410: a forced tool call is kept, and reasoning is dropped",
          from: "chat",
          to,
          body: {
            ...toolsOf.chat,
            tool_choice: choice,
            reasoning_effort: "high",
            temperature: 0.5,
          },
          up: { temperature: 0.5, tool_choice: {} },
          absent: ["thinking"],
          reported: ["reasoning_effort"],
        }),
      ),
      {
        title: "T39: a tool loop without signed reasoning continues without reasoning",
        from: "chat",
        to,
        body: { ...loop, reasoning_effort: "high" },
        up: {
          messages: [
            { role: "user" },
            { role: "assistant", content: [{ type: "tool_use", id: "c1" }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] },
          ],
        },
        absent: ["thinking"],
        reported: ["messages.reasoning_content", "reasoning_effort"],
      },
      {
        title:
          "T39: a user's text after the results belongs to the loop, which continues without reasoning",
        from: "chat",
        to,
        body: {
          ...loop,
          messages: [...loop.messages, { role: "user", content: "Hurry." }],
          reasoning_effort: "high",
        },
        up: {
          messages: [
            { role: "user" },
            { role: "assistant", content: [{ type: "tool_use", id: "c1" }] },
            {
              role: "user",
              content: [{ type: "tool_result", tool_use_id: "c1" }, { text: "Hurry." }],
            },
          ],
        },
        absent: ["thinking"],
        reported: ["messages.reasoning_content", "reasoning_effort"],
      },
      {
        title:
          "T39: an interrupted call is removed, and the loop before it continues without reasoning",
        from: "chat",
        to,
        body: {
          ...loop,
          messages: [
            ...loop.messages,
            { ...called, tool_calls: [{ ...called.tool_calls[0], id: "c2" }] },
            { role: "user", content: "Stop." },
          ],
          reasoning_effort: "high",
        },
        up: {
          messages: [
            { role: "user" },
            { role: "assistant", content: [{ type: "tool_use", id: "c1" }] },
            { role: "user", content: [{ type: "tool_result" }, { text: "Stop." }] },
          ],
        },
        absent: ["thinking"],
        reported: ["messages.reasoning_content", "messages.tool_calls", "reasoning_effort"],
      },
      {
        title: "T39: reasoning is requested again after the user's next question",
        from: "chat",
        to,
        body: {
          ...loop,
          messages: [
            ...loop.messages,
            { role: "assistant", content: "Here." },
            { role: "user", content: "Why?" },
          ],
          reasoning_effort: "low",
        },
        up: budgetOf(1024),
        reported: ["messages.reasoning_content"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));

  it("T39: do not include signed thinking, which goes back before its call unchanged on its own protocol", async () => {
    const content = [
      { type: "thinking", thinking: "I should look.", signature: "c2lnbmVk" },
      { type: "tool_use", id: "toolu_1", name: "look", input: {} },
    ];
    const messages = [
      { role: "user", content: "Where?" },
      { role: "assistant", content },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "Here." }],
      },
    ];
    const body = { ...toolsOf.messages, ...budgetOf(1024), max_tokens: 4000, messages };
    const { up, reported } = await world.send("messages", to, body);
    expect([up?.["messages"], up?.["thinking"], reported]).toEqual([
      messages,
      budgetOf(1024)["thinking"],
      [],
    ]);
  });
});

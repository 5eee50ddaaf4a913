/**
 * System turns within a conversation towards upstreams that accept them only at its top: Claude Code and Codex send them after every few
 * turns. CONV-201, CONV-401, CONV-501, CONV-601; trap T20.
 */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const claudeCode: Body = {
  model: "acme/x",
  max_tokens: 100,
  system: "Be brief.",
  messages: [
    { role: "user", content: "Where?" },
    { role: "system", content: "Agents: none." },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "Here." }] },
    { role: "system", content: "Hurry." },
  ],
};

const codex: Body = {
  model: "acme/x",
  instructions: "Be brief.",
  input: [
    { role: "developer", content: "Agents: none." },
    { role: "user", content: "Where?" },
    { role: "assistant", content: "Here." },
    { role: "developer", content: "Hurry." },
    { role: "user", content: "And now?" },
  ],
};

const chat: Body = {
  model: "acme/x",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Where?" },
    { role: "system", content: "Hurry." },
  ],
};

type Caller = "messages" | "responses" | "chat";
const sent = (from: Caller, body: Body, upstreamModel: string) => {
  const { body: up, notes } = routeOf(from, "chat", body, { upstreamModel });
  const turns = up["messages"] as Body[];
  return { turns, roles: turns.map(({ role }) => role), params: notes.map(({ param }) => param) };
};

const systemFirst = [
  "Qwen/Qwen3.6-27B-FP8",
  "qwen3.8:27b",
  "qwen-max",
  "MiniMax-M2.5",
  "mistralai/mistral-small-4-119b-2603",
];
const marked = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`;

describe("a system turn within the conversation", () => {
  it.each(systemFirst)(
    "CONV-201 T20: stays if an agent sent it, marked and reported, at %s",
    (model) => {
      const system = { role: "system", content: "Be brief." };
      const claude = sent("messages", claudeCode, model);
      expect(claude.turns[0]).toEqual(system);
      const bridge = model.startsWith("mistral") ? ["assistant"] : [];
      expect(claude.roles).toEqual(["system", "user", "assistant", "tool", ...bridge, "user"]);
      expect(claude.turns[1]).toMatchObject({ content: `Where?\n\n${marked("Agents: none.")}` });
      expect(claude.turns.at(-1)).toMatchObject({ content: marked("Hurry.") });
      expect(new Set(claude.params)).toEqual(new Set(["messages"]));
      const agent = sent("responses", codex, model);
      expect(agent.turns[0]).toEqual({ role: "system", content: "Be brief.\n\nAgents: none." });
      expect(agent.roles).toEqual(["system", "user", "assistant", "user"]);
      expect(agent.turns[3]).toMatchObject({ content: `${marked("Hurry.")}\n\nAnd now?` });
      expect(agent.params).toEqual(["input"]);
    },
  );

  it.each(["generate_content", "converse", "messages"] as const)(
    "CONV-401 CONV-501: leaves the beginning as it was if an agent sent it, for the vendor's cache, towards %s",
    (to) => {
      const { input, ...rest } = codex;
      const whole = routeOf("responses", to, codex).body;
      const begun = routeOf("responses", to, {
        ...rest,
        input: (input as Body[]).slice(0, 3),
      }).body;
      const turnsOf = (up: Body) => (up["contents"] ?? up["messages"]) as Body[];
      for (const member of ["systemInstruction", "system"])
        expect(whole[member]).toEqual(begun[member]);
      expect(turnsOf(whole).slice(0, 2)).toEqual(turnsOf(begun));
      expect(JSON.stringify(turnsOf(whole)[2])).toContain("<system-reminder>");
    },
  );

  it("is not marked twice, and not sent if it is blank", () => {
    const reminders = [
      { role: "user", content: "Where?" },
      { role: "system", content: marked("Hurry.") },
      { role: "system", content: " " },
    ];
    const { turns } = sent("messages", { ...claudeCode, messages: reminders }, "qwen-max");
    expect(turns[1]).toMatchObject({ content: `Where?\n\n${marked("Hurry.")}` });
  });

  it.each(["generate_content", "converse", "messages"] as const)(
    "CONV-401 CONV-501: goes to the top if a chat caller sent it, and is reported, towards %s",
    (to) => {
      const { body: up, notes } = routeOf("chat", to, chat);
      const system = JSON.stringify(up["systemInstruction"] ?? up["system"]);
      expect(system).toMatch(/Be brief\..*Hurry\./u);
      expect(JSON.stringify(up["contents"] ?? up["messages"])).not.toContain("Hurry.");
      expect(notes.map(({ param }) => param)).toContain("messages");
    },
  );

  it.each(["gpt-4.1", "glm-5.3-flash", "deepseek-v4-pro", "kimi-k3"])(
    "CONV-201: stays in its place at %s",
    (model) => {
      const { roles, params } = sent("messages", claudeCode, model);
      expect(roles).toEqual(["system", "user", "system", "assistant", "tool", "system"]);
      expect(params).toEqual([]);
    },
  );
});

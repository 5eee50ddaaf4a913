/**
 * System turns within a conversation towards chat models that accept them only at its top: Claude Code and Codex send them after every
 * few turns. CONV-201, CONV-601; trap T20.
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

const sent = (from: "messages" | "responses", body: Body, upstreamModel: string) => {
  const { body: up, notes } = routeOf(from, "chat", body, { upstreamModel });
  const turns = up["messages"] as Body[];
  return { turns, roles: turns.map(({ role }) => role), params: notes.map(({ param }) => param) };
};

describe("a system turn within the conversation", () => {
  it.each([
    "Qwen/Qwen3.6-27B-FP8",
    "qwen3.8:27b",
    "qwen-max",
    "MiniMax-M2.5",
    "mistralai/mistral-small-4-119b-2603",
  ])("CONV-201 T20: goes to the top at %s, and is reported", (model) => {
    const system = { role: "system", content: "Be brief.\n\nAgents: none.\n\nHurry." };
    const claude = sent("messages", claudeCode, model);
    expect(claude.turns[0]).toEqual(system);
    expect(claude.roles).toEqual(["system", "user", "assistant", "tool"]);
    expect(claude.params).toEqual(["messages"]);
    const agent = sent("responses", codex, model);
    expect(agent.turns[0]).toEqual(system);
    expect(agent.roles).toEqual(["system", "user", "assistant", "user"]);
    expect(agent.params).toEqual(["input"]);
  });

  it.each(["gpt-4.1", "glm-5.3-flash", "deepseek-v4-pro", "kimi-k3"])(
    "CONV-201: stays in its place at %s",
    (model) => {
      const { roles, params } = sent("messages", claudeCode, model);
      expect(roles).toEqual(["system", "user", "system", "assistant", "tool", "system"]);
      expect(params).toEqual([]);
    },
  );
});

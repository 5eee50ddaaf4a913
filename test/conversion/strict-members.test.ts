/**
 * Vendors that refuse every unknown member of a message: Fireworks ("Extra inputs are not permitted, field: 'messages[2].refusal'"), Groq
 * ("property 'annotations' is unsupported"), Cerebras and Mistral. Clients send answers of other
 * vendors back as they came, and answers have these members. Traps T31, T41.
 */
import { describe, expect, it } from "vitest";
import { vendorQuirks } from "../../src/catalog/index.ts";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const dialect = "openai-compatible" as const;
const atVendor = (id: string) => ({
  ...vendorQuirks({ id, baseUrl: "https://proxy.example.com/v1", dialect }),
  upstreamModel: "glm-5.2",
});

const cache_control = { type: "ephemeral" };
const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
const question = { role: "user", content: "Where?" };
const result = { role: "tool", tool_call_id: "c1", content: "there" };

/** Sends a conversation of chat on the direct route. */
function direct(vendor: string, messages: Body[], more: Body = {}) {
  const route = routeOf("chat", "chat", { model: "acme/x", messages, ...more }, atVendor(vendor));
  return {
    sent: route.body["messages"] as Body[],
    body: route.body,
    notes: route.notes.map(({ param, kind }) => `${param} ${kind}`),
  };
}

describe.each(["fireworks-ai", "groq", "cerebras", "mistral", "opencode"])("at %s", (vendor) => {
  it("T31: an answer of another vendor goes without its empty members, which is no loss", () => {
    const empty = { refusal: null, annotations: [] };
    const answer = { role: "assistant", content: "There.", ...empty };
    const calling = { role: "assistant", content: null, tool_calls: [call], ...empty };
    const { sent, notes } = direct(vendor, [question, calling, result, answer, question]);
    expect(sent.map((message) => Object.keys(message))).toEqual([
      ["role", "content"],
      ["role", "content", "tool_calls"],
      ["role", "tool_call_id", "content"],
      ["role", "content"],
      ["role", "content"],
    ]);
    expect(notes.filter((note) => !note.includes("tool_call"))).toEqual([]);
  });

  it("T31: sources are left out and reported, and a refusal goes as text", () => {
    const annotations = [{ type: "url_citation", url_citation: { url: "https://a.example" } }];
    const cited = { role: "assistant", content: "There.", annotations };
    const refused = { role: "assistant", content: null, refusal: "No." };
    const { sent, notes } = direct(vendor, [question, cited, question, refused, question]);
    expect(sent[1]).toEqual({ role: "assistant", content: "There." });
    expect(sent[3]).toEqual({ role: "assistant", content: "No." });
    expect(notes).toEqual(["messages.annotations dropped", "messages.refusal rewritten"]);
    const part = { ...refused, content: [{ type: "refusal", refusal: "No." }], refusal: null };
    expect(direct(vendor, [question, part, question])).toMatchObject({
      sent: [question, { role: "assistant", content: [{ type: "text", text: "No." }] }, question],
      notes: ["messages.refusal rewritten"],
    });
  });

  it("T31: a converted refusal goes as text", () => {
    const content = [{ type: "refusal", refusal: "No." }];
    const input = [question, { type: "message", role: "assistant", content }, question];
    const { body } = routeOf("responses", "chat", { model: "acme/x", input }, atVendor(vendor));
    expect((body["messages"] as Body[])[1]).toEqual({ role: "assistant", content: "No." });
  });

  it("T41: details of another vendor's reasoning do not reach it", () => {
    const details = [{ type: "reasoning.encrypted", data: "x", index: 0 }];
    const spoken = { role: "assistant", content: "There.", reasoning_details: details };
    const { sent, notes } = direct(vendor, [question, spoken, question]);
    expect(sent[1]).toEqual({ role: "assistant", content: "There." });
    expect(notes).toEqual(["messages.reasoning_details dropped"]);
  });
});

it("T41: Fireworks reads earlier reasoning by its own name", () => {
  const details = [{ type: "reasoning.text", text: "Hm.", index: 0 }];
  const both = { reasoning: "Hm.", reasoning_details: details };
  for (const spelled of [{ reasoning: "Hm." }, both, { reasoning_details: details }]) {
    const answer = { role: "assistant", content: "There.", ...spelled };
    expect(direct("fireworks-ai", [question, answer, question]).sent[1]).toEqual({
      role: "assistant",
      content: "There.",
      reasoning_content: "Hm.",
    });
  }
});

it.each(["fireworks-ai", "groq", "cerebras", "mistral"])(
  "T31: cache markers do not reach %s, which is reported",
  (vendor) => {
    const marked = { role: "user", content: [{ type: "text", text: "Where?", cache_control }] };
    const tool = { type: "function", function: { name: "look" }, cache_control };
    const { body, sent, notes } = direct(vendor, [{ ...question, cache_control }, marked], {
      tools: [tool],
    });
    expect(sent).toEqual([question, { role: "user", content: [{ type: "text", text: "Where?" }] }]);
    expect(JSON.stringify(body["tools"])).not.toContain("cache_control");
    expect(notes.toSorted()).toEqual([
      "messages.cache_control dropped",
      "messages.content.cache_control dropped",
      "tools.cache_control dropped",
    ]);
  },
);

it.each(["deepseek", "dashscope", "zai", "mistral", "vercel", "cerebras", "vllm", "ollama"])(
  "T31: a turn of the developer is one of the system at %s",
  (vendor) => {
    // Mistral takes no names of participants.
    const name = vendor === "mistral" ? {} : { name: "ops" };
    const rules = { role: "developer", content: "Be brief.", ...name };
    const { sent, notes } = direct(vendor, [rules, question, { ...rules, content: "Now." }]);
    expect(sent).toEqual([
      { ...rules, role: "system" },
      question,
      { ...rules, role: "system", content: "Now." },
    ]);
    expect(notes).toEqual([]);
  },
);

it.each(["openai", "openrouter", "house"])("T31: it stays one at %s", (vendor) => {
  const rules = { role: "developer", content: "Be brief." };
  expect(direct(vendor, [rules, question]).sent).toEqual([rules, question]);
});

it("T31: an answer that only refused has its text as content at DeepSeek, which refuses one without", () => {
  const refused = { role: "assistant", content: null, refusal: "No." };
  const cited = { role: "assistant", content: "There.", annotations: [] };
  expect(direct("deepseek", [question, refused, question, cited])).toMatchObject({
    sent: [question, { role: "assistant", content: "No." }, question, cited],
    notes: ["messages.refusal rewritten"],
  });
});

it("T31: other vendors get the members as they came", () => {
  const answer = { role: "assistant", content: "There.", refusal: null, annotations: [] };
  const { sent } = direct("openrouter", [question, answer, { ...question, cache_control }]);
  expect(sent).toEqual([question, answer, { ...question, cache_control }]);
});

/** Calls in other protocols towards a chat-completions upstream. CONV-2xx. */
import { describe, it } from "vitest";
import { conversions, showCase, titled, type Body, type Case } from "./world.ts";

const world = conversions();

const to = "chat";
const config = (generationConfig: Body): Body => ({ generationConfig });
const sixStops = ["a", "b", "c", "d", "e", "f"];

const fields: readonly Case[] = [
  {
    title: "CONV-201: instructions become a system message",
    from: "responses",
    to,
    body: { instructions: "Be brief." },
    up: {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "How big?" },
      ],
    },
    absent: ["instructions", "input"],
  },
  {
    title: "CONV-201: system becomes a system message",
    from: "messages",
    to,
    body: { system: "Be brief." },
    up: { messages: [{ role: "system", content: "Be brief." }, { role: "user" }] },
    absent: ["system"],
  },
  {
    title: "CONV-201: systemInstruction becomes a system message",
    from: "generate_content",
    to,
    body: { systemInstruction: { parts: [{ text: "Be brief." }] } },
    up: { messages: [{ role: "system", content: "Be brief." }, { role: "user" }] },
    absent: ["systemInstruction"],
  },
  {
    title: "CONV-202 T30: max_output_tokens becomes max_tokens",
    from: "responses",
    to,
    body: { max_output_tokens: 50 },
    up: { max_tokens: 50 },
    absent: ["max_output_tokens"],
  },
  {
    title: "CONV-202 T30: max_tokens stays max_tokens",
    from: "messages",
    to,
    body: { max_tokens: 50 },
    up: { max_tokens: 50 },
  },
  {
    title: "CONV-202 T30: maxOutputTokens becomes max_tokens",
    from: "generate_content",
    to,
    body: config({ maxOutputTokens: 50 }),
    up: { max_tokens: 50 },
    absent: ["generationConfig"],
  },
  {
    title: "CONV-202: no maximum is sent if the caller named none",
    from: "responses",
    to,
    body: {},
    absent: ["max_tokens", "max_completion_tokens"],
  },
  ...([0, 1.7, 2] as const).map((temperature): Case => ({
    title: `CONV-203: temperature ${temperature} is sent unchanged`,
    from: "responses",
    to,
    body: { temperature, top_p: 0.9 },
    up: { temperature, top_p: 0.9 },
  })),
  {
    title: "CONV-204 CONV-113: top_k is dropped",
    from: "messages",
    to,
    body: { top_k: 5 },
    absent: ["top_k"],
    reported: ["top_k"],
  },
  {
    title: "CONV-204 CONV-113: topK is dropped",
    from: "generate_content",
    to,
    body: config({ topK: 5 }),
    absent: ["top_k", "topK"],
    reported: ["generationConfig.topK"],
  },
  {
    title: "CONV-205: stop_sequences becomes stop",
    from: "messages",
    to,
    body: { stop_sequences: ["a"] },
    up: { stop: ["a"] },
    absent: ["stop_sequences"],
  },
  {
    title: "CONV-205: an empty list of stop sequences, which OpenAI refuses, is omitted",
    from: "messages",
    to,
    body: { stop_sequences: [] },
    absent: ["stop"],
  },
  {
    title: "CONV-512: an unspecified thinking level is omitted",
    from: "generate_content",
    to,
    body: config({ thinkingConfig: { thinkingLevel: "THINKING_LEVEL_UNSPECIFIED" } }),
    absent: ["reasoning_effort"],
  },
  {
    title: "CONV-206 TXT-16: the first four of five stop sequences are sent",
    from: "generate_content",
    to,
    body: config({ stopSequences: sixStops.slice(0, 5) }),
    up: { stop: ["a", "b", "c", "d"] },
    reported: ["generationConfig.stopSequences"],
  },
  {
    title: "CONV-206 LIM-12: four stop sequences are all sent",
    from: "messages",
    to,
    body: { stop_sequences: sixStops.slice(0, 4) },
    up: { stop: ["a", "b", "c", "d"] },
  },
  {
    title: "CONV-207: seed and penalties are sent",
    from: "generate_content",
    to,
    body: config({ seed: 7, presencePenalty: 0.5, frequencyPenalty: -0.5 }),
    up: { seed: 7, presence_penalty: 0.5, frequency_penalty: -0.5 },
  },
  {
    title: "CONV-211: text.format becomes response_format",
    from: "responses",
    to,
    body: {
      text: {
        format: { type: "json_schema", name: "size", schema: { type: "object" }, strict: true },
      },
    },
    up: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "size", schema: { type: "object" }, strict: true },
      },
    },
    absent: ["text"],
  },
  {
    title: "CONV-211: responseMimeType becomes response_format",
    from: "generate_content",
    to,
    body: {
      ...config({ responseMimeType: "application/json" }),
      contents: [{ role: "user", parts: [{ text: "A Json list" }] }],
    },
    up: { response_format: { type: "json_object" }, messages: [{ content: "A Json list" }] },
    absent: ["messages.1"],
  },
  {
    title: "CONV-212 T34: reasoning.effort becomes reasoning_effort, xhigh too",
    from: "responses",
    to,
    body: { reasoning: { effort: "xhigh" } },
    up: { reasoning_effort: "xhigh" },
    absent: ["reasoning"],
  },
  {
    title: "CONV-212: reasoning.effort low becomes reasoning_effort",
    from: "responses",
    to,
    body: { reasoning: { effort: "low" } },
    up: { reasoning_effort: "low" },
  },
  {
    title: "CONV-213 CONV-220 CONV-221 RESP-25: summary, mode and context are dropped",
    from: "responses",
    to,
    body: { reasoning: { summary: "auto", mode: "pro", context: "all_turns" } },
    absent: ["reasoning", "reasoning_effort"],
    nowhere: ["summary", "all_turns"],
    reported: ["reasoning.summary", "reasoning.mode", "reasoning.context"],
  },
  {
    title: "CONV-214: text.verbosity becomes verbosity",
    from: "responses",
    to,
    body: { text: { verbosity: "low" } },
    up: { verbosity: "low" },
    absent: ["text"],
  },
  {
    title: "CONV-215 RESP-35: user stays user",
    from: "responses",
    to,
    body: { user: "u1" },
    up: { user: "u1" },
  },
  {
    title: "CONV-215: metadata.user_id becomes user",
    from: "messages",
    to,
    body: { metadata: { user_id: "u1" } },
    up: { user: "u1" },
    absent: ["metadata"],
  },
  {
    title: "CONV-218 CONV-113: a token budget never becomes an effort",
    from: "messages",
    to,
    body: { max_tokens: 4000, thinking: { type: "enabled", budget_tokens: 2000 } },
    absent: ["reasoning_effort", "thinking"],
    reported: ["thinking.budget_tokens"],
  },
  {
    title: "CONV-218: the budget of thinkingConfig never becomes an effort",
    from: "generate_content",
    to,
    body: config({ thinkingConfig: { thinkingBudget: 2000 } }),
    absent: ["reasoning_effort"],
    reported: ["generationConfig.thinkingConfig.thinkingBudget"],
  },
  {
    title: "CONV-212: thinkingLevel becomes reasoning_effort",
    from: "generate_content",
    to,
    body: config({ thinkingConfig: { thinkingLevel: "LOW" } }),
    up: { reasoning_effort: "low" },
  },
];

describe("the fields of a request to chat completions", () => {
  it.each(titled(fields))("%s", (_title, one) => showCase(world, one));
});

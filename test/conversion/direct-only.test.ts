/** Fields that only direct routes forward. CONV-101 to CONV-113, RESP-31. */
import { describe, it } from "vitest";
import { conversions, showCase, titled, user, type Body, type Case, type Name } from "./world.ts";

const world = conversions();

interface DirectField {
  readonly title: string;
  readonly from: Name;
  /** Protocols it is converted to here. */
  readonly to: readonly Name[];
  readonly body: Body;
  /** The names under which the loss is reported to the caller. */
  readonly names: readonly string[];
  /** A text within the field that must not reach the upstream. */
  readonly text: string;
}

const config = (generationConfig: Body): Body => ({ generationConfig });

const fields: readonly DirectField[] = [
  {
    title: "CONV-101: logprobs",
    from: "chat",
    to: ["messages", "responses", "generate_content"],
    body: { logprobs: true },
    names: ["logprobs"],
    text: "logprobs",
  },
  {
    title: "CONV-102: top_logprobs",
    from: "chat",
    to: ["messages", "responses", "generate_content"],
    body: { logprobs: true, top_logprobs: 2 },
    names: ["logprobs", "top_logprobs"],
    text: "logprobs",
  },
  {
    title: "CONV-102: top_logprobs",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: { top_logprobs: 2 },
    names: ["top_logprobs"],
    text: "top_logprobs",
  },
  {
    title: "CONV-101 CONV-102: responseLogprobs and logprobs",
    from: "generate_content",
    to: ["chat"],
    body: config({ responseLogprobs: true, logprobs: 2 }),
    names: ["generationConfig.responseLogprobs", "generationConfig.logprobs"],
    text: "ogprobs",
  },
  {
    title: "CONV-103: n",
    from: "chat",
    to: ["messages", "responses", "generate_content"],
    body: { n: 2 },
    names: ["n"],
    text: '"n"',
  },
  {
    title: "CONV-104: candidateCount",
    from: "generate_content",
    to: ["chat", "responses", "messages"],
    body: config({ candidateCount: 2 }),
    names: ["generationConfig.candidateCount"],
    text: "candidateCount",
  },
  {
    title: "CONV-105: logit_bias",
    from: "chat",
    to: ["responses", "messages", "generate_content"],
    body: { logit_bias: { "50256": -100 } },
    names: ["logit_bias"],
    text: "50256",
  },
  {
    title: "CONV-106: safety_identifier",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: { safety_identifier: "hash-1" },
    names: ["safety_identifier"],
    text: "hash-1",
  },
  {
    title: "CONV-107: prompt_cache_options",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: { prompt_cache_options: { mode: "explicit", ttl: "30m" } },
    names: ["prompt_cache_options"],
    text: "prompt_cache_options",
  },
  {
    title: "CONV-108: prompt_cache_retention",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: { prompt_cache_retention: "24h" },
    names: ["prompt_cache_retention"],
    text: "24h",
  },
  {
    title: "CONV-109: max_tool_calls",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: { max_tool_calls: 3 },
    names: ["max_tool_calls"],
    text: "max_tool_calls",
  },
  {
    title: "CONV-110: prediction",
    from: "chat",
    to: ["messages", "responses", "generate_content"],
    body: { prediction: { type: "content", content: "as foretold" } },
    names: ["prediction"],
    text: "as foretold",
  },
  {
    title: "CONV-111: moderation",
    from: "responses",
    to: ["messages", "chat", "generate_content"],
    body: { moderation: { model: "omni", policy: { input: { mode: "score" } } } },
    names: ["moderation"],
    text: "omni",
  },
  {
    title: "CONV-112 T33: the vendor's own web search",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: { tools: [{ type: "web_search" }] },
    names: ["tools[0]"],
    text: "web_search",
  },
  {
    title: "CONV-112: the vendor's own web search",
    from: "messages",
    to: ["chat"],
    body: { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    names: ["tools[0]"],
    text: "web_search",
  },
  {
    title: "CONV-112: the vendor's own web search",
    from: "generate_content",
    to: ["chat"],
    body: { tools: [{ googleSearch: {} }] },
    names: ["tools[0].googleSearch"],
    text: "googleSearch",
  },
  {
    title: "CONV-112: web_search_options",
    from: "chat",
    to: ["responses"],
    body: { web_search_options: { search_context_size: "low" } },
    names: ["web_search_options"],
    text: "search_context_size",
  },
  {
    title: "T33: a tool of another kind",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: {
      tools: [{ type: "namespace", name: "mcp", tools: [] }, { type: "apply_patch" }],
    },
    names: ["tools[0]", "tools[1]"],
    text: "apply_patch",
  },
  {
    title: "RESP-31: a parameter that needs the upstream's state",
    from: "responses",
    to: ["chat", "messages", "generate_content"],
    body: {
      background: true,
      context_management: [{ type: "compaction", compact_threshold: 9 }],
      conversation: { id: "conv_1" },
      prompt: { id: "pmpt_1" },
    },
    names: ["background", "context_management", "conversation", "prompt"],
    text: "_1",
  },
];

/** On a direct route the field arrives unchanged. */
const direct = ({ title, from, body }: DirectField): Case => ({
  title: `${title} is forwarded on a direct route`,
  from,
  to: from,
  body,
  up: body,
});

const converted = ({ title, from, to, body, names, text }: DirectField): Case[] =>
  to.map((target) => ({
    title: `${title} is dropped and reported in conversion`,
    from,
    to: target,
    body,
    nowhere: [text],
    reported: names,
  }));

describe("a field of one protocol only", () => {
  it.each(titled(fields.map(direct)))("%s", (_title, one) => showCase(world, one));
  it.each(titled(fields.flatMap(converted)))("%s", (_title, one) => showCase(world, one));
});

describe("a field that is never forwarded", () => {
  it.each(
    titled(
      (["chat", "responses"] as const).flatMap((to): Case[] => [
        {
          title: "RESP-41: service_tier is dropped and reported on every route",
          from: "responses",
          to,
          body: { service_tier: "flex" },
          absent: ["service_tier"],
          reported: ["service_tier"],
        },
        {
          title: "RESP-29: previous_response_id is dropped and reported on every route",
          from: "responses",
          to,
          body: { previous_response_id: "resp_1" },
          absent: ["previous_response_id"],
          reported: ["previous_response_id"],
        },
        {
          title: "TXT-19: inference_geo is dropped and reported on every route",
          from: "messages",
          to,
          body: { inference_geo: "eu" },
          absent: ["inference_geo"],
          reported: ["inference_geo"],
        },
      ]),
    ),
  )("%s", (_title, one) => showCase(world, one));
});

const billing = "x-anthropic-billing-header: cc_version=2.1.9; cc_entrypoint=cli; cch=00000;";

describe("Claude Code's billing line", () => {
  it.each(
    titled([
      ...(["chat", "responses", "generate_content"] as const).flatMap((to): Case[] => [
        {
          title: "T36: does not reach another vendor as a block",
          from: "messages",
          to,
          body: {
            system: [
              { type: "text", text: billing },
              { type: "text", text: "You are Claude Code." },
            ],
          },
          nowhere: ["billing", "cc_version"],
          reported: ["system"],
        },
        {
          title: "T36: does not reach another vendor in front of other text",
          from: "messages",
          to,
          body: { system: `${billing}\n\nYou are Claude Code.` },
          nowhere: ["billing", "cc_version"],
          reported: ["system"],
        },
      ]),
      {
        title: "T36: reaches its own vendor",
        from: "messages",
        to: "messages",
        body: { system: [{ type: "text", text: billing }] },
        up: { system: [{ type: "text", text: billing }] },
      },
      {
        title: "T36: stays in a user's message",
        from: "messages",
        to: "chat",
        body: user(billing),
        up: user(billing),
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

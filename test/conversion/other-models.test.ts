/** Models and tiers of the caller's choice, beside the model that it may call. TXT-17, TXT-19; docs/decisions.md "Dropped parameters". */
import { describe, it } from "vitest";
import { conversions, showCase, titled, type Case } from "./world.ts";

const world = conversions();

/** Parts by which a vendor would run models that the key may not use, at other prices. */
const otherModels: readonly Case[] = [
  {
    title: "TXT-19: Anthropic's advisor, which is another model, is dropped and reported",
    from: "messages",
    to: "messages",
    body: {
      tools: [
        { name: "look", input_schema: { type: "object" } },
        { type: "advisor_20260301", name: "advisor", model: "claude-opus-5-5" },
      ],
    },
    up: { tools: [{ name: "look" }] },
    nowhere: ["advisor", "opus"],
    reported: ["tools[1]"],
  },
  {
    title: "TXT-19: OpenRouter's tools and plugins that call other models are dropped and reported",
    from: "chat",
    to: "chat",
    body: {
      tools: [{ type: "openrouter:fusion", parameters: { analysis_models: ["a/opus"] } }],
      tool_choice: "required",
      plugins: [{ id: "web" }, { id: "fusion", model: "a/opus" }],
      compound_custom: { models: { answering_model: "opus" }, tools: { enabled_tools: [] } },
    },
    absent: ["tools", "tool_choice", "compound_custom.models"],
    nowhere: ["opus", "fusion"],
    reported: ["tools[0]", "tool_choice", "plugins[1]", "compound_custom.models"],
  },
  ...(["chat", "messages"] as const).map((name): Case => ({
    title: "TXT-19: ZenMux's fallback model is dropped and reported, its other routing stays",
    from: name,
    to: name,
    body: { provider: { fallback: "a/opus", routing: { type: "order" } } },
    up: { provider: { routing: { type: "order" } } },
    nowhere: ["fallback"],
    reported: ["provider.fallback"],
  })),
  ...[
    ["generationConfig", "routingConfig", { manualMode: { modelName: "opus" } }] as const,
    ["generation_config", "routing_config", { manualMode: { modelName: "opus" } }] as const,
    ["generationConfig", "modelConfig", { featureSelectionPreference: "opus" }] as const,
  ].map(([config, member, value]): Case => ({
    title: `TXT-19: Vertex AI's ${member}, which selects the model, is dropped and reported`,
    from: "generate_content",
    to: "generate_content",
    body: { [config]: { topK: 2, [member]: value } },
    up: { [config]: { topK: 2 } },
    nowhere: ["opus", member],
    reported: [`${config}.${member}`],
  })),
  {
    title: "TXT-19: ZenMux's word for no fallback is forwarded",
    from: "chat",
    to: "chat",
    body: { provider: { fallback: false } },
    up: { provider: { fallback: false } },
    reported: [],
  },
  ...(["chat", "responses", "messages"] as const).map((name): Case => ({
    title: "TXT-17 TXT-19: Vercel's fallback models and tiers are dropped and reported",
    from: name,
    to: name,
    body: {
      providerOptions: {
        gateway: { models: ["a/opus"], order: ["azure"], serviceTier: "priority" },
        anthropic: { speed: "fast", inferenceGeo: null },
        vertex: { sharedRequestType: "priority" },
      },
    },
    up: { providerOptions: { gateway: { order: ["azure"] }, anthropic: {}, vertex: {} } },
    nowhere: ["opus", "priority", "fast"],
    reported: [
      "providerOptions.gateway.models",
      "providerOptions.gateway.serviceTier",
      "providerOptions.anthropic.speed",
      "providerOptions.vertex.sharedRequestType",
    ],
  })),
  ...(["chat", "responses", "messages"] as const).map((name): Case => ({
    title: "TXT-17 TXT-19: models and tiers in what LiteLLM adds to a request are dropped",
    from: name,
    to: name,
    body: {
      extra_body: {
        model: "a/opus",
        service_tier: "priority",
        thinking: { type: "enabled" },
        plugins: [{ id: "fusion", model: "a/opus" }],
        extra_body: { models: ["a/opus"], seed: 1 },
      },
      router_settings_override: { fallbacks: [{ "a/haiku": ["a/opus"] }], num_retries: 1 },
    },
    up: {
      extra_body: { thinking: { type: "enabled" }, plugins: [] },
      router_settings_override: { num_retries: 1 },
    },
    nowhere: ["opus", "priority", "fusion", "seed"],
    reported: [
      "extra_body.model",
      "extra_body.service_tier",
      "extra_body.plugins[0]",
      "extra_body.extra_body",
      "router_settings_override.fallbacks",
    ],
  })),
  ...(["chat", "responses", "messages"] as const).map((name): Case => ({
    title: "TXT-19: what bounds a call's cost is not replaced by what LiteLLM adds to it",
    from: name,
    to: name,
    body: {
      extra_body: {
        n: 100,
        max_tokens: 100_000,
        max_completion_tokens: 100_001,
        max_output_tokens: null,
        messages: [{ role: "user", content: "long" }],
        input: "long",
        tools: [{ type: "web_search" }],
        web_search_options: { search_context_size: "high" },
        max_tool_calls: 90,
        top_k: 5,
      },
    },
    up: { extra_body: { top_k: 5 } },
    nowhere: ["long", "web_search", "max_tool_calls", "100000", "100001"],
    reported: [
      "extra_body.n",
      "extra_body.max_tokens",
      "extra_body.max_completion_tokens",
      "extra_body.messages",
      "extra_body.input",
      "extra_body.tools",
      "extra_body.web_search_options",
      "extra_body.max_tool_calls",
    ],
  })),
  ...(["chat", "responses"] as const).map((to): Case => ({
    title:
      "TXT-19: LiteLLM's fallback models and models of the caller's own are dropped and reported on every route",
    from: "chat",
    to,
    body: {
      context_window_fallbacks: [{ "a/haiku": ["a/opus"] }],
      content_policy_fallbacks: [{ "a/haiku": ["a/opus"] }],
      context_window_fallback_dict: null,
      user_config: { model_list: [{ model_name: "haiku", litellm_params: { model: "a/opus" } }] },
    },
    nowhere: ["fallback", "opus"],
    reported: ["context_window_fallbacks", "content_policy_fallbacks", "user_config"],
  })),
  ...(["chat", "responses"] as const).map((name): Case => ({
    title: "TXT-19: the models of Orq's fallbacks and shares are dropped and reported",
    from: name,
    to: name,
    body: {
      load_balancer: { type: "weight_based", models: [{ model: "a/opus", weight: 1 }] },
      orq: {
        fallbacks: [{ model: "a/opus" }],
        load_balancer: { models: [] },
        retries: { count: 1 },
      },
      retry: { count: 1 },
    },
    up: { orq: { retries: { count: 1 } }, retry: { count: 1 } },
    nowhere: ["opus", "fallbacks", "load_balancer"],
    reported: ["load_balancer", "orq.fallbacks", "orq.load_balancer"],
  })),
  ...(["chat", "responses", "messages"] as const).map((name): Case => ({
    title: "TXT-17: headers that LiteLLM would send to the vendor are dropped and reported",
    from: name,
    to: name,
    body: {
      extra_headers: { "X-Vertex-AI-LLM-Shared-Request-Type": "priority" },
      headers: { authorization: "Bearer another" },
      provider_specific_header: null,
      extra_body: { extra_headers: { "api-key": "another" }, top_k: 2 },
    },
    up: { extra_body: { top_k: 2 } },
    nowhere: ["headers", "priority", "another", "provider_specific_header"],
    reported: ["extra_headers", "headers", "extra_body.extra_headers"],
  })),
  {
    title: "TXT-19: a choice without effect, and models of null, go with them unreported",
    from: "chat",
    to: "chat",
    body: {
      tools: [{ type: "openrouter:fusion" }],
      tool_choice: "auto",
      compound_custom: { models: null },
    },
    absent: ["tools", "tool_choice", "compound_custom.models"],
    reported: ["tools[0]"],
  },
];

describe("a model or tier of the caller's choice", () => {
  it.each(titled(otherModels))("%s", (_title, one) => showCase(world, one));
});

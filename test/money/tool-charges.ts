/** Calls for which the vendor ran tools that it bills beside the tokens, for charges.test.ts. */
import type { Charge } from "./charge-table.ts";

const text = (id: string, offer: string) =>
  `  - { id: ${id}, kind: text, context_length: 2000000, max_output_tokens: 32000, offers: [{ upstream_model: m, ${offer} }] }\n`;

export const toolModels = `\
${text("acme/filing", 'provider: openai, protocol: responses, price: { input: "0.25", cache_read: "0.025", output: "2", file_search: "0.0025" }')}\
${text("acme/xing", 'provider: openai, protocol: responses, price: { input: "2", output: "6", web_search: "0.005", file_search: "0.0025", attachment_search: "0.01", code_run: "0.005", x_post: "0.005", x_profile: "0.01" }')}\
${text("acme/walking", 'provider: google, protocol: generate_content, price: { input: "0.5", output: "3", web_search: "0.014", map_search: "0.012" }')}\
${text("acme/strolling", 'provider: google, protocol: generate_content, price: { input: "0.3", output: "2.5", web_search_answer: "0.035", map_answer: "0.025" }')}`;

const contents = [{ role: "user", parts: [{ text: "Where is good coffee?" }] }];
const grounded = (groundingMetadata: object) => ({
  candidates: [
    {
      content: { role: "model", parts: [{ text: "Here" }] },
      finishReason: "STOP",
      index: 0,
      groundingMetadata,
    },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
const gemini = (name: string) => `/v1beta/models/acme/${name}:generateContent`;
const place = { maps: { uri: "https://maps.google.com/?cid=1", title: "A", placeId: "places/1" } };

export const toolCharges: readonly Charge[] = [
  {
    name: "searches in files, except a failed one",
    source: "recordings/openai/responses/openai-file-search-tool.1.json",
    model: "acme/filing",
    path: "/v1/responses",
    body: {
      input: "What is an embedding?",
      tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }],
    },
    answer: {
      id: "resp_1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "m",
      output: [
        { type: "file_search_call", id: "fs_1", status: "completed", queries: ["a", "b", "c"] },
        { type: "file_search_call", id: "fs_2", status: "failed", queries: ["d"] },
      ],
      usage: {
        input_tokens: 3_700,
        input_tokens_details: { cached_tokens: 2_560 },
        output_tokens: 741,
        output_tokens_details: { reasoning_tokens: 640 },
        total_tokens: 4_441,
      },
    },
    // 1,140 x 250 + 2,560 x 25 + 741 x 2,000 + 2,500,000
    nano: 4_331_000n,
    lines: [
      ["input_tokens", "1140", "0.25", "0.000285"],
      ["output_tokens", "101", "2", "0.000202"],
      ["cache_read_tokens", "2560", "0.025", "0.000064"],
      ["reasoning_tokens", "640", "2", "0.00128"],
      ["file_searches", "1", "0.0025", "0.0025"],
    ],
    counts: {
      input_tokens: 3_700,
      cache_read_tokens: 2_560,
      output_tokens: 741,
      reasoning_tokens: 640,
      file_searches: 1,
    },
  },
  {
    name: "what xAI's tools did, by its own counts: it bills opened pages as searches",
    source: "docs.x.ai/developers/pricing, docs.x.ai/developers/tools/tool-usage-details",
    model: "acme/xing",
    path: "/v1/responses",
    body: {
      input: "What do they say?",
      tools: [{ type: "web_search" }, { type: "x_search" }, { type: "code_interpreter" }],
    },
    answer: {
      id: "resp_1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "m",
      output: [
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
        { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "open_page" } },
        { type: "file_search_call", id: "fs_1", status: "completed", queries: ["a"] },
        { type: "code_interpreter_call", id: "ci_1", status: "completed", code: "1" },
        {
          type: "custom_tool_call",
          id: "ct_1",
          call_id: "c",
          name: "x_keyword_search",
          input: "{}",
        },
      ],
      usage: {
        input_tokens: 1_000,
        output_tokens: 100,
        total_tokens: 1_100,
        num_server_side_tools_used: 6,
        server_side_tool_usage_details: {
          web_search_calls: 2,
          x_search_calls: 1,
          x_posts_fetched: 12,
          x_users_fetched: 3,
          code_interpreter_calls: 1,
          file_search_calls: 0,
          mcp_calls: 0,
          document_search_calls: 4,
        },
      },
    },
    // 1,000 x 2,000 + 100 x 6,000 + 2 x 5,000,000 + 4 x 10,000,000 + 5,000,000 + 12 x 5,000,000 + 3 x 10,000,000
    nano: 147_600_000n,
    lines: [
      ["input_tokens", "1000", "2", "0.002"],
      ["output_tokens", "100", "6", "0.0006"],
      ["web_searches", "2", "0.005", "0.01"],
      ["attachment_searches", "4", "0.01", "0.04"],
      ["code_runs", "1", "0.005", "0.005"],
      ["x_posts", "12", "0.005", "0.06"],
      ["x_profiles", "3", "0.01", "0.03"],
    ],
    counts: {
      input_tokens: 1_000,
      output_tokens: 100,
      web_searches: 2,
      web_search_answers: 1,
      attachment_searches: 4,
      code_runs: 1,
      x_posts: 12,
      x_profiles: 3,
    },
  },
  {
    name: "searches in Google Maps, which are no web searches",
    source: "the Gemini API reports their queries in webSearchQueries",
    model: "acme/walking",
    path: gemini("walking"),
    body: { contents, tools: [{ googleMaps: {} }] },
    answer: grounded({ webSearchQueries: ["coffee", "espresso"], groundingChunks: [place] }),
    // 10 x 500 + 5 x 3,000 + 2 x 12,000,000
    nano: 24_020_000n,
    lines: [
      ["input_tokens", "10", "0.5", "0.000005"],
      ["output_tokens", "5", "3", "0.000015"],
      ["map_searches", "2", "0.012", "0.024"],
    ],
    counts: { input_tokens: 10, output_tokens: 5, map_searches: 2, map_answers: 1 },
  },
  {
    name: "an answer with places from Google Maps",
    source: "Vertex AI reports no queries",
    model: "acme/strolling",
    path: gemini("strolling"),
    body: { contents, tools: [{ google_maps: {} }] },
    answer: grounded({ groundingChunks: [place, place] }),
    // 10 x 300 + 5 x 2,500 + 25,000,000
    nano: 25_015_500n,
    lines: [
      ["input_tokens", "10", "0.3", "0.000003"],
      ["output_tokens", "5", "2.5", "0.0000125"],
      ["map_answers", "1", "0.025", "0.025"],
    ],
    counts: { input_tokens: 10, output_tokens: 5, map_searches: 1, map_answers: 1 },
  },
];

/** Tools that vendors run and bill beside the tokens: in streams, whose callers may leave, and in reservations. docs/models.md. */
import { expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { json, sse } from "../support/recorder.ts";
import { describeGateways, idOf } from "./support.ts";

const model = (id: string, offer: string) =>
  `  - { id: acme/${id}, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [{ upstream_model: m, ${offer} }] }\n`;
const tokens = 'input: "1", output: "2"';
const config = (url: string) => `
providers:
  - { id: openai, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
  - { id: google, dialect: google, base_url: ${url}/v1beta, api_key: none }
models:
${model("files", `provider: openai, protocol: responses, price: { ${tokens}, file_search: "0.0025" }, price_above: { input_tokens: 50, price: { ${tokens} } }`)}\
${model("x", `provider: openai, protocol: responses, price: { ${tokens}, web_search: "0.005", file_search: "0.0025", attachment_search: "0.01", code_run: "0.005", x_post: "0.005", x_profile: "0.01" }`)}\
${model("maps", `provider: google, protocol: generate_content, price: { ${tokens}, web_search: "0.014", map_search: "0.012" }`)}\
${model("places", `provider: google, protocol: generate_content, price: { ${tokens}, web_search_answer: "0.035", map_answer: "0.025" }`)}`;

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;
/** 100 tokens in and 10 out. */
const tokensNano = 100n * 1_000n + 10n * 2_000n;

const items = [
  { type: "file_search_call", id: "fs_1", status: "completed", queries: ["a"] },
  { type: "file_search_call", id: "fs_2", status: "failed", queries: ["b"] },
  { type: "file_search_call", id: "fs_3", status: "completed", queries: ["c"] },
];
const response = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: items,
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
};
const begun =
  named("response.created", {
    sequence_number: 0,
    response: { ...response, status: "in_progress", output: [], usage: null },
  }) +
  items
    .map((item, index) =>
      named("response.output_item.done", { sequence_number: index + 1, output_index: index, item }),
    )
    .join("");
const completed = (output: object[]) =>
  named("response.completed", { sequence_number: 9, response: { ...response, output } });
const asked = {
  model: "acme/files",
  input: "Hi",
  max_output_tokens: 10,
  tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }],
};

const contents = [{ role: "user", parts: [{ text: "Where?" }] }];
const frame = (text: string, groundingMetadata: object, more: object = {}) =>
  data({
    candidates: [
      { index: 0, content: { role: "model", parts: [{ text }] }, groundingMetadata, ...more },
    ],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
  });
const end = { finishReason: "STOP" };
const place = { maps: { uri: "https://maps.google.com/?cid=1", title: "A" } };
const page = { web: { uri: "https://example.com", title: "B" } };
const mapsPath = (name: string) => `/v1beta/models/acme/${name}:streamGenerateContent?alt=sse`;

describeGateways("tools of vendors", { config }, (bench) => {
  it.each([
    ["the items in its end", completed(items)],
    ["no items in its end", completed([])],
  ])("BILL-01: searches in files are charged for a stream with %s", async (_name, last) => {
    bench().up.answer(sse(begun + last));
    const answered = await bench().post("/v1/responses", { ...asked, stream: true });
    expect(await answered.text()).toContain("fs_3");
    // The tier has no rate of its own.
    expect(await bench().entry(idOf(answered))).toMatchObject({
      amount_nano: tokensNano + 5_000_000n,
    });
    const { usage } = await bench().logRow(idOf(answered));
    expect(usage).toMatchObject({ fileSearches: 2 });
    expect(usage).not.toHaveProperty("webSearches");
  });

  const told = (details: object) =>
    named("response.completed", {
      sequence_number: 9,
      response: {
        ...response,
        usage: { ...response.usage, ...details },
      },
    });
  const xai = "server_side_tool_usage_details";
  it.each([
    ["more than its items", { [xai]: { file_search_calls: 3, x_posts_fetched: 2 } }, 17_500_000n],
    ["fewer: a search without a result is not billed", { [xai]: { file_search_calls: 0 } }, 0n],
    ["a negative count: the items count", { [xai]: { file_search_calls: -1 } }, 5_000_000n],
    ["too large a count (T51)", { [xai]: { x_posts_fetched: 10_001 } }, 5_000_000n],
    ["no object", { [xai]: [7], x_tools: "2", server_tool_use: null }, 5_000_000n],
    ["DashScope's counts", { x_tools: { web_search: { count: 2 } } }, 15_000_000n],
  ])("BILL-01: a usage counts the uses of tools: %s", async (_name, details, nano) => {
    bench().up.answer(sse(begun + told(details)));
    const body = { ...asked, model: "acme/x", stream: true };
    const streamed = await bench().post("/v1/responses", body);
    expect(await streamed.text()).toContain("fs_3");
    expect(await bench().entry(idOf(streamed))).toMatchObject({ amount_nano: tokensNano + nano });
    bench().up.answer(json({ ...response, usage: { ...response.usage, ...details } }));
    const whole = await bench().post("/v1/responses", { ...body, stream: false });
    expect(whole.status).toBe(200);
    await whole.text();
    expect(await bench().entry(idOf(whole))).toMatchObject({ amount_nano: tokensNano + nano });
  });

  it("T47: counts from before the end of a stream do not replace its items", async () => {
    const early = { ...response.usage, [xai]: { file_search_calls: 0 } };
    const started = named("response.in_progress", {
      sequence_number: 0,
      response: { ...response, status: "in_progress", output: [], usage: early },
    });
    bench().up.answer((_request, answer) => {
      answer.writeHead(200, { "content-type": "text/event-stream" }).write(started + begun);
    });
    const answered = await bench().post("/v1/responses", {
      ...asked,
      model: "acme/x",
      stream: true,
    });
    const reader = answered.body!.getReader();
    let seen = "";
    while (!seen.includes("fs_3")) seen += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    expect((await bench().logRow(idOf(answered))).usage).toMatchObject({ fileSearches: 2 });
  });

  it("T47: a stream whose caller left is charged the searches in files that were seen", async () => {
    bench().up.answer((_request, answer) => {
      answer.writeHead(200, { "content-type": "text/event-stream" }).write(begun);
    });
    const answered = await bench().post("/v1/responses", { ...asked, stream: true });
    const reader = answered.body!.getReader();
    let seen = "";
    while (!seen.includes("fs_3")) seen += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    const { usage, cost_nano: cost } = await bench().logRow(idOf(answered));
    expect(usage).toMatchObject({ fileSearches: 2 });
    expect(cost).toBeGreaterThan(5_000_000n);
    expect(await bench().entry(idOf(answered))).toMatchObject({ amount_nano: cost });
  });

  it.each([
    {
      name: "queries before the places",
      to: "maps",
      stream:
        frame("A", { webSearchQueries: ["a", "b"] }) + frame("", { groundingChunks: [place] }, end),
      nano: 24_000_000n,
      usage: { mapSearches: 2 },
    },
    {
      name: "places and pages: the queries are of the web",
      to: "maps",
      stream:
        frame("A", { webSearchQueries: ["a", "b"], groundingChunks: [page] }) +
        frame("", { webSearchQueries: ["b"], groundingChunks: [place] }, end),
      nano: 28_000_000n + 12_000_000n,
      usage: { webSearches: 2, mapSearches: 1 },
    },
    {
      name: "a widget, and no query",
      to: "places",
      stream: frame("A", { googleMapsWidgetContextToken: "widgetcontent/1" }, end),
      nano: 25_000_000n,
      usage: { mapSearches: 1 },
    },
    {
      name: "queries alone: they are of the web",
      to: "places",
      stream: frame("A", { webSearchQueries: ["a", "b"], groundingChunks: [] }, end),
      nano: 35_000_000n,
      usage: { webSearches: 2 },
    },
    {
      name: "neither queries nor sources",
      to: "places",
      stream: frame(
        "A",
        { googleMapsWidgetContextToken: "", groundingChunks: [{ maps: null }] },
        end,
      ),
      nano: 0n,
      usage: {},
    },
  ])("BILL-01: Google Maps is charged apart from the web: $name", async (row) => {
    bench().up.answer(sse(row.stream));
    const tools = [{ googleMaps: {} }, { googleSearch: {} }];
    const answered = await bench().post(mapsPath(row.to), { contents, tools });
    expect(await answered.text()).toContain("A");
    expect(await bench().entry(idOf(answered))).toMatchObject({
      amount_nano: tokensNano + row.nano,
    });
    const { usage } = await bench().logRow(idOf(answered));
    const { webSearches, mapSearches } = usage!;
    expect({ webSearches, mapSearches }).toEqual(row.usage);
  });

  it.each([
    // Ten searches are assumed, or what the request allows.
    { path: "/v1/responses", body: asked, allowedNano: 25_000_000n },
    { path: "/v1/responses", body: { ...asked, max_tool_calls: 3 }, allowedNano: 7_500_000n },
    // Ten searches in X, of ten posts and a profile each.
    {
      path: "/v1/responses",
      body: { ...asked, model: "acme/x", tools: [{ type: "x_search" }] },
      allowedNano: 600_000_000n,
    },
    {
      path: "/v1/responses",
      body: { ...asked, model: "acme/x", tools: [{ type: "code_interpreter", container: {} }] },
      allowedNano: 50_000_000n,
    },
    {
      path: "/v1/responses",
      body: {
        ...asked,
        model: "acme/x",
        tools: [],
        max_tool_calls: 4,
        input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }],
      },
      allowedNano: 40_000_000n,
    },
    {
      path: mapsPath("maps"),
      body: { contents, tools: [{ google_maps: {} }] },
      allowedNano: 120_000_000n,
    },
    {
      path: mapsPath("places"),
      body: { contents, tools: [{ googleMaps: {} }] },
      allowedNano: 25_000_000n,
    },
  ])("CAP-03: $allowedNano nano-dollars are reserved for tools at $path", async (row) => {
    const spent = parseUsd((await bench().keySpend()).total);
    const setHard = (totalNano: bigint) => bench().setCaps("key", { totalNano, hard: true });
    await setHard(spent + row.allowedNano);
    bench().up.answer(json(response));
    const refused = await bench().post(row.path, row.body);
    expect({ status: refused.status, text: await refused.text() }).toMatchObject({ status: 402 });
    // With the tokens.
    await setHard(spent + row.allowedNano + 3_000_000n);
    bench().up.answer(row.path === "/v1/responses" ? json(response) : sse(frame("A", {}, end)));
    const answered = await bench().post(row.path, row.body);
    expect({ status: answered.status, text: await answered.text() }).toMatchObject({ status: 200 });
    await bench().setCaps("key", null);
    await bench().expectClean();
  });
});

/**
 * A session of a responses caller with a `prompt_cache_key` at Claude, and a conversation of a generateContent caller where the operator
 * says `prompt_caching: auto`. The vendor gets markers, and cache writes and reads have their rates. docs/decisions.md "Prompt caches".
 */
import { afterEach, expect, it } from "vitest";
import { json, sse } from "../support/recorder.ts";
import { describeGateways, idOf } from "./support.ts";

const config = (url: string) => `
prompt_caching: auto
providers: [{ id: relay, dialect: anthropic, base_url: "${url}/v1", api_key: none }]
models:
  - id: acme/claude
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers: [{ provider: relay, protocol: messages, upstream_model: claude-sonnet-5, price: { input: "2", cache_read: "0.20", cache_write: "2.50", output: "10" } }]
`;

const answer = (usage: object) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5",
  content: [{ type: "text", text: "Done." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 20, ...usage },
});

function streamOf(usage: object): string {
  const { content: _content, stop_reason, stop_sequence, ...message } = answer(usage);
  return [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Done." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

const said = (role: string, text: string) => ({ type: "message", role, content: text });
const rest = 10n * 2_000n + 20n * 10_000n;
const calls = [
  {
    input: [said("user", "Look.")],
    usage: { cache_creation_input_tokens: 5_000, cache_read_input_tokens: 0 },
    cached: 0,
    costNano: rest + 5_000n * 2_500n,
    markers: 1,
  },
  {
    input: [said("user", "Look."), said("assistant", "Done."), said("user", "Again.")],
    usage: { cache_creation_input_tokens: 200, cache_read_input_tokens: 5_000 },
    cached: 5_000,
    costNano: rest + 200n * 2_500n + 5_000n * 200n,
    markers: 3,
  },
];

const pick = ({ costNano, markers }: { costNano: bigint; markers: number }) => ({
  costNano,
  markers,
});

describeGateways("a session that is marked for its cache", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  const markersIn = (body: object): number =>
    JSON.stringify(body).match(/"cache_control":\{"type":"ephemeral"\}/g)?.length ?? 0;

  it.each([false, true])(
    "CONV-418 T53: is charged for what was written and read (stream %s)",
    async (stream) => {
      for (const { input, usage, cached, costNano, markers } of calls) {
        bench().up.answer(stream ? sse(streamOf(usage)) : json(answer(usage)));
        const response = await bench().post("/v1/responses", {
          model: "acme/claude",
          instructions: "Be brief.",
          input,
          max_output_tokens: 100,
          prompt_cache_key: "session 1",
          stream,
        });
        const text = await response.text();
        expect({ status: response.status, text }).toMatchObject({ status: 200 });
        expect(text).toContain(`"cached_tokens":${cached}`);
        const { body } = bench().up.requests.at(-1)!;
        expect(markersIn(body as object)).toBe(markers);
        expect(await bench().logRow(idOf(response))).toMatchObject({
          cost_nano: costNano,
          usage: { inputTokens: 5_010 + (cached > 0 ? 200 : 0) },
          usage_source: "upstream",
        });
      }
    },
  );

  it.each([false, true])(
    "CONV-418 TXT-15 TXT-16: is marked without a session key from its second turn on, and charged alike (stream %s)",
    async (stream) => {
      const { input: _input, ...plain } = calls[0]!;
      const first = { ...plain, costNano: rest + 5_000n * 2_000n, markers: 0 };
      const turns = [
        { parts: [{ text: "Look." }] },
        { role: "model", parts: [{ text: "Done." }] },
        { role: "user", parts: [{ text: "Again." }] },
      ];
      const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      const talk = [
        { contents: turns.slice(0, 1), usage: { input_tokens: 5_010 }, ...pick(first) },
        { contents: turns, usage: calls[1]!.usage, ...pick({ ...calls[1]!, markers: 3 }) },
      ];
      for (const { contents, usage, costNano, markers } of talk) {
        bench().up.answer(stream ? sse(streamOf(usage)) : json(answer(usage)));
        const response = await bench().post(`/v1beta/models/acme/claude:${method}`, {
          contents,
          systemInstruction: { parts: [{ text: "Be brief." }] },
          generationConfig: { maxOutputTokens: 100 },
        });
        const text = await response.text();
        expect({ status: response.status, text }).toMatchObject({ status: 200 });
        expect(markersIn(bench().up.requests.at(-1)!.body as object)).toBe(markers);
        const header = response.headers.get("x-gw-dropped-params");
        const told = stream ? (header ?? "") : text;
        expect(told.includes("contents")).toBe(markers > 0);
        const row = await bench().logRow(idOf(response));
        expect(row).toMatchObject({ cost_nano: costNano, usage_source: "upstream" });
      }
    },
  );
});

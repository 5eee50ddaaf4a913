/**
 * Sound in a chat answer whose caller leaves before its vendor tells the usage, or whose vendor tells none: a token for each 50 ms, beside
 * those of the transcript. docs/models.md "Prices".
 */
import { afterEach, expect, it } from "vitest";
import { sse } from "../support/recorder.ts";
import { describeGateways, eventually, idOf } from "./support.ts";

const config = (url: string) => `
providers:
  - { id: relay, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
models:
  - id: acme/voice
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers: [{ provider: relay, protocol: chat, upstream_model: m, price: { input: "0", output: "10", audio_output: "64" } }]
`;

/** Half a second of 16-bit sound at 24 kHz, as OpenAI and Qwen stream it. */
const data = Buffer.alloc(24_000).toString("base64");
const frame = (choice: object): string =>
  `data: ${JSON.stringify({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: null, ...choice }],
  })}\n\n`;
const spoken =
  frame({ delta: { role: "assistant", audio: { id: "audio_1", transcript: "Hello" } } }) +
  frame({ delta: { audio: { data } } }) +
  frame({ delta: { audio: { data } } });
const end = `${frame({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`;

const path = "/v1/chat/completions";
const body = {
  model: "acme/voice",
  stream: true,
  modalities: ["text", "audio"],
  audio: { voice: "alloy", format: "pcm16" },
  messages: [{ role: "user", content: "Say hello." }],
};

/** One second of sound and one word. */
const counted = {
  usage_source: "estimated",
  cost_nano: 20n * 64_000n + 1n * 10_000n,
  usage: expect.objectContaining({ outputTokens: 21, audioOutputTokens: 20 }) as never,
};

describeGateways("sound of an answer without usage", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  it("T56: sound and its transcript are charged", async () => {
    bench().up.answer(sse(spoken + end));
    const response = await bench().post(path, body);
    expect(await response.text()).toContain(data);
    expect(await bench().logRow(idOf(response))).toMatchObject(counted);
  });

  it("T62 T56: sound is charged if its caller leaves as soon as it arrived", async () => {
    bench().up.answer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(spoken);
    });
    const controller = new AbortController();
    const response = await fetch(bench().url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${bench().key}` },
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    const reader = response.body!.getReader();
    let seen = "";
    await eventually(async () => {
      seen += Buffer.from((await reader.read()).value ?? []).toString();
      return seen.split(data).length > 2;
    }, "all sound");
    controller.abort();
    expect(await bench().logRow(idOf(response))).toMatchObject({
      status: "client_closed",
      ...counted,
    });
  });
});

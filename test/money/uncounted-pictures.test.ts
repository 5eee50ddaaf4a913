/**
 * Pictures in the answers of text models whose vendor tells no usage, or whose caller leaves before it does: each counts 1,290 tokens.
 * docs/models.md "Prices".
 */
import { afterEach, expect, it } from "vitest";
import { json, sse } from "../support/recorder.ts";
import { describeGateways, eventually, idOf, type LogRow } from "./support.ts";

const offer = (id: string, provider: string, protocol: string) => `
  - id: ${id}
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers: [{ provider: ${provider}, protocol: ${protocol}, upstream_model: m, price: { input: "0", output: "2.5", image_output: "30" } }]`;
const config = (url: string) => `
providers:
  - { id: relay, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
  - { id: google, dialect: google, base_url: ${url}/v1beta, api_key: none }
models:${offer("acme/chat", "relay", "chat")}${offer("acme/google", "google", "generate_content")}
`;

const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } };
const chat = (choice: object, object: string) => ({
  id: "c",
  object,
  created: 1,
  model: "m",
  choices: [{ index: 0, ...choice }],
});
const message = { role: "assistant", content: "", images: [image, image] };
const chatWhole = chat({ message, finish_reason: "stop" }, "chat.completion");
const chatPictures = event(chat({ delta: message, finish_reason: null }, "chat.completion.chunk"));
const chatEnd = `${event(chat({ delta: {}, finish_reason: "stop" }, "chat.completion.chunk"))}data: [DONE]\n\n`;

const drawn = { inlineData: { mimeType: "image/png", data } };
// A draft is not part of the answer.
const parts = [{ ...drawn, thought: true }, drawn, drawn];
const google = (candidate: object) => ({ candidates: [{ index: 0, ...candidate }] });
const googleWhole = google({ content: { role: "model", parts }, finishReason: "STOP" });
const googlePictures = event(google({ content: { role: "model", parts } }));
const googleEnd = event(google({ content: { role: "model", parts: [] }, finishReason: "STOP" }));

const contents = [{ role: "user", parts: [{ text: "Draw two cats." }] }];
const callOf = (model: string, stream: boolean, isGoogle: boolean) =>
  isGoogle
    ? {
        path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
        body: { contents },
      }
    : {
        path: "/v1/chat/completions",
        body: { model, stream, messages: [{ role: "user", content: "Draw two cats." }] },
      };

const counted: Partial<LogRow> = {
  usage_source: "estimated",
  cost_nano: 2n * 1_290n * 30_000n,
  usage: expect.objectContaining({ outputTokens: 2_580, imageOutputTokens: 2_580 }) as never,
};

const routes: readonly [name: string, model: string, isGoogle: boolean][] = [
  ["chat at chat", "acme/chat", false],
  ["generateContent at Google", "acme/google", true],
  ["chat at Google", "acme/google", false],
];

describeGateways("pictures of an answer without usage", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  it.each(routes)(
    "T56: pictures of %s are charged, whole and streamed",
    async (_name, model, isGoogle) => {
      const isChat = model === "acme/chat";
      for (const stream of [false, true]) {
        const whole = isChat ? chatWhole : googleWhole;
        const streamed = isChat ? chatPictures + chatEnd : googlePictures + googleEnd;
        bench().up.answer(stream ? sse(streamed) : json(whole));
        const { path, body } = callOf(model, stream, isGoogle);
        const response = await bench().post(path, body);
        expect(await response.text()).toContain(data);
        expect(await bench().logRow(idOf(response))).toMatchObject(counted);
      }
    },
  );

  // Chat frames of a conversion have the pictures at their end.
  it.each(routes.slice(0, 2))(
    "T62 T56: pictures of %s are charged if their caller leaves as soon as they arrived",
    async (_name, model, isGoogle) => {
      bench().up.answer((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(model === "acme/chat" ? chatPictures : googlePictures);
      });
      const { path, body } = callOf(model, true, isGoogle);
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
      }, "both pictures");
      controller.abort();
      expect(await bench().logRow(idOf(response))).toMatchObject({
        status: "client_closed",
        ...counted,
      });
    },
  );
});

// A whole answer begins only when it is complete. Giving up earlier means paying for it and for the next provider's. BILL-22.
import { afterAll, beforeAll, expect, it } from "vitest";
import { defaultTimeouts, wholeTimeouts } from "../../src/catalog/index.ts";
import { startRecorder, type Answer, type Recorder } from "../support/recorder.ts";
import { answering, completion, describeGateways, idOf, talk, usageOf } from "./support.ts";

let second: Recorder;
beforeAll(async () => {
  second = await startRecorder(answering(usageOf(10, 2)));
});
afterAll(() => second.close());

const offer = (provider: string, usd: string) =>
  `{ provider: ${provider}, protocol: chat, upstream_model: talk-1, price: { input: "${usd}", output: "${usd}" } }`;
const provider = (id: string, url: string) =>
  `{ id: ${id}, dialect: openai-compatible, base_url: "${url}/v1", api_key: none, timeouts: { first_byte_s: 0.5 } }`;
const config = (url: string) => `
providers:
  - ${provider("first", url)}
  - ${provider("second", second.url)}
models:
  - { id: acme/talk, kind: text, context_length: 100000, max_output_tokens: 32768, offers: [${offer("first", "1")}, ${offer("second", "2")}] }
`;

const late: Answer = (_request, response) =>
  void setTimeout(
    () =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(completion(usageOf(10, 8_000)))),
    900,
  );

describeGateways("a slow provider", { config }, (bench) => {
  it("BILL-22: is waited for as long as the tokens of a whole answer may take, and no other provider is asked", async () => {
    bench().up.answer(late);
    const body = { ...talk({ max_tokens: 8_192 }), model: "acme/talk:@price" };
    const answered = await bench().post("/v1/chat/completions", body);
    expect({ status: answered.status, text: await answered.text() }).toMatchObject({ status: 200 });
    expect(second.requests).toHaveLength(0);
    expect(await bench().entry(idOf(answered))).toMatchObject({ amount_nano: 8_010_000n });
  });

  it("is left for the next provider if it is late to begin a stream or a short answer", async () => {
    bench().up.answer(late);
    for (const more of [{ max_tokens: 8_192, stream: true }, { max_tokens: 16 }]) {
      const body = { ...talk(more), model: "acme/talk:@price" };
      const answered = await bench().post("/v1/chat/completions", body);
      expect(await answered.text()).toContain("Hello");
      expect((await bench().logRow(idOf(answered))).attempts).toMatchObject([
        { outcome: "first_byte_timeout" },
        { outcome: "ok" },
      ]);
    }
  });
});

it("the timeout of a whole answer grows by itself for each 4,096 tokens that it may have", () => {
  expect(wholeTimeouts(defaultTimeouts, 0)).toEqual(defaultTimeouts);
  expect(wholeTimeouts(defaultTimeouts, 4_096)).toMatchObject({ firstByteMs: 240_000 });
  expect(wholeTimeouts(defaultTimeouts, 32_768)).toMatchObject({ firstByteMs: 1_080_000 });
});

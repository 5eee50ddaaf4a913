/** A call whose bound exceeds the limit of a call is a caller's error: it names the expensive field, and costs nothing. */
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { amountNanoMax } from "../../src/base/money.ts";
import { answering, describeGateways, idOf, talk, usageOf } from "./support.ts";

const offer = (protocol: string, price: string) =>
  `offers: [{ provider: up, protocol: ${protocol}, upstream_model: m, price: ${price} }]`;
const model = (id: string, price: string) => `
  - id: acme/${id}
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    ${offer("chat", price)}`;

/** An output token costs 900 dollars, so about 11,000 are the maximum. Every call of `always` is too expensive. */
const config = (url: string) => `
providers:
  - { id: up, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
  - { id: films, dialect: dashscope, base_url: ${url}/api/v1, api_key: none }
models:${model("dear", '{ input: "1", output: "900000000" }')}${model("always", '{ input: "1", output: "1", request: "10000001" }')}
  - { id: acme/vectors, kind: embedding, context_length: 9000, offers: [{ provider: up, upstream_model: v, price: { input: "999999999" } }] }
  - id: acme/film
    kind: video
    family: video-seconds
    offers: [{ provider: films, upstream_model: f, price: { output_second: { 480p: "1000001", 720p: "1000001", 1080p: "1000001" }, input_image: "0" } }]
  - { id: acme/picture, kind: image, family: image-c, offers: [{ provider: films, upstream_model: p, price: { output_image: "5000001" } }] }
`;

interface ExpensiveCall {
  readonly path: string;
  readonly body: object;
  readonly field: string;
}

const input = "Hello";
const contents = [{ role: "user", parts: [{ text: input }] }];
const generate = "/v1beta/models/acme/dear:generateContent";
const calls: readonly ExpensiveCall[] = [
  ["/v1/chat/completions", talk({ model: "acme/dear", max_tokens: 12_000 }), "max_tokens"],
  [
    "/v1/chat/completions",
    talk({ model: "acme/dear", max_completion_tokens: 12_000, stream: true }),
    "max_completion_tokens",
  ],
  ["/v1/chat/completions", talk({ model: "acme/dear", max_tokens: 1_000, n: 12 }), "n"],
  ["/v1/chat/completions", talk({ model: "acme/always" }), "model"],
  ["/v1/responses", { model: "acme/dear", input, max_output_tokens: 12_000 }, "max_output_tokens"],
  ["/v1/messages", talk({ model: "acme/dear", max_tokens: 12_000 }), "max_tokens"],
  [
    generate,
    { contents, generationConfig: { max_output_tokens: 12_000 } },
    "generationConfig.max_output_tokens",
  ],
  [
    generate,
    { contents, generationConfig: { maxOutputTokens: 2_000, candidateCount: 8 } },
    "generationConfig.candidateCount",
  ],
  ["/v1/embeddings", { model: "acme/vectors", input: input.repeat(6_100) }, "input"],
  ["/v1/tasks", { model: "acme/film", prompt: "A boat", duration: 10 }, "duration"],
  ["/v1/tasks", { model: "acme/picture", prompt: "A boat", n: 2 }, "n"],
].map(([path, body, field]) => ({ path, body, field }) as ExpensiveCall);

describeGateways("a call with a bound above the limit of one call", { config }, (bench) => {
  it.each(calls)(
    "ERR-13 T64: $path is refused with 400, which names $field, and costs nothing",
    async ({ path, body, field }) => {
      const before = bench().up.requests.length;
      const response = await bench().post(path, body);
      const text = await response.text();
      expect({ status: response.status, text }).toMatchObject({ status: 400 });
      expect(text).toContain(`\`${field}\` makes a call that may cost up to $`);
      expect(text).toContain("one call may cost $10000000 at most");
      expect(bench().up.requests).toHaveLength(before);
      expect(await bench().charges()).toEqual([]);
      expect(await bench().holds()).toEqual([]);
    },
  );

  it("a call at the limit is judged by the balance", async () => {
    bench().up.answer(answering(usageOf(1, 1)));
    const response = await bench().post(
      "/v1/chat/completions",
      talk({ model: "acme/dear", max_tokens: 11_000 }),
    );
    expect(await response.json()).toMatchObject({ error: { code: "insufficient_balance" } });
    expect(response.status).toBe(402);
  });
});

const credit = "10000000";
const faults: object[] = [];
const log = { ...silentLog, error: (fields: object) => void faults.push(fields) };

describeGateways("a call that cost more than the limit of one call", { config, log }, (bench) => {
  it.each([false, true])(
    "BILL-01: is answered and charged the maximum, and the log has both amounts (stream: %s)",
    async (stream) => {
      // 18,000,000 dollars: the vendor reports more output than was requested.
      bench().up.answer(answering(usageOf(1, 20_000)));
      await bench().credit(credit);
      const response = await bench().post(
        "/v1/chat/completions",
        talk({ model: "acme/dear", max_tokens: 1, stream }),
      );
      const text = await response.text();
      expect({ status: response.status, text }).toMatchObject({ status: 200 });
      const id = idOf(response);
      expect(await bench().entry(id)).toMatchObject({
        kind: "charge",
        amount_nano: amountNanoMax,
      });
      expect(await bench().logRow(id)).toMatchObject({ cost_nano: amountNanoMax });
      expect(faults).toContainEqual({ id, cost_usd: "18000000.000001", charged_usd: credit });
      await bench().expectClean();
    },
  );
});

/**
 * Pictures that a model makes with its vendor's own tool. The response reports the tokens of the image model next to its usage. They
 * are charged at separate rates, whole and streamed, and reserved. docs/models.md "Images made by a tool".
 */
import { expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { json, sse } from "../support/recorder.ts";
import { describeGateways, errorOf, idOf } from "./support.ts";

const tokens = 'input: "1", output: "2"';
const rates = `image_tool_input: "5", image_tool_image_input: "8", image_tool_output: "30"`;
const model = (id: string, price: string) => `
  - { id: acme/${id}, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [
      { provider: openai, protocol: responses, upstream_model: r, price: { ${tokens}${price} } }] }`;
const config = (url: string) => `
providers:
  - { id: openai, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
models:${model("draws", `, ${rates}`)}${model("plain", "")}
`;

const imageGen = {
  input_tokens: 1_000,
  input_tokens_details: { text_tokens: 400, image_tokens: 600 },
  output_tokens: 4_160,
  output_tokens_details: { text_tokens: 0, image_tokens: 4_160 },
  total_tokens: 5_160,
};
const responseWith = (image_gen: object) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "r",
  output: [{ type: "image_generation_call", id: "ig_1", status: "completed", result: "aGk=" }],
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
  tool_usage: { image_gen, web_search: { num_requests: 0 } },
});
const named = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const streamOf = (response: object) =>
  named("response.created", {
    sequence_number: 0,
    response: { ...response, status: "in_progress", output: [], usage: null, tool_usage: null },
  }) + named("response.completed", { sequence_number: 1, response });

const body = { input: "Draw a boat", tools: [{ type: "image_generation" }] };
const tokensNano = 100n * 1_000n + 10n * 2_000n;
const imagesNano = 400n * 5_000n + 600n * 8_000n + 4_160n * 30_000n;

describeGateways("pictures by a vendor's tool", { config }, (bench) => {
  const ask = async (name: string, response: object, stream: boolean) => {
    bench().up.answer(stream ? sse(streamOf(response)) : json(response));
    const answered = await bench().post("/v1/responses", {
      ...body,
      model: `acme/${name}`,
      stream,
    });
    const text = await answered.text();
    expect({ status: answered.status, text }).toMatchObject({ status: 200 });
    const id = idOf(answered);
    return { entry: await bench().entry(id), row: await bench().logRow(id) };
  };

  it.each([false, true])(
    "BILL-01 T55: are charged by their tokens at their own rates (stream: %s)",
    async (stream) => {
      const { entry, row } = await ask("draws", responseWith(imageGen), stream);
      expect(entry).toMatchObject({ kind: "charge", amount_nano: tokensNano + imagesNano });
      expect(row).toMatchObject({
        cost_nano: tokensNano + imagesNano,
        usage: {
          inputTokens: 100,
          outputTokens: 10,
          imageToolTextTokens: 400,
          imageToolImageTokens: 600,
          imageToolOutputTokens: 4_160,
        },
      });
      await bench().expectClean();
    },
  );

  it("BILL-01: are not charged without such rates, and the log has their counts", async () => {
    const { entry, row } = await ask("plain", responseWith(imageGen), false);
    expect(entry).toMatchObject({ amount_nano: tokensNano });
    expect(row.usage).toMatchObject({ imageToolOutputTokens: 4_160 });
  });

  it("T51: have no counts in an answer without a picture, and no more image tokens than input tokens", async () => {
    const none = { ...imageGen, input_tokens: 0, output_tokens: 0 };
    const { entry, row } = await ask("draws", responseWith(none), true);
    expect(entry).toMatchObject({ amount_nano: tokensNano });
    expect(row.usage).not.toHaveProperty("imageToolOutputTokens");
    const odd = {
      input_tokens: 10,
      input_tokens_details: { image_tokens: 500 },
      output_tokens: "many",
    };
    const cut = await ask("draws", responseWith(odd), false);
    expect(cut.entry).toMatchObject({ amount_nano: tokensNano + 10n * 8_000n });
  });

  it.each([false, true])(
    "T56: are charged by an estimate if the response reports no usage of its tools, as OpenAI's did in 2025 (stream: %s)",
    async (stream) => {
      const { tool_usage: _none, ...response } = responseWith(imageGen);
      const { entry, row } = await ask("draws", response, stream);
      expect(entry).toMatchObject({ amount_nano: tokensNano + 4_160n * 30_000n });
      expect(row.usage).toMatchObject({ outputTokens: 10, imageToolOutputTokens: 4_160 });
    },
  );

  it("T62 T55: are charged by an estimate if their caller leaves the stream as soon as one arrived", async () => {
    const { output, ...response } = responseWith(imageGen);
    bench().up.answer((_request, vendor) => {
      vendor.writeHead(200, { "content-type": "text/event-stream" });
      const begun = { ...response, status: "in_progress", output: [], usage: null };
      vendor.write(named("response.created", { response: { ...begun, tool_usage: null } }));
      vendor.write(named("response.output_item.done", { output_index: 0, item: output[0] }));
    });
    const controller = new AbortController();
    const answered = await fetch(`${bench().url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${bench().key}` },
      body: JSON.stringify({ ...body, model: "acme/draws", stream: true }),
      signal: controller.signal,
    });
    const reader = answered.body!.getReader();
    for (let seen = ""; !seen.includes("aGk=");)
      seen += Buffer.from((await reader.read()).value ?? []).toString();
    controller.abort();
    const row = await bench().logRow(idOf(answered));
    const { inputTokens = 0 } = row.usage!;
    expect(inputTokens).toBeGreaterThan(0);
    expect(row).toMatchObject({
      status: "client_closed",
      usage_source: "estimated",
      cost_nano: BigInt(inputTokens) * 1_000n + 4_160n * 30_000n,
    });
    await bench().expectClean();
  });

  it("CAP-03: are reserved with a call that may make one", async () => {
    const spent = parseUsd((await bench().keySpend()).total);
    await bench().setCaps("key", { totalNano: spent + 10_000n * 30_000n, hard: true });
    const refused = await bench().post("/v1/responses", { ...body, model: "acme/draws" });
    expect((await errorOf(refused)).code).toBe("key_total_spend_cap_reached");
    await bench().setCaps("key", null);
  });
});

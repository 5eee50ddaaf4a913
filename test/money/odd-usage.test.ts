/** Impossible usages from vendors: invalid counts are ignored, and the call is charged by an estimate. */
import { countTokens } from "gpt-tokenizer";
import { expect, it } from "vitest";
import { estimateInputTokens } from "../../src/catalog/index.ts";
import { codecs } from "../../src/protocols/index.ts";
import { answering, chatConfig, describeGateways, idOf, talk, usageOf } from "./support.ts";

const config = (url: string) => chatConfig(url, 'price: { input: "3", output: "15" }');

const invalidUsages: readonly (readonly [name: string, usage: unknown])[] = [
  ["more than any call can use", usageOf(9e15, 9e15)],
  ["beyond exact integers", usageOf(1e300, 1e300)],
  ["negative", { prompt_tokens: -5, completion_tokens: -10 }],
  ["one side negative", { prompt_tokens: 5, completion_tokens: -10 }],
  ["fractions", { prompt_tokens: 5.5, completion_tokens: 1.5 }],
  ["texts", { prompt_tokens: "7", completion_tokens: "8" }],
  ["nulls", { prompt_tokens: null, completion_tokens: null, total_tokens: null }],
  ["one side only", { prompt_tokens: 7 }],
  ["an empty object", {}],
  ["a list", []],
  ["a number", 5],
  ["null", null],
];

describeGateways("an odd usage", { config }, (bench) => {
  it.each(invalidUsages)("T51: %s: the call is charged by an estimate", async (_name, usage) => {
    bench().up.answer(answering(usage as object, ["The quick brown fox", " jumps"]));
    for (const stream of [false, true]) {
      const body = talk({ stream });
      const response = await bench().post("/v1/chat/completions", body);
      const text = await response.text();
      expect({ status: response.status, text }).toMatchObject({ status: 200 });
      const facts = codecs.chat.direct.facts(body);
      const input = estimateInputTokens(facts.inputCharacters, facts.inputMedia);
      const output = countTokens("The quick brown fox jumps");
      const nano = BigInt(input) * 3_000n + BigInt(output) * 15_000n;
      expect(await bench().entry(idOf(response))).toMatchObject({
        kind: "charge",
        amount_nano: nano,
      });
      const row = await bench().logRow(idOf(response));
      expect(row).toMatchObject({ usage_source: "estimated", cost_nano: nano });
    }
  });

  it("T51: parts larger than their total are cut to it: no token is billed twice or negatively", async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 20,
      total_tokens: 30,
      completion_tokens_details: { reasoning_tokens: 500 },
    };
    bench().up.answer(answering(usage));
    const response = await bench().post("/v1/chat/completions", talk());
    await response.text();
    expect(await bench().entry(idOf(response))).toMatchObject({
      amount_nano: 10n * 3_000n + 20n * 15_000n,
    });
    await bench().expectClean();
  });
});

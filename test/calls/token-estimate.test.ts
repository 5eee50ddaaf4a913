/** The token estimate of an answer that came without a count: long runs, and JSON that was cut. T61, T62. */
import { countTokens } from "gpt-tokenizer";
import { expect, it } from "vitest";
import { costMs } from "../support/cost.ts";
import { meterPartial, meterBackground, outputOfCut, tokensIn } from "../../src/calls/meter.ts";
import { noUsage } from "../../src/base/usage.ts";

it("a run without a break is counted in pieces, and the text around it as usual", async () => {
  const run = "x".repeat(100);
  const pieces = ["before ", ..."x".repeat(100).match(/.{1,32}/g)!, " after"];
  const counted = pieces.reduce((sum, piece) => sum + countTokens(piece), 0);
  expect(await tokensIn(`before ${run} after`)).toBe(counted);
  expect(await tokensIn("one two three")).toBe(countTokens("one two three"));
  expect(await tokensIn("")).toBe(0);
});

it.each([
  ["letters", "a"],
  ["marks", "\u0301"],
  ["signs", "!"],
  ["spaces", " "],
  ["line ends", "\r\n"],
  // The tokenizer joins slashes and line ends.
  ["paths and line ends", "/\r\n"],
])("a long text of %s is counted within 120 ms", async (_what, piece) => {
  await tokensIn("Its tables are loaded.");
  const cost = await costMs(() => tokensIn(piece.repeat(20_000 / piece.length)));
  expect(cost).toBeLessThan(120);
});

it("a long text is extrapolated from its beginning, whether the rest was kept or not", async () => {
  const text = "one two three four ".repeat(4_000);
  const { length } = text;
  const tokens = await tokensIn(text);
  expect(tokens).toBe(Math.ceil(countTokens(text.slice(0, 20_000)) * (length / 20_000)));
  expect(await tokensIn({ text: text.slice(0, 20_000), characters: length })).toBe(tokens);
});

it("T62: the text of JSON that was cut in an escape counts up to the cut", () => {
  expect(outputOfCut('{"choices":[{"message":{"content":"One\\ntwo').text).toBe("One\ntwo");
  expect(outputOfCut('{"content":"One \\u00').text).toBe("One \\u00");
  expect(outputOfCut('{"reasoning":"Why. ","content":"Because.","model":"m"').text).toBe(
    "Why. Because.",
  );
  expect(outputOfCut('{"id":"c1","model":"m"').text).toBe("");
});

it("T62: reasoning in an answer that its caller left is counted as such", async () => {
  const cut = outputOfCut('{"reasoning_content":"one two three","content":"four');
  const { usage } = await meterPartial(undefined, 99, cut);
  expect(usage).toMatchObject({ inputTokens: 99, outputTokens: 4, reasoningTokens: 3 });
  const plain = await meterPartial(undefined, 99, outputOfCut('{"content":"one two'));
  expect(plain.usage).toMatchObject({ outputTokens: 2, reasoningTokens: 0 });
});

it("T62: an answer of text alone has no tokens of reasoning, sound or pictures", async () => {
  const { usage } = await meterPartial(undefined, 99, "one two");
  expect(usage).toStrictEqual({ ...noUsage, inputTokens: 99, outputTokens: 2 });
});

it("T62: usage that a vendor reported before its caller left is raised to the text that arrived", async () => {
  const reported = { ...noUsage, inputTokens: 7, outputTokens: 1 };
  const { usage, source } = await meterPartial(reported, 99, "one two three four five");
  expect(source).toBe("estimated");
  expect(usage.inputTokens).toBe(7);
  expect(usage.outputTokens).toBe(countTokens("one two three four five"));
});

it("T62: usage that a vendor reported is kept if it is above the text that arrived, as with reasoning", async () => {
  const reported = { ...noUsage, inputTokens: 7, outputTokens: 900 };
  const { usage } = await meterPartial(reported, 99, "one two three four five");
  expect(usage.outputTokens).toBe(900);
});

it("an answer that its vendor continues in the background counts its reserved tokens, and at least the text that arrived", async () => {
  const text = "one two three four five";
  const short = await meterBackground(7, 500, { output: text, seen: undefined });
  expect(short.usage).toMatchObject({ inputTokens: 7, outputTokens: 500 });
  const long = await meterBackground(7, 2, { output: text, seen: undefined });
  expect(long.usage.outputTokens).toBe(countTokens(text));
});

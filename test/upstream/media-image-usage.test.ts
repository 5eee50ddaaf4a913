/** The tokens that picture vendors report, with and without meaningless zeros. T56, T61. */
import { expect, it } from "vitest";
import { bytes, dialectOf, image } from "./media-support.ts";

const job = { request: image(), upstreamModel: "m", open: () => undefined as never };
function reportedTokens(usage: object) {
  const body = bytes({ data: [{ b64_json: "AAAA" }], usage });
  const state = dialectOf("openai", "image").readSubmit(200, body, job);
  return state.state === "succeeded" ? Object.values(state.reported) : state.state;
}
const totals = { input_tokens: 50, output_tokens: 4160, total_tokens: 4210 };
const [none, zeros] = [{}, { text_tokens: 0, image_tokens: 0 }];
const detailed = (input: object, output: object, of: object = totals) => ({
  ...of,
  input_tokens_details: input,
  output_tokens_details: output,
});

it.each([
  ["details of 0", detailed(zeros, zeros), [50, 0, 0, 4160]],
  ["empty details", detailed(none, none), [50, 0, 0, 4160]],
  ["only image tokens, of 0", detailed(none, { image_tokens: 0 }), [50, 0, 0, 4160]],
  [
    "details of 0 on one side",
    detailed({ text_tokens: 40, image_tokens: 10 }, zeros),
    [40, 10, 0, 4160],
  ],
  [
    "one kind of each side",
    detailed({ image_tokens: 10 }, { text_tokens: 60 }),
    [40, 10, 60, 4100],
  ],
])("T56: %s beside a total do not reduce the total", (_title, usage, counts) => {
  expect(reportedTokens(usage)).toEqual(counts);
});

// As LiteLLM tells the thinking of a model that draws: in the total, and in no detail of text or pictures.
it("T55: tokens of a total beyond its text and image details count as text", () => {
  const output = { reasoning_tokens: 100, text_tokens: 10, image_tokens: 4050 };
  expect(reportedTokens(detailed({ text_tokens: 20, image_tokens: 10 }, output))).toEqual([
    40, 10, 110, 4050,
  ]);
});

it("details above their total are counted as reported", () => {
  const output = { text_tokens: 200, image_tokens: 4160 };
  expect(reportedTokens(detailed({ text_tokens: 50, image_tokens: 0 }, output))).toEqual([
    50, 0, 200, 4160,
  ]);
});

const nothing = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
it.each([
  ["with details", detailed(zeros, zeros, nothing)],
  ["without details", nothing],
])("T61: a usage of 0 in all, %s, is reported as 0", (_title, usage) => {
  expect(reportedTokens(usage)).toEqual([0, 0, 0, 0]);
});

it("T61: a side of 0 stays 0 beside a side that is not 0", () => {
  expect(reportedTokens({ input_tokens: 7, output_tokens: 0 })).toEqual([7, 0, 0, 0]);
});

// Usage in OpenRouter's fields, alone and together with those of the images API.
it.each([
  [
    "alone",
    {
      prompt_tokens: 18,
      completion_tokens: 272,
      total_tokens: 290,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, image_tokens: 272 },
    },
    [18, 0, 0, 272],
  ],
  [
    "beside zeros",
    { ...nothing, prompt_tokens: 18, completion_tokens: 272, input_tokens_details: null },
    [18, 0, 0, 272],
  ],
  ["beside counts", { ...totals, prompt_tokens: 0, completion_tokens: 0 }, [50, 0, 0, 4160]],
])("T56: a usage in the names of chat completions, %s, is read", (_title, usage, counts) => {
  expect(reportedTokens(usage)).toEqual(counts);
});

/** Files and bodies with very many unknown names: checking them takes time in proportion to their length. */
import { expect, it } from "vitest";
import { checkConfig } from "../../src/catalog/index.ts";
import { costMs } from "../support/cost.ts";

const count = 1_500;
const provider = `providers:
  - { id: p, dialect: openai, base_url: "https://x/v1", api_key: k }
models:
`;

const rows = (of: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => {
    const name = `acme/model-${index}`;
    return `  - { id: ${name}, kind: text, context_length: 9, max_output_tokens: 9, ${of(index)} }\n`;
  }).join("");

it.each([
  ["fallbacks", (index: number) => `fallbacks: [acme/other-${index}], offers: []`],
  ["providers", (index: number) => `offers: [{ provider: other-${index} }]`],
])(`${count} models with unknown %s are refused in a moment`, async (_what, of) => {
  const providers = Array.from(
    { length: count },
    (_, index) => `  - { id: q${index}, dialect: openai, base_url: "https://x/v1", api_key: k }\n`,
  ).join("");
  const text = provider.replace("models:\n", `${providers}models:\n`) + rows(of);
  let mistakes: readonly { readonly message: string; readonly fix: string }[] = [];
  const cost = await costMs(() => {
    const result = checkConfig(text, { environment: {} });
    if ("mistakes" in result) mistakes = result.mistakes;
  });
  const unknown = mistakes.filter(({ message }) => message.startsWith("there is no"));
  expect(unknown).toHaveLength(count);
  expect(unknown.every(({ fix }) => fix !== "")).toBe(true);
  // Comparing each name with all known ones took 6 seconds.
  expect(cost).toBeLessThan(2_000);
});

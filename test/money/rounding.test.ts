/** L7: a cost is rounded up to a whole nano-dollar, once per call; the pages about prices say so. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { answering, chatConfig, describeGateways, idOf, talk, usageOf } from "./support.ts";

/** A token costs 0.4 nano-dollars, in and out. */
const config = (url: string) => chatConfig(url, 'price: { input: "0.0004", output: "0.0004" }');

describeGateways("fractions of a nano-dollar", { config }, (bench) => {
  it.each([
    [1, 0, 1n],
    [1, 1, 1n],
    [2, 1, 2n],
    [5, 0, 2n],
    [3, 3, 3n],
  ])(
    "BILL-04: %i tokens in and %i out are charged %i, rounded up once",
    async (input, output, nano) => {
      bench().up.answer(answering(usageOf(input, output)));
      const response = await bench().post("/v1/chat/completions", talk());
      await response.text();
      expect(await bench().entry(idOf(response))).toMatchObject({
        kind: "charge",
        amount_nano: nano,
      });
    },
  );
});

it.each(["README.md", "docs/configuration.md"])(
  "BILL-04: %s says in which direction costs are rounded",
  (page) => {
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
    expect(text.replaceAll(/\s+/g, " ")).toMatch(
      /rounded(?:,)? up(?:,)? (?:once, )?to a whole nano-dollar/,
    );
  },
);

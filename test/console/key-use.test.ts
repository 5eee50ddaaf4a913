/** Usage of a key by model: one request by step and model, summed in the browser. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { parseUsd, usdText } from "../../console/src/base/money.ts";
import { byModel } from "../../console/src/pages/key/by-model.ts";

const row = (model: string | null, cost: string, requests = 1, errors = 0) => ({
  model,
  cost,
  requests,
  errors,
});

it("usage rows are summed by model, dearest first, with all others last", () => {
  const others = { ...row(null, "9", 7, 3), other: true };
  const rows = [
    row("a", "0.000000001"),
    row("b", "0.3", 2, 1),
    others,
    row("a", "0.5", 4),
    row(null, "0.1"),
    others,
  ];
  expect(byModel(rows)).toEqual([
    { name: "a", model: "a", requests: 5, errors: 0, cost: "0.500000001" },
    { name: "b", model: "b", requests: 2, errors: 1, cost: "0.3" },
    { name: "not in the log", model: undefined, requests: 1, errors: 0, cost: "0.1" },
    { name: "all others", model: undefined, requests: 14, errors: 6, cost: "18" },
  ]);
  expect(byModel([])).toEqual([]);
});

it("an amount is written and read without loss, to the nano-dollar", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (nano) => {
      expect(parseUsd(usdText(nano))).toBe(nano);
    }),
  );
});

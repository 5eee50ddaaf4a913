/** `tollgate doctor` on a difference between the clocks of the database and this machine. docs/operate.md "Clocks". */
import { expect, it } from "vitest";
import { skewInWords } from "../../src/cli/doctor/database.ts";

it.each([
  [12, "12 ms ahead of this machine's"],
  [-340, "340 ms behind this machine's"],
  [-3_599_999, "3600 s behind this machine's"],
  [30_400, "30 s ahead of this machine's"],
])("a clock difference of %s ms is reported as: %s", (skewMs, words) => {
  expect(skewInWords(skewMs)).toBe(words);
});

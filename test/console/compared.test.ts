/** The comparison of a long request with what was sent. */
import { expect, it } from "vitest";
import { comparisonOf, fieldsMax } from "../../console/src/pages/requests/one/comparison.ts";

it("fields beyond the compared ones are not called dropped or added", () => {
  const input = Array.from({ length: fieldsMax + 10 }, (_, index) => `text ${index}`);
  const asked = { model: "a", input };
  const given = { model: "a", stream: true, options: { usage: true }, input };
  for (const [request, sent] of [
    [asked, given],
    [given, asked],
  ]) {
    const all = comparisonOf(JSON.stringify(request), JSON.stringify(sent))!;
    expect(all.length).toBeLessThanOrEqual(fieldsMax);
    expect(all.filter(({ field }) => field.startsWith("input.")).map(({ mark }) => mark)).toEqual(
      Array.from({ length: fieldsMax - 3 }, () => "same"),
    );
  }
  const short = comparisonOf(
    JSON.stringify({ ...asked, stop: "x" }),
    JSON.stringify({ model: "a" }),
  );
  expect(short!.map(({ mark }) => mark)).toContain("dropped");
});

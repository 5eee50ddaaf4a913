/** Numbers beyond double precision in what a hook returns: they keep their digits where the hook left them. docs/hooks.md. */
import { expect, it } from "vitest";
import { exactTwinOf, parseExactly, recordExactTwins } from "../../src/base/exact-numbers.ts";
import { withDigits } from "../../src/hooks/digits.ts";

const [one, two] = ["9007199254740993", "9007199254740995"];

/** The text of what a hook made of `sent`, given as JSON text with doubles. */
function returned(sent: string, change: (value: never) => unknown): string {
  const value: unknown = JSON.parse(sent);
  recordExactTwins(value, parseExactly(sent));
  const given = change(structuredClone(value) as never);
  return JSON.stringify(withDigits(given, { value, exact: exactTwinOf(value) }));
}

it("a long number keeps its digits in its own member, and in no new one", () => {
  const sent = `{"a":${one},"b":{"c":${two}}}`;
  expect(returned(sent, (value) => value)).toBe(sent);
  const added = returned(sent, ({ a }: { a: number }) => ({ a, toString: a }));
  expect(added).toBe(`{"a":${one},"toString":9007199254740992}`);
  expect(returned(sent, () => ({ a: 1 }))).toBe('{"a":1}');
});

it("long numbers of a list keep their digits if items were inserted, removed or added at the end", () => {
  const sent = `[${one},"x",${two}]`;
  const listed = (change: (items: unknown[]) => unknown) => returned(sent, change);
  expect(listed((items) => items)).toBe(sent);
  expect(listed(([first, ...rest]) => [first, "new", ...rest])).toBe(`[${one},"new","x",${two}]`);
  expect(listed(([first, , last]) => [first, last])).toBe(`[${one},${two}]`);
  expect(listed(([, ...rest]) => rest)).toBe(`["x",${two}]`);
  expect(listed((items) => [...items, "new"])).toBe(`[${one},"x",${two},"new"]`);
  expect(listed(([first, , last]) => [first, "y", last])).toBe(`[${one},"y",${two}]`);
});

it("a value without long numbers is returned as the hook gave it", () => {
  const given = { a: [1] };
  expect(withDigits(given, { value: { a: [1] }, exact: { a: [1] } })).toBe(given);
  expect(withDigits(given, { value: 5, exact: 5 })).toBe(given);
});

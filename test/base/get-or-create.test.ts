/** Values that are made at their first use and then kept. */
import { expect, it } from "vitest";
import { getOrCreate, memoizeByObject } from "../../src/base/memoize.ts";

it("getOrCreate creates the value of a missing key and stores it in the map", () => {
  const known = new Map([["a", 1]]);
  expect(getOrCreate(known, "a", () => 2)).toBe(1);
  expect(getOrCreate(known, "bcd", ({ length }) => length)).toBe(3);
  expect([...known]).toEqual([
    ["a", 1],
    ["bcd", 3],
  ]);
});

it("memoizeByObject computes once for each object", () => {
  const of = memoizeByObject((object: { readonly name: string }) => [object.name]);
  const one = { name: "one" };
  expect(of(one)).toEqual(["one"]);
  expect(of(one)).toBe(of(one));
  expect(of({ name: "one" })).not.toBe(of(one));
});

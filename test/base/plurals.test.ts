import { expect, it } from "vitest";
import { counted } from "../../src/base/counted.ts";

it("a count of one has the singular noun, every other count the plural", () => {
  expect([0, 1, 2].map((count) => counted(count, "provider"))).toEqual([
    "0 providers",
    "1 provider",
    "2 providers",
  ]);
  expect([1, 2].map((count) => counted(count, "key works", "keys work"))).toEqual([
    "1 key works",
    "2 keys work",
  ]);
});

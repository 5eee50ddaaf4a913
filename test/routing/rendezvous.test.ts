/** The distribution of sessions over providers and keys. docs/routing.md. */
import { expect, it } from "vitest";
import { rendezvous } from "../../src/routing/rendezvous.ts";

const values = Array.from({ length: 3_000 }, (_one, index) => `session ${index}`);
const asNamed = ([name, weight]: readonly [string, number]) => ({ name, weight });
const placesOf = (weights: Readonly<Record<string, number>>) =>
  values.map((value) => rendezvous(value, Object.entries(weights), asNamed)?.[0]);
const shareOf = (places: readonly (string | undefined)[], name: string) =>
  places.filter((place) => place === name).length / places.length;

it("each candidate gets a share of the values by its weight", () => {
  const places = placesOf({ a: 7, b: 2, c: 1 });
  expect(shareOf(places, "a")).toBeCloseTo(0.7, 1);
  expect(shareOf(places, "b")).toBeCloseTo(0.2, 1);
  expect(shareOf(places, "c")).toBeCloseTo(0.1, 1);
});

it("the order of the candidates does not matter, and only the values of a removed candidate move", () => {
  const before = placesOf({ a: 7, b: 2, c: 1 });
  expect(placesOf({ c: 1, a: 7, b: 2 })).toEqual(before);
  const after = placesOf({ a: 7, b: 2 });
  const moved = new Set(before.filter((place, index) => place !== after[index]));
  expect([...moved]).toEqual(["c"]);
});

it("an empty list has no candidate to choose", () => {
  expect(rendezvous("session", [], asNamed)).toBeUndefined();
});

/** The shared parts of spans are made once for each combination of values. Those without recent use do not stay in memory. */
import { expect, it } from "vitest";
import { sharedParts } from "../../src/base/shared-parts.ts";

function counted() {
  const made: string[] = [];
  const part = sharedParts((model: string, status: number | null) => {
    made.push(`${model} ${status}`);
    return { name: `chat ${model}`, attributes: { model, status: status ?? undefined } };
  });
  return { made, part };
}

it("each combination of values has its own part, made once", () => {
  const { made, part } = counted();
  const values = ["a", "b"].flatMap((model) =>
    [200, null].map((status) => [model, status] as const),
  );
  const first = values.map((one) => part(...one));
  expect(first.map(({ name, attributes }) => ({ name, ...attributes }))).toEqual([
    { name: "chat a", model: "a", status: 200 },
    { name: "chat a", model: "a", status: undefined },
    { name: "chat b", model: "b", status: 200 },
    { name: "chat b", model: "b", status: undefined },
  ]);
  for (const [index, one] of values.entries()) expect(part(...one)).toBe(first[index]);
  expect(made).toHaveLength(4);
});

const newValues: readonly [string, (index: number) => readonly [string, number]][] = [
  ["first values", (index) => [`model ${index}`, 200]],
  ["second values", (index) => ["one", index]],
];

it.each(newValues)("only recently used parts stay cached, for ever new %s", (_, valuesOf) => {
  const { made, part } = counted();
  for (let index = 0; index < 5_000; index += 1) part(...valuesOf(index));
  expect(made).toHaveLength(5_000);
  // The last part is still cached, the first is not.
  part(...valuesOf(4_999));
  expect(made).toHaveLength(5_000);
  expect(part(...valuesOf(0)).attributes).toMatchObject({ model: valuesOf(0)[0] });
  expect(made).toHaveLength(5_001);
});

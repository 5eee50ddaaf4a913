/** The tool that changes our source to see if a test notices: which changes it makes, and how it compiles them in. */
import { stripTypeScriptTypes } from "node:module";
import { runInThisContext } from "node:vm";
import { expect, it } from "vitest";
import { mutantsOf } from "../../scripts/mutants/sites.ts";
import { weave } from "../../scripts/mutants/weave.ts";

const changesIn = (text: string) =>
  mutantsOf("a.ts", text).map(({ from, to }) => `${from} => ${to}`);

it("the tool changes operators, conditions and return values in functions, one at a time", () => {
  expect(
    changesIn("function f(a: number) { if (a < 1) return false; return `${a + 1}`; }"),
  ).toEqual([
    "a < 1 => true",
    "a < 1 => false",
    "a < 1 => (a) <= (1)",
    "a < 1 => (a) >= (1)",
    "false => true",
    "`${a + 1}` => undefined",
    "a + 1 => (a) - (1)",
  ]);
  expect(changesIn("const f = (a?: string) => a ?? !b;")).toEqual([
    "a ?? !b => undefined",
    "a ?? !b => (a) && (!b)",
    "!b => b",
  ]);
});

it("the tool changes no code that runs on import, no types and no joined texts", () => {
  expect(changesIn("const sizes = [1 + 1, a ?? b]; if (x > 1) y(); all(() => 1 + 1);")).toEqual([]);
  expect(changesIn('function f(a: 1 | -1): asserts a is 1 { void ("a" + a + "b"); }')).toEqual([]);
});

it("a mutant's id depends on its line of code, so that lines above may be added or removed", () => {
  const text = "function f(a) {\n  return a > 1;\n}\nfunction g(a) {\n  return a > 1;\n}";
  const ids = mutantsOf("a.ts", text).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(mutantsOf("a.ts", `\n\n${text}`).map(({ id }) => id)).toEqual(ids);
});

it("all mutants are compiled into one program, and a switch turns one of them on", () => {
  const text = "(function (a: number, b: number): boolean { return a < b && !(a + 2 * b > 9); })";
  const mutants = mutantsOf("a.ts", `f = ${text}`).map((mutant, number) => ({ ...mutant, number }));
  const woven = stripTypeScriptTypes(weave(`f = ${text}`, mutants));
  const run = (active: number, ...given: number[]): unknown => {
    Object.assign(globalThis, { $mutant: (number: number) => number === active });
    const compiled = runInThisContext(`{ let ${woven}; f; }`) as (...n: number[]) => unknown;
    return compiled(...given);
  };
  const before: unknown = Reflect.get(globalThis, "$mutant");
  try {
    const answers = (active: number) =>
      [
        [1, 2],
        [2, 1],
        [3, 3],
        [3, 9],
        [1, 4],
        [-3, 4],
      ]
        .map(([a, b]) => run(active, a!, b!))
        .join(" ");
    expect(answers(-1)).toBe("true false false false true true");
    for (const { number, to } of mutants) {
      const changed = answers(number);
      expect({ to, changed }).not.toEqual({ to, changed: answers(-1) });
    }
  } finally {
    Object.assign(globalThis, { $mutant: before });
  }
});

/** Random edits of JSON by a fuzzer, so small that most of a valid body stays valid. */
import * as fc from "fast-check";

type Json = unknown;
type Path = readonly (string | number)[];

/** The path of every part of a value, including the value itself. */
function places(value: Json, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [
    path,
    ...keys.flatMap((key) => places((value as Record<string, Json>)[key], [...path, key])),
  ];
}

const strange = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    "",
    0,
    -1,
    1e308,
    2 ** 53,
    0.5,
    [],
    {},
    [null],
    [[]],
    "\0",
    "\ud800",
    "__proto__",
    "constructor",
    "data:image/png;base64,",
    "data:,",
    "{",
    "x".repeat(100_000),
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const strangeKeys = fc.constantFrom(
  "__proto__",
  "constructor",
  "",
  "toString",
  "a.b",
  "\0",
  "type",
);

interface Edit {
  /** Selects one of the value's places, as a fraction, so that an edit fits any value. */
  readonly at: number;
  readonly kind: "replace" | "remove" | "repeat" | "rename" | "wrap";
  readonly value: Json;
  readonly key: string;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  kind: fc.constantFrom("replace", "remove", "repeat", "rename", "wrap"),
  value: strange,
  key: strangeKeys,
});

function change(value: Json, path: Path, edited: Edit): Json {
  const [step, ...rest] = path;
  if (step === undefined) {
    if (edited.kind === "wrap") return { [edited.key]: value };
    return edited.kind === "replace" ? edited.value : value;
  }
  if (Array.isArray(value)) {
    const list = [...(value as Json[])];
    const index = Number(step);
    if (rest.length > 0) list[index] = change(list[index], rest, edited);
    else if (edited.kind === "remove") list.splice(index, 1);
    else if (edited.kind === "repeat") list.push(...list);
    else list[index] = change(list[index], [], edited);
    return list;
  }
  const members = Object.entries(value as Record<string, Json>).flatMap(([key, member]) => {
    if (key !== step) return [[key, member] as const];
    if (rest.length > 0) return [[key, change(member, rest, edited)] as const];
    if (edited.kind === "remove") return [];
    if (edited.kind === "rename") return [[edited.key, member] as const];
    if (edited.kind === "repeat") return [[key, [member, member]] as const];
    return [[key, change(member, [], edited)] as const];
  });
  return Object.fromEntries(members);
}

/** One to four random edits of one of `seeds`. */
export const mutated = (seeds: readonly Json[]): fc.Arbitrary<Json> =>
  fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([seed, edits]) =>
      edits.reduce<Json>((value, one) => {
        const all = places(value);
        return change(value, all[Math.floor(one.at * all.length)]!, one);
      }, seed),
    );

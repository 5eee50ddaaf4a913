// Every field of every family: a valid value, an invalid one, its default, and an unknown field. The table is written from the
// requirements, not from the families' own data.
import { describe, expect, it } from "vitest";
import { families, type MediaForm } from "../../src/media/index.ts";
import { fieldsOf } from "../../src/media/read.ts";
import {
  errorOf,
  notesOf,
  read,
  refusalOf,
  requestOf,
  upload,
  type FamilyName,
  type Fields,
  type More,
} from "./support.ts";
import { tables, type Outcome, type Row } from "./tables.ts";

const calls = Object.entries(tables).map(([title, table]) => {
  const [family, form] = title.split(" ") as [FamilyName, MediaForm];
  return { title, family, form, table };
});

/** A call with one field under test. Form 1 and form 2 need an image. */
function callWith(form: MediaForm, row: Row, fields: Fields): [Fields, More] {
  const needsImage = form === "edits" || row.images === true;
  return [
    { prompt: "x", ...row.beside, ...fields },
    { form, images: needsImage ? [upload()] : [] },
  ];
}

const valueOf = (request: object, { key }: Row): unknown => (request as Fields)[key];

/** The real outcome of a value, in the format of `expectedOutcome`. */
function outcomeOf(family: FamilyName, call: [Fields, More], name: string, row: Row): unknown {
  try {
    const { request, notes } = read(family, ...call);
    if (notes.length === 0) return ["forwarded", valueOf(request, row)];
    return ["dropped", valueOf(request, row), notes.map(({ param, kind }) => `${param} ${kind}`)];
  } catch {
    const { code, param, message } = errorOf(family, ...call);
    return [code, param?.startsWith(name), message.startsWith(`${param}: `)];
  }
}

function expectedOutcome(value: unknown, fate: Outcome, name: string, row: Row): unknown {
  if (fate === "forwarded") return ["forwarded", value];
  if (fate === "dropped") return ["dropped", row.default, [`${name} dropped`]];
  return [fate, true, true];
}

describe.each(calls)("$title", ({ family, form, table }) => {
  it("has exactly the fields of its table", () => {
    const names = fieldsOf(families[family], form).map(({ name }) => name);
    expect(names.toSorted()).toEqual(Object.keys(table).toSorted());
  });

  const rows = Object.entries(table).map(([name, row]) => ({ name, row }));
  const badRows = rows.flatMap(({ name, row }) =>
    row.bad.map(([value, fate]) => ({ name, row, value, fate })),
  );

  it.each(rows)("$name: valid values reach the request without notes", ({ name, row }) => {
    const sent = row.valid.map((value) =>
      valueOf(requestOf(family, ...callWith(form, row, { [name]: value })), row),
    );
    expect(sent).toEqual(row.sent ?? row.valid);
  });

  it.each(badRows)("$name: $value is $fate", ({ name, row, value, fate }) => {
    const call = callWith(form, row, { [name]: value });
    expect(outcomeOf(family, call, name, row)).toEqual(expectedOutcome(value, fate, name, row));
  });

  it.each(rows.filter(({ name }) => name !== "prompt"))(
    "$name has its default if it is absent or null",
    ({ name, row }) => {
      for (const fields of [{}, { [name]: null }]) {
        const request = requestOf(family, ...callWith(form, row, fields));
        expect(valueOf(request, row)).toEqual(row.default);
      }
    },
  );
});

const plain: Row = { key: "", valid: [], bad: [] };
const strict = ({ title }: { title: string }) => title === "image-a edits";

describe("an unknown field", () => {
  it.each(calls.filter((call) => !strict(call)))(
    "is dropped with a note by $title",
    ({ family, form }) => {
      const call = callWith(form, plain, { foo: 1 });
      expect(notesOf(family, ...call)).toEqual(["foo: not supported by this model, dropped"]);
      expect(read(family, ...call).request).not.toHaveProperty("foo");
    },
  );

  it.each(calls.filter(strict))("is refused by $title", ({ family, form }) => {
    const call = callWith(form, plain, { foo: 1 });
    expect(refusalOf(family, ...call)).toBe("unknown_parameter foo");
  });
});

describe("a text of a multipart body", () => {
  it.each([
    ["n", "2", 2],
    ["watermark", "true", true],
    ["seed", "7", 7],
  ])("%s=%s is read as the value that it spells", (name, text, value) => {
    const request = requestOf("image-c", { prompt: "x", [name]: text }, { encoding: "multipart" });
    expect((request as unknown as Fields)[name]).toBe(value);
  });

  it.each([
    ["n", "2.0", "invalid_type"],
    ["n", "", "invalid_type"],
    ["n", " 2", "invalid_type"],
    ["n", "11", "integer_above_max_value"],
    ["n", "9".repeat(400), "invalid_type"],
    ["watermark", "yes", "invalid_type"],
    ["watermark", "True", "invalid_type"],
    ["size", ["1024x1024", "2048x2048"], "invalid_type"],
  ])("%s=%j is refused: %s", (name, text, code) => {
    const call = { prompt: "x", [name]: text };
    expect(refusalOf("image-c", call, { encoding: "multipart" })).toBe(`${code} ${name}`);
  });
});

describe("unexpected names of fields", () => {
  it("are unknown fields like any other if JavaScript itself uses them", () => {
    const fields = JSON.parse(
      '{"prompt":"x","__proto__":1,"constructor":2,"toString":3,"style":4}',
    ) as Fields;
    expect(read("task-image-1", fields).notes.map(({ param }) => param)).toEqual([
      "__proto__",
      "constructor",
      "toString",
    ]);
  });

  it("give at most 50 notes, and long names are cut", () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, 1]));
    const notes = notesOf("video-v1", { prompt: "x", ["y".repeat(5000)]: 1, ...many });
    expect(notes).toHaveLength(50);
    expect(notes[0]!.length).toBeLessThan(300);
    expect(notes.at(-1)).toContain("and 4951 more like it");
  });

  it("ERR-12: are dropped in material too, however many there are", () => {
    const many = Object.fromEntries(Array.from({ length: 150_000 }, (_, at) => [`m${at}`, 1]));
    const image = { url: "https://example.com/a.png", ...many };
    for (const fields of [{ image }, { media: [{ type: "first_frame", ...image }] }])
      expect(notesOf("video-seconds", fields).at(-1)).toContain("and 149950 more like it");
  });
});

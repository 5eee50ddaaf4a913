/** Our builders of JSON Schemas return the same schemas as TypeBox's, so that TypeBox's types are right for them. */
import { expect, it } from "vitest";
import { Type as TypeBox } from "typebox";
import { engine, Type as Ours } from "../../src/base/json-schema.ts";

/** Each builder, with and without rules, nested as our schemas are. */
function samples(Type: typeof Ours) {
  const rules = { description: "words", minimum: 1 };
  const shared = Type.String({ minLength: 1 });
  return {
    texts: [Type.String(), shared, Type.Literal("a", rules), Type.Enum(["a", "b"], rules)],
    numbers: [Type.Integer(rules), Type.Number(), Type.Literal(1), Type.Literal(false)],
    others: [Type.Boolean(rules), Type.Null(), Type.Unknown(rules)],
    lists: [Type.Array(shared), Type.Array(Type.Null(), { maxItems: 2 })],
    unions: [Type.Union([shared, Type.Null()], rules), Type.Optional(Type.Union([Type.Null()]))],
    records: [Type.Record(Type.String(), shared), Type.Record(Type.String(), shared, rules)],
    unsafe: [Type.Unsafe<string>({ type: "string", enum: ["a"] }), Type.Unsafe({ $ref: "#/a" })],
    objects: [
      Type.Object({}),
      Type.Object({ all: Type.Optional(shared) }, { additionalProperties: false }),
      Type.Object({ needed: shared, free: Type.Optional(shared), deep: Type.Object({ shared }) }),
      Type.Object({ unsafe: Type.Optional(Type.Unsafe({ type: "object" })) }, rules),
    ],
  };
}

it("our builders return the same schemas as TypeBox, with members in the same order", () => {
  const own = samples(Ours);
  const library = samples(TypeBox);
  expect(JSON.stringify(own)).toBe(JSON.stringify(library));
});

it("Optional makes a member optional without changing the schema that it wraps", () => {
  const text = Ours.String();
  const maybe = Ours.Optional(text);
  expect(Ours.Object({ text, maybe }).required).toEqual(["text"]);
  expect(JSON.stringify(maybe)).toBe(JSON.stringify(text));
});

it("TypeBox's engine checks values against our schemas", () => {
  const schema = Ours.Object(
    { name: Ours.String(), size: Ours.Optional(Ours.Integer({ minimum: 1 })) },
    { additionalProperties: false },
  );
  const check = engine().Compile(schema);
  expect(check.Check({ name: "a" })).toBe(true);
  expect(check.Check({ name: "a", size: 0 })).toBe(false);
  expect(check.Check({ size: 1 })).toBe(false);
  expect(check.Check({ name: "a", other: 1 })).toBe(false);
});

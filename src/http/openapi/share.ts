/**
 * Makes the OpenAPI document shorter without changing its meaning. Repeated responses and parameters become components. A schema that
 * repeats a named one becomes a reference to it. So a client generator makes one type of each repeated value. Works on plain JSON.
 */
import { STATUS_CODES } from "node:http";
import { isObject, type WireObject } from "../../base/json.ts";

export interface Shared {
  readonly paths: Record<string, Record<string, WireObject>>;
  readonly components: {
    readonly schemas: Record<string, WireObject>;
    readonly responses: Record<string, WireObject>;
    readonly parameters: Record<string, WireObject>;
  };
}

/** Properties of named schemas that other schemas repeat, by their new name: the schema and its property. */
const fragments: Readonly<Record<string, readonly [schema: string, property: string]>> = {
  SpendCaps: ["ApiKey", "spend_caps"],
  Spend: ["ApiKey", "spend"],
  Remaining: ["ApiKey", "remaining"],
  PeriodEnds: ["ApiKey", "resets_at"],
  Routing: ["ApiKey", "routing"],
  RateLimits: ["ApiKey", "rate_limits"],
  ChangeSpendCaps: ["CreateKeyRequest", "spend_caps"],
  ChangeRouting: ["CreateKeyRequest", "routing"],
  ChangeRateLimits: ["CreateKeyRequest", "rate_limits"],
  MessagesInput: ["MessagesRequest", "messages"],
  MessagesSystem: ["MessagesRequest", "system"],
  MessagesTools: ["MessagesRequest", "tools"],
};

/** Numbers JSON values so that equal values have equal numbers, in one pass over each. */
class Numbers {
  readonly #known = new Map<string, number>();
  readonly #ofObjects = new WeakMap<object, number>();

  of(value: unknown): number {
    if (typeof value !== "object" || value === null) return this.#number(JSON.stringify(value));
    const before = this.#ofObjects.get(value);
    if (before !== undefined) return before;
    const text = Array.isArray(value)
      ? `[${value.map((one) => this.of(one)).join()}]`
      : `{${Object.entries(value)
          .map(([name, one]) => `${JSON.stringify(name)}:${this.of(one)}`)
          .join()}}`;
    const number = this.#number(text);
    this.#ofObjects.set(value, number);
    return number;
  }

  #number(text: string): number {
    const number = this.#known.get(text) ?? this.#known.size;
    this.#known.set(text, number);
    return number;
  }
}

const reference = (kind: string, name: string): WireObject => ({
  $ref: `#/components/${kind}/${name}`,
});

/** Converts to PascalCase: "Too Many Requests" becomes "TooManyRequests", and "If-Match" becomes "IfMatch". */
const pascal = (text: string) =>
  text.replaceAll(/(?:^|[^A-Za-z\d]+)([A-Za-z\d])/g, (_all, letter: string) =>
    letter.toUpperCase(),
  );

/** A value, and its name if it becomes a component. */
interface Wish {
  readonly name: string;
  readonly value: WireObject;
}

/** Collects values that occur more than once as components: `place` returns the value itself, or a reference to its component. */
class Components {
  readonly found: Record<string, WireObject> = {};
  readonly #kind: string;
  readonly #numbers: Numbers;
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();

  constructor(kind: string, numbers: Numbers, all: readonly Wish[]) {
    this.#kind = kind;
    this.#numbers = numbers;
    for (const one of all) {
      const key = this.#keyOf(one);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    }
  }

  #keyOf = ({ value, name }: Wish) => `${name} ${this.#numbers.of(value)}`;

  /** If different values have the same name, the names get numbers from the second on. */
  place(wish: Wish): WireObject {
    const key = this.#keyOf(wish);
    if (this.#counts.get(key) === 1) return wish.value;
    const before = this.#names.get(key);
    if (before !== undefined) return reference(this.#kind, before);
    let { name } = wish;
    for (let next = 2; name in this.found; next += 1) name = `${wish.name}${next}`;
    this.#names.set(key, name);
    this.found[name] = wish.value;
    return reference(this.#kind, name);
  }
}

/** Names a response: its status in words, after the schema's name if it is not the usual error. */
function responseName(status: string, response: WireObject): string {
  const words = pascal(STATUS_CODES[status] ?? status);
  const text = JSON.stringify(response["content"] ?? {});
  const schema = /"\$ref":"#\/components\/schemas\/(\w+)"/.exec(text)?.[1] ?? "";
  return (schema === "Error" ? "" : schema.replace(/Error$/, "")) + words;
}

/** Returns a copy that refers to a named schema wherever a value equals it; the named schemas themselves stay. */
function withReferences(
  value: unknown,
  names: ReadonlyMap<number, string>,
  numbers: Numbers,
): unknown {
  const copy = (one: unknown): unknown => {
    const name = isObject(one) ? names.get(numbers.of(one)) : undefined;
    return name === undefined ? inside(one) : reference("schemas", name);
  };
  const inside = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(copy);
    if (!isObject(one)) return one;
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, copy(member)]));
  };
  return inside(value);
}

/** Returns the named schemas and fragments that are worth a reference. */
function namedSchemas(schemas: Record<string, WireObject>): Record<string, WireObject> {
  const parts = Object.entries(fragments).map(([name, [schema, property]]) => {
    const properties = schemas[schema]?.["properties"] as WireObject;
    return [name, properties[property] as WireObject] as const;
  });
  return { ...schemas, ...Object.fromEntries(parts) };
}

const responsesOf = (operation: WireObject): readonly (Wish & { status: string })[] =>
  Object.entries(operation["responses"] as Record<string, WireObject>).map(([status, value]) => ({
    status,
    name: responseName(status, value),
    value,
  }));

const parametersOf = (operation: WireObject): readonly Wish[] =>
  ((operation["parameters"] ?? []) as WireObject[]).map((value) => ({
    name: pascal(String(value["name"])),
    value,
  }));

/** Returns the document's paths and components, with each repeated value written once. */
export function share(paths: Shared["paths"], schemas: Record<string, WireObject>): Shared {
  const numbers = new Numbers();
  const named = namedSchemas(schemas);
  const names = new Map(
    Object.entries(named)
      .filter(([, schema]) => "properties" in schema || "items" in schema || "anyOf" in schema)
      .map(([name, schema]) => [numbers.of(schema), name]),
  );
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const responses = new Components("responses", numbers, operations.flatMap(responsesOf));
  const parameters = new Components("parameters", numbers, operations.flatMap(parametersOf));
  const operation = (one: WireObject): WireObject => ({
    ...one,
    ...("parameters" in one && {
      parameters: parametersOf(one).map((each) => parameters.place(each)),
    }),
    responses: Object.fromEntries(
      responsesOf(one).map((each) => [each.status, responses.place(each)]),
    ),
  });
  const shorter = Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item).map(([method, one]) => [method, operation(one)])),
    ]),
  );
  const referenced = <Value>(value: Value) => withReferences(value, names, numbers) as Value;
  return {
    paths: referenced(shorter),
    components: {
      schemas: Object.fromEntries(
        Object.entries(named).map(([name, schema]) => [name, referenced(schema)]),
      ),
      responses: referenced(responses.found),
      parameters: referenced(parameters.found),
    },
  };
}

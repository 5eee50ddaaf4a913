/**
 * A pair of values for each member that a type may have, at each place: one with the member and one without it. The difference
 * shows what the member changes, whatever its value is.
 */
import type { SdkTypes, Type } from "./sdk-types.ts";

export interface Case {
  /** The member's path without indexes, with the kinds of the objects around it. */
  readonly place: string;
  readonly value: unknown;
  readonly without: unknown;
  readonly with: unknown;
}

/** Values to use at places with these endings, where an arbitrary value would be meaningless. */
export type Samples = Readonly<Record<string, readonly unknown[]>>;

interface At {
  readonly place: string;
  /** Builds the whole value around a value at this place. */
  readonly whole: (value: unknown) => unknown;
  /** Type names on the path to here. A recursive type is not walked again. */
  readonly names: readonly string[];
}

const depthMax = 12;

/** The kind of an item or part, as written in a place: `output[]:message.content[]:refusal`. */
function kindIn(value: unknown): string {
  if (typeof value !== "object" || value === null || !("type" in value)) return "";
  return typeof value.type === "string" ? `:${value.type}` : "";
}

/** The place without kinds, as notes name it. */
export const withoutKinds = (place: string): string => place.replaceAll(/:\w+/g, "");

/** Generates the cases of one SDK's types. */
export class Matrix {
  readonly #types: SdkTypes;
  readonly #samples: Samples;
  readonly #always: readonly string[];

  /** `always`: members that every value has, although the types make them optional. */
  constructor(types: SdkTypes, samples: Samples, always: readonly string[] = []) {
    this.#types = types;
    this.#samples = samples;
    this.#always = always;
  }

  /** The cases of a named type. */
  casesOf(name: string): Case[] {
    return [
      ...this.#walk(
        { kind: "named", name, scope: "" },
        { place: "", whole: (value) => value, names: [] },
      ),
    ];
  }

  *#walk(type: Type, at: At): Generator<Case> {
    if (type.kind === "named") {
      const name = type.scope + type.name;
      if (at.names.includes(name)) return;
      yield* this.#walk(this.#types.resolve(type), { ...at, names: [...at.names, name] });
    } else if (type.kind === "union") for (const one of type.types) yield* this.#walk(one, at);
    else if (type.kind === "list") yield* this.#items(type.item, at);
    else if (type.kind === "object") yield* this.#members(type.members, at);
  }

  /** A case per kind of item, each added to the first one. */
  *#items(item: Type, at: At): Generator<Case> {
    const place = `${at.place}[]`;
    const [first, ...others] = this.#values(item, place, depthMax);
    for (const value of others)
      yield {
        place: place + kindIn(value),
        value,
        without: at.whole([first]),
        with: at.whole([first, value]),
      };
    yield* this.#walk(item, { ...at, place, whole: (value) => at.whole([value]) });
  }

  *#members(members: Extract<Type, { kind: "object" }>["members"], at: At): Generator<Case> {
    const least = this.#least(members, at.place, depthMax);
    const holder = at.place + kindIn(least);
    for (const [name, { type, isOptional }] of members) {
      const place = holder === "" ? name : `${holder}.${name}`;
      const { [name]: first, ...others } = least;
      const values = this.#values(type, place, depthMax);
      const besides = values.length > 1 ? values.slice(1) : this.#otherThan(values[0]);
      for (const value of isOptional ? values : besides)
        yield {
          place,
          value,
          without: at.whole(isOptional ? others : { ...others, [name]: first }),
          with: at.whole({ ...least, [name]: value }),
        };
      if (this.#sampled(place)) continue;
      yield* this.#walk(type, {
        ...at,
        place,
        whole: (value) => at.whole({ ...least, [name]: value }),
      });
    }
  }

  /** Another value for a member that every object has. */
  #otherThan(value: unknown): readonly unknown[] {
    if (value === "word") return ["other"];
    return value === 1 ? [2] : [];
  }

  #least(
    members: Extract<Type, { kind: "object" }>["members"],
    place: string,
    depth: number,
  ): Record<string, unknown> {
    const least: Record<string, unknown> = {};
    for (const [name, { type, isOptional }] of members) {
      const inner = place === "" ? name : `${place}.${name}`;
      if (isOptional && !this.#always.some((one) => withoutKinds(inner).endsWith(one))) continue;
      [least[name]] = this.#values(type, inner, depth - 1);
    }
    return least;
  }

  #sampled(named: string): readonly unknown[] | undefined {
    const place = withoutKinds(named);
    const ending = Object.keys(this.#samples).find(
      (one) => place === one || place.endsWith(`.${one}`),
    );
    return ending === undefined ? undefined : this.#samples[ending];
  }

  /** One value per form of a type; the first is the simplest. */
  #values(type: Type, place: string, depth: number): readonly unknown[] {
    const sampled = this.#sampled(place);
    if (sampled) return sampled;
    if (depth === 0) return [];
    switch (type.kind) {
      case "named":
        return this.#values(this.#types.resolve(type), place, depth - 1);
      case "union":
        return type.types.flatMap((one) => this.#values(one, place, depth));
      case "list":
        return this.#values(type.item, `${place}[]`, depth - 1)
          .slice(0, 1)
          .map((value) => [value]);
      case "object":
        return [this.#least(type.members, place, depth)];
      case "literal":
        return [type.value];
      case "boolean":
        return [true, false];
      default:
        return { text: ["word"], number: [1], null: [], any: [{ some: "word" }] }[type.kind];
    }
  }
}

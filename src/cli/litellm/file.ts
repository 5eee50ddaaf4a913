/**
 * A LiteLLM proxy's configuration file as text values. Every scalar stays the text in the file, so that a price never passes through a
 * float. A section records which of its fields were read; the others are reported as not supported.
 */
import type * as Yaml from "yaml";
import { reasonOf } from "../../base/errors.ts";
import { lazyRequire } from "../../base/lazy-require.ts";
import { withoutQuote } from "../../catalog/index.ts";
import { UsageError } from "../usage-error.ts";

const yaml = lazyRequire<typeof Yaml>("yaml");

/** A value of the file: text, a list or a map. */
export type Value = string | readonly Value[] | { readonly [name: string]: Value };

const fileBytesMax = 4 * 1024 * 1024;

/** Parses the file's top level. @throws UsageError for a text that is too large, no YAML, or no map */
export function parseLitellm(text: string, file: string): Section {
  if (Buffer.byteLength(text) > fileBytesMax)
    throw new UsageError(`${file} is larger than 4 MB; no configuration file is`);
  let value: unknown;
  try {
    // Texts only: "failsafe" knows no numbers. The library's warnings are off, because they quote the line, which may contain a secret.
    value = yaml().parse(text, { schema: "failsafe", merge: true, logLevel: "error" });
  } catch (error) {
    const [line] = reasonOf(error).split("\n");
    throw new UsageError(`${file} is not valid YAML: ${withoutQuote(line!)}`);
  }
  if (!isMap(value)) throw new UsageError(`${file} holds no settings: it should have a model_list`);
  return new Section("", value);
}

export const isMap = (value: unknown): value is { readonly [name: string]: Value } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is readonly Value[] => Array.isArray(value);

/** Parses a number as the file writes it, `80_000` too; undefined if it is not a number. */
export function numberOf(value: Value | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replaceAll("_", "");
  return /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/** A map in the file, which records which of its fields were read. */
export class Section {
  readonly #seen = new Set<string>();
  readonly #fields: ReadonlyMap<string, Value>;
  /** Its path, such as `model_list[2].litellm_params`. */
  readonly path: string;

  constructor(path: string, fields: { readonly [name: string]: Value }) {
    this.path = path;
    this.#fields = new Map(Object.entries(fields));
  }

  /** Returns the path of a field. */
  at(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** Returns a field's value; undefined if absent or empty. Marks the field as read. */
  value(name: string): Value | undefined {
    this.#seen.add(name);
    const value = this.#fields.get(name);
    return value === "" || value === "null" || value === "~" ? undefined : value;
  }

  /** The same for a text; undefined for a list or a map, which is not marked as read. */
  text(name: string): string | undefined {
    const value = this.#fields.get(name);
    if (isList(value) || isMap(value)) return undefined;
    return this.value(name) as string | undefined;
  }

  /** Returns a nested map; empty if there is none. Marks the field as read. */
  section(name: string): Section {
    const value = this.value(name);
    return new Section(this.at(name), isMap(value) ? value : {});
  }

  /** Returns the maps in a nested list. */
  sections(name: string): Section[] {
    const value = this.value(name);
    return (isList(value) ? value : []).flatMap((each, index) =>
      isMap(each) ? [new Section(`${this.at(name)}[${index}]`, each)] : [],
    );
  }

  names(): string[] {
    return [...this.#fields.keys()];
  }

  /** Returns the fields that were not read. */
  unread(): string[] {
    return this.names().filter((name) => !this.#seen.has(name));
  }

  /** Returns this section plus the fields that only `other` has; its own fields win. */
  over(other: Section): Section {
    return new Section(this.path, {
      ...Object.fromEntries(other.#fields),
      ...Object.fromEntries(this.#fields),
    });
  }
}

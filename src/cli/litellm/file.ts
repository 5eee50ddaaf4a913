/**
 * A LiteLLM proxy's configuration file as text values. Every scalar stays the text that was written, so that a price never
 * passes through a float. A section notes which of its fields were read: what nobody read is reported as not supported.
 */
import type * as Yaml from "yaml";
import { reasonOf } from "../../base/errors.ts";
import { later } from "../../base/later.ts";
import { withoutQuote } from "../../catalog/index.ts";
import { UsageError } from "../environment.ts";

const yaml = later<typeof Yaml>("yaml");

/** A value of the file: text, a list or a map. */
export type Value = string | readonly Value[] | { readonly [name: string]: Value };

const fileBytesMax = 4 * 1024 * 1024;

/** The file's top level. @throws UsageError for a text that is too large, no YAML, or no map */
export function parseLitellm(text: string, file: string): Section {
  if (Buffer.byteLength(text) > fileBytesMax)
    throw new UsageError(`${file} is larger than 4 MB; no configuration file is`);
  let value: unknown;
  try {
    // Texts only: "failsafe" knows no numbers. Warnings of the library quote the line, and a secret may stand in it.
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

/** A number as the file writes it, `80_000` too; undefined for what is none. */
export function numberOf(value: Value | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replaceAll("_", "");
  return /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/** A map of the file, and which of its fields were read. */
export class Section {
  readonly #seen = new Set<string>();
  readonly #fields: ReadonlyMap<string, Value>;
  /** Where it stands, such as `model_list[2].litellm_params`. */
  readonly path: string;

  constructor(path: string, fields: { readonly [name: string]: Value }) {
    this.path = path;
    this.#fields = new Map(Object.entries(fields));
  }

  /** Where a field of it stands. */
  at(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** A field's value; undefined where it is absent or empty. The field counts as read. */
  value(name: string): Value | undefined {
    this.#seen.add(name);
    const value = this.#fields.get(name);
    return value === "" || value === "null" || value === "~" ? undefined : value;
  }

  /** The same for a text; undefined where it is a list or a map, and then the field stays unread. */
  text(name: string): string | undefined {
    const value = this.#fields.get(name);
    if (isList(value) || isMap(value)) return undefined;
    return this.value(name) as string | undefined;
  }

  /** A map below this one; empty where there is none. The field counts as read. */
  section(name: string): Section {
    const value = this.value(name);
    return new Section(this.at(name), isMap(value) ? value : {});
  }

  /** The maps of a list below this one. */
  sections(name: string): Section[] {
    const value = this.value(name);
    return (isList(value) ? value : []).flatMap((each, index) =>
      isMap(each) ? [new Section(`${this.at(name)}[${index}]`, each)] : [],
    );
  }

  names(): string[] {
    return [...this.#fields.keys()];
  }

  /** The fields that nobody read. */
  unread(): string[] {
    return this.names().filter((name) => !this.#seen.has(name));
  }

  /** A section with what another one has besides; its own fields win. */
  over(other: Section): Section {
    return new Section(this.path, {
      ...Object.fromEntries(other.#fields),
      ...Object.fromEntries(this.#fields),
    });
  }
}

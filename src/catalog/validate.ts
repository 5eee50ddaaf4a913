/** Checks a parsed file against its schema; every breach becomes a finding that says what to write. */
import { pushAll } from "../base/push-all.ts";
import type * as System from "typebox/system";
import type { Errors } from "typebox/schema";
import { engine, type TSchema } from "../base/json-schema.ts";
import { isObject, type WireObject } from "../base/json.ts";
import { lazyRequire } from "../base/lazy-require.ts";
import { suggest } from "../base/suggest.ts";
import { shortText } from "../base/text.ts";
import type { Finding, Path } from "./mistakes.ts";
import { ownPriceSchema } from "./own-prices.ts";
import { valueAt } from "./rows.ts";
import {
  anyModelSchema,
  embeddingModelSchema,
  familySchemas,
  mediaModelSchemas,
  providerSchema,
  shellSchema,
  textModelSchema,
} from "./schema.ts";
import { secretKeyName, isSecretKey } from "./secrets.ts";

/** The part of JSON Schema that is searched for a fix. */
interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

type Breach = ReturnType<typeof Errors>[1][number];

const system = lazyRequire<typeof System>("typebox/system");

const errorsMax = 1000;

/** TypeBox stops at eight errors by default; operators need all of them at once. */
function breachesOf(schema: TSchema, value: unknown): Breach[] {
  const { Settings } = system();
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: errorsMax });
  try {
    return engine().Errors(schema, value)[1];
  } finally {
    Settings.Set({ maxErrors });
  }
}

const unescape = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");

function pathOf(pointer: string, root: unknown): Path {
  let value = root;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const key = unescape(part);
      const step = Array.isArray(value) ? Number(key) : key;
      value = isObject(value) || Array.isArray(value) ? (value as WireObject)[key] : undefined;
      return step;
    });
}

function schemaAt(root: SchemaNode, path: Path): SchemaNode | undefined {
  let node: SchemaNode | undefined = root;
  for (const step of path) {
    const object: SchemaNode | undefined =
      node?.anyOf?.find((variant) => variant.properties ?? variant.patternProperties) ?? node;
    node =
      typeof step === "number"
        ? object?.items
        : (object?.properties?.[step] ?? Object.values(object?.patternProperties ?? {})[0]);
  }
  return node;
}

/**
 * True if a value may be a secret, which mistakes must never quote: they are printed and logged. List entries take the name of their
 * list: people write keys as `credentials: [sk-...]` and as `auth: sk-...`.
 */
function isSecret(path: Path): boolean {
  const [name = "", group] = path.filter((step) => typeof step === "string").reverse();
  return isSecretKey(secretKeyName(group, name)) || /key|secret|credentials/.test(name);
}

/** The maximum length of a quote: the file may be an entirely different one. */
const quotedMax = 80;

/** Quotes a text in a mistake, shortened. */
export const quotedText = (value: string): string =>
  JSON.stringify(value.length > quotedMax ? `${shortText(value, quotedMax)}...` : value);

function nameOf(value: unknown, path: Path): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (isSecret(path)) return `a ${typeof value}`;
  if (typeof value === "string") return quotedText(value);
  return JSON.stringify(value) ?? "nothing";
}

const typeNames: Record<string, string> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
};

/** A value of the file, its path `base`, and its schema. */
interface Subject {
  readonly schema: TSchema;
  readonly root: unknown;
  readonly base: Path;
  /** The source text of a value. */
  readonly written: (path: Path) => string | undefined;
}

/** A breach with its path, its value, and the schema at that path. */
interface Place {
  readonly path: Path;
  readonly value: unknown;
  readonly node: SchemaNode | undefined;
}

function check(subject: Subject): Finding[] {
  return breachesOf(subject.schema, subject.root).flatMap((breach) => {
    // The union's own description says more than the errors of its variants.
    if (breach.schemaPath.includes("/anyOf/")) return [];
    const inside = pathOf(breach.instancePath, subject.root);
    const place = {
      path: [...subject.base, ...inside],
      value: valueAt(subject.root, inside),
      node: schemaAt(subject.schema, inside),
    };
    return explain(breach, place, subject);
  });
}

function explain(breach: Breach, place: Place, subject: Subject): Finding[] {
  const { path, value, node } = place;
  switch (breach.keyword) {
    case "required":
      return breach.params.requiredProperties.map((key) => ({
        path: [...path, key],
        message: "missing",
        fix: node?.properties?.[key]?.description,
      }));
    case "additionalProperties":
      return breach.params.additionalProperties.map((key) => ({
        path: [...path, key],
        atKey: true,
        ...unknownKey(key, Object.keys(node?.properties ?? {})),
      }));
    case "enum": {
      const allowed = breach.params.allowedValues.map(String);
      return [
        { path, message: `${nameOf(value, path)} is not known`, fix: suggestFor(value, allowed) },
      ];
    }
    case "type":
      return [wrongType(place, String(breach.params.type), subject)];
    case "anyOf":
      if (typeof value === "number" && node?.anyOf?.some(({ type }) => type === "string"))
        return [wrongType(place, "string", subject)];
      return [{ path, message: `${nameOf(value, path)} does not fit`, fix: node?.description }];
    case "boolean":
      // Repeats the error of additionalProperties.
      return [];
    default:
      return [{ path, message: wrongValue(breach, nameOf(value, path)), fix: node?.description }];
  }
}

const unknownKey = (key: string, known: readonly string[]) => ({
  message: "unknown key",
  fix: suggest(key, known),
});

function wrongType({ path, value, node }: Place, wanted: string, subject: Subject): Finding {
  const message = `must be ${typeNames[wanted] ?? wanted}, not ${nameOf(value, path)}`;
  if (wanted !== "string" || (typeof value !== "number" && typeof value !== "boolean")) {
    return { path, message, fix: node?.description };
  }
  if (isSecret(path)) return { path, message, fix: "put it in quotes" };
  return { path, message, fix: `put it in quotes: "${subject.written(path) ?? value}"` };
}

function suggestFor(value: unknown, allowed: readonly string[]): string {
  return typeof value === "string" ? suggest(value, allowed) : `allowed: ${allowed.join(", ")}`;
}

function wrongValue(breach: Breach, name: string): string {
  if (breach.keyword === "pattern") return `${name} does not fit`;
  if (breach.keyword === "minLength") return "must not be empty";
  if (breach.keyword === "minItems" || breach.keyword === "minProperties") {
    return "must have at least one entry";
  }
  if (breach.keyword === "uniqueItems") return "has an entry twice";
  return breach.message.replace(/^must be ([<>]=?) /, (_all, sign) => `must be ${signs[sign]} `);
}

const signs: Readonly<Record<string, string>> = {
  ">": "above",
  ">=": "at least",
  "<": "below",
  "<=": "at most",
};

/** The schema of a model; if its kind or family is unknown, a schema that reports that. */
function modelSchema(row: WireObject): TSchema {
  const { kind, family } = row;
  if (kind === "text") return textModelSchema;
  if (kind === "embedding") return embeddingModelSchema;
  if (kind !== "image" && kind !== "video") return anyModelSchema;
  const schema = typeof family === "string" ? schemaOfFamily(family, kind) : undefined;
  return schema ?? familySchemas[kind];
}

function schemaOfFamily(family: string, kind: string): TSchema | undefined {
  if (!Object.hasOwn(mediaModelSchemas, family)) return undefined;
  const schema = mediaModelSchemas[family as keyof typeof mediaModelSchemas];
  return schema.properties.kind.const === kind ? schema : undefined;
}

/** Finds every breach of the schema in a file. `written` returns the source text of a value. */
export function validateFile(
  file: unknown,
  written: (path: Path) => string | undefined,
): Finding[] {
  const findings = check({ schema: shellSchema, root: file, base: [], written });
  const lists = isObject(file) ? file : {};
  const checkRows = (key: string, schemaOf: (row: WireObject) => TSchema) => {
    const rows: unknown = lists[key];
    if (!Array.isArray(rows)) return;
    for (const [index, row] of rows.entries()) {
      if (!isObject(row)) continue;
      pushAll(findings, check({ schema: schemaOf(row), root: row, base: [key, index], written }));
    }
  };
  const { prices } = lists;
  for (const [id, price] of Object.entries(isObject(prices) ? prices : {})) {
    const base = ["prices", id];
    pushAll(findings, check({ schema: ownPriceSchema(id, price), root: price, base, written }));
  }
  checkRows("providers", () => providerSchema);
  checkRows("models", modelSchema);
  return findings;
}

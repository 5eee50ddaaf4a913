/** docs/configuration.md, from the JSON Schema the configuration file is checked against. */
import { existsSync } from "node:fs";

/** The part of JSON Schema that the configuration uses. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly pattern?: string;
}

const introduction = `# Configuration

<!-- Generated from the configuration's JSON Schema by \`npm run docs\`. -->

\`tollgate.yaml\`, or the file that \`TOLLGATE_CONFIG\` names. \`\${NAME}\` is replaced by the environment variable
of that name. The file is checked as a whole, and every mistake is reported at once with its line. Prices are
decimal strings in USD; \`tollgate config schema\` prints the JSON Schema for editors.

`;

const code = (value: unknown) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

/** One line that says what a value may be. */
function describeType(schema: Schema): string {
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(", ");
  if (schema.anyOf !== undefined)
    return [...new Set(schema.anyOf.map((option) => describeType(option)))].join(" or ");
  if (schema.type === "array")
    return `list of ${schema.items ? describeType(schema.items) : "anything"}`;
  const above = schema.exclusiveMinimum === undefined ? "" : ` above ${schema.exclusiveMinimum}`;
  const from = schema.minimum === undefined ? "" : ` from ${schema.minimum}`;
  const to = schema.maximum === undefined ? "" : ` to ${schema.maximum}`;
  return `${schema.type ?? "anything"}${above}${from}${to}`;
}

/** The objects that stand inside a schema, with the suffix their path gets. */
function inner(schema: Schema): [suffix: string, object: Schema][] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((option) => inner(option));
  if (schema.items !== undefined)
    return inner(schema.items).map(([suffix, object]) => [`[]${suffix}`, object]);
  if (schema.properties !== undefined) return [["", schema]];
  const [values] = [
    ...Object.values(schema.patternProperties ?? {}),
    ...(typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : []),
  ];
  return values === undefined
    ? []
    : inner(values).map(([suffix, object]) => [`.<name>${suffix}`, object]);
}

/** The table rows of one object and of everything inside it, in the schema's order. */
function rowsOf(object: Schema, path: string): string[] {
  const required = new Set(object.required);
  return Object.entries(object.properties ?? {}).flatMap(([name, schema]) => {
    const full = path === "" ? name : `${path}.${name}`;
    const preset = schema.default === undefined ? "" : code(schema.default);
    const presence = required.has(name) ? "required" : preset;
    const cells = [code(full), describeType(schema), presence, schema.description ?? ""];
    const row = `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    const seen = new Set<string>();
    const nested = inner(schema).flatMap(([suffix, child]) => rowsOf(child, `${full}${suffix}`));
    return [row, ...nested.filter((line) => !seen.has(line) && seen.add(line))];
  });
}

/** The page as Markdown; null while there is no catalog to read the schema from. */
export async function configurationPage(): Promise<string | null> {
  const door = new URL("../src/catalog/index.ts", import.meta.url);
  if (!existsSync(door)) return null;
  const { configSchema } = (await import(door.href)) as { configSchema?: () => Schema };
  if (configSchema === undefined) return null;
  const lines = rowsOf(configSchema(), "");
  return [
    `${introduction}| field | value | default | meaning |`,
    "|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}

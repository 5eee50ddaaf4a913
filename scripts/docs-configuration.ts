/** Generates docs/configuration.md from the JSON Schema that the configuration file is checked against. */
import { configSchema } from "../src/catalog/index.ts";

/** The part of JSON Schema that the configuration uses. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: string | number | boolean;
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

\`tollgate.yaml\`, or the file that \`TOLLGATE_CONFIG\` or \`--config\` names. \`\${NAME}\` stands for the environment
variable of that name, \`\${NAME:-text}\` also says what holds where there is none. The file is checked as a whole,
and every mistake is reported at once with its line: \`npx tollgate config check\`. A changed file is loaded while
the gateway runs; a wrong or an empty one is reported, and the old one stays in force. Changes of providers, models, \`prices\`,
\`default_model\` and \`server.tls\` take effect at once, all others at the next start.

\`npx tollgate config example\` prints a file to start from, with a word on each setting.
\`npx tollgate config schema\` prints the JSON Schema for editors, \`npx tollgate config print\` what is in force, as a
file to start from: defaults written out, \`\${NAME}\` where a value came from a variable. A secret that the file itself
holds is masked (\`****abcd\`); put it back before you start from what was printed. A masked key is refused.

Pages in a browser may call \`/v1\`, \`/v1beta\`, \`/api\` and \`/files\` from the origins under \`cors\`, never \`/admin\` and
\`/auth\`. A key in a page is known to whoever opens the page: give it caps and an expiry.

A provider may differ from its dialect. \`auth\` says where the key is written, \`headers\` and \`query\` what every request
has besides, and \`paths\` where a protocol answers below \`base_url\`. \`request\` says which fields are left out, or set
over what the caller says. Headers and parameters whose names say so (\`x-api-key\`, \`apikey\`, \`access_token\`) are secrets: masked
wherever the configuration is printed, and in whatever the vendor says. Paths and fields are for text and embeddings;
the rest is for images and videos too. A provider of text or embeddings may be authorized by the identity of a
cloud instead of a key: \`auth: { type: azure }\` ([Azure](azure.md)),
\`google\` ([Vertex AI](vertex.md)) or \`aws\` ([Amazon Bedrock](bedrock.md)).

\`\`\`yaml
providers:
  - id: house-proxy
    dialect: openai-compatible
    base_url: https://models.example.com/v1
    api_key: \${HOUSE_KEY}
    auth: { type: header, name: X-House-Key }
    headers: { X-Team: search }
    query: { api-version: "2026-10-01" }
    paths: { chat: "/deployments/{model}/chat/completions" }
    request: { add: { store: false }, remove: [user] }
\`\`\`

\`proxy\` and \`tls\` say how a provider is reached: [proxies](operate.md#proxies) and [certificates](operate.md#certificates).

The provider of an embedding model speaks \`POST /embeddings\` in the OpenAI shape.
`;

const code = (value: unknown) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

/** One line that describes the allowed values. */
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

/** The objects inside a schema, each with the suffix of its path. */
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

/** Objects described before, with path and description, so that a table does not repeat the same object. */
type Told = Map<string, { readonly path: string; readonly description: string | undefined }>;

/** The meaning of a field. For a field with the same object as an earlier one, only the difference. */
function meaningOf(schema: Schema, path: string, told: Told): { text: string; isTold: boolean } {
  const { description, ...shape } = schema;
  if (inner(schema).length === 0) return { text: description ?? "", isTold: false };
  const key = JSON.stringify(shape);
  const same = told.get(key);
  if (same === undefined) {
    told.set(key, { path, description });
    return { text: description ?? "", isTold: false };
  }
  const isAlike = description === undefined || description === same.description;
  return { text: `${isAlike ? "" : `${description}; `}as ${code(same.path)}`, isTold: true };
}

/** The table rows of an object and of all objects inside it, in the schema's order. */
function rowsOf(object: Schema, path = "", told: Told = new Map()): string[] {
  const required = new Set(object.required);
  return Object.entries(object.properties ?? {}).flatMap(([name, schema]) => {
    const full = path === "" ? name : `${path}.${name}`;
    const { text, isTold } = meaningOf(schema, full, told);
    const cells = [code(full), describeType(schema), required.has(name) ? "yes" : "", text];
    const row = `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    const within = isTold ? [] : inner(schema);
    return [row, ...within.flatMap(([suffix, child]) => rowsOf(child, `${full}${suffix}`, told))];
  });
}

const table = (rows: readonly string[]) => [
  "| field | value | required | meaning |",
  "|---|---|---|---|",
  ...rows,
  "",
];

/** Fields that distinguish the entries of a list. */
const tags = ["kind", "family"];

/** The rows of one shape of a list's entries, without the tags. */
const rowsOfShape = (shape: Schema): string[] =>
  rowsOf({
    ...shape,
    properties: Object.fromEntries(
      Object.entries(shape.properties ?? {}).filter(([field]) => !tags.includes(field)),
    ),
  });

/**
 * A list whose entries have one of several shapes: first the rows that all shapes share, then the further rows of each. Shapes that
 * differ only in their tags are combined.
 */
function variants(name: string, shapes: readonly Schema[]): string[] {
  const all = shapes.map(rowsOfShape);
  const shared = all.reduce((rows, other) => rows.filter((row) => other.includes(row)));
  const sections = new Map<string, string[]>();
  for (const [index, shape] of shapes.entries()) {
    const told = tags.flatMap((tag) => {
      const value = shape.properties?.[tag]?.const;
      return value === undefined ? [] : [`${tag}: ${value}`];
    });
    const text = table(all[index]!.filter((row) => !shared.includes(row))).join("\n");
    sections.set(text, [...(sections.get(text) ?? []), code(told.join(", "))]);
  }
  return [
    `### all ${name}`,
    "",
    ...table(shared),
    ...[...sections].flatMap(([text, titles]) => [
      `### ${name} of ${titles.join(" or ")}`,
      "",
      `Besides the fields of [all ${name}](#all-${name}):`,
      "",
      text,
    ]),
  ];
}

function section([name, schema]: [string, Schema]): string[] {
  const heading = [`## ${name}`, "", ...(schema.description ? [`${schema.description}.`, ""] : [])];
  const shapes = schema.items?.anyOf;
  if (shapes !== undefined) return [...heading, ...variants(name, shapes)];
  return [...heading, ...table(inner(schema).flatMap(([, object]) => rowsOf(object)))];
}

/** The page as Markdown. */
export function configurationPage(): string {
  const { properties = {} } = configSchema() as Schema;
  return [introduction, ...Object.entries(properties).flatMap(section)].join("\n");
}

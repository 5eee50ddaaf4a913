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

The configuration is \`tollgate.yaml\`, or the file that \`TOLLGATE_CONFIG\` or \`--config\` names.

- \`\${NAME}\` is replaced by the environment variable of that name; \`\${NAME:-text}\` also sets a default.
- \`npx tollgate config check\` checks the whole file and reports every mistake with its line.
- The gateway loads a changed file while it runs. It reports a wrong or empty file, and keeps the old one in force.
- Changes of providers, models, \`prices\`, \`default_model\`, \`prompt_caching\` and \`server.tls\` take effect at once, all
  others at the next start.

| command | prints |
|---|---|
| \`npx tollgate config example\` | a file to start from, with an explanation of each setting |
| \`npx tollgate config schema\` | the JSON Schema, for editors |
| \`npx tollgate config print\` | the configuration in force, with defaults, and with \`\${NAME}\` for values from variables |

\`config print\` masks secrets that are in the file itself (\`****abcd\`). Put them back before you use the output as a
file, because a start refuses masked keys.

Web pages may call \`/v1\`, \`/v1beta\`, \`/api\` and \`/files\` from the origins under \`cors\`, never \`/admin\` and \`/auth\`.
Everyone who opens a page can read the key in it: give that key caps and an expiry.

A provider may differ from its dialect:

| field | sets | for |
|---|---|---|
| \`auth\` | where the key is sent | all calls |
| \`headers\`, \`query\` | additions to every request | all calls |
| \`paths\` | the path of each protocol below \`base_url\` | text and embeddings |
| \`request\` | fields that are removed, or set over the caller's | text and embeddings |

Headers and parameters with the name of a secret (\`x-api-key\`, \`apikey\`, \`access_token\`) are masked wherever the
configuration is printed, and in every text from the vendor.

A provider of text or embeddings may use a cloud identity instead of a key: \`auth: { type: azure }\`
([Azure](azure.md)), \`google\` ([Vertex AI](vertex.md)) or \`aws\` ([Amazon Bedrock](bedrock.md)).

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

\`proxy\` and \`tls\` set the connection to a provider: [proxies](network.md#proxies) and [certificates](network.md#certificates).

The provider of an embedding model must offer \`POST /embeddings\` in the OpenAI format. OpenAI's SDKs send
\`encoding_format: base64\` by themselves, which some vendors refuse, such as Jina. There set \`request: { remove: [encoding_format] }\`:
the gateway makes base64 of the vendor's numbers.
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
type DescribedObjects = Map<
  string,
  { readonly path: string; readonly description: string | undefined }
>;

/** The meaning of a field. For a field with the same object as an earlier one, only the difference. */
function meaningOf(
  schema: Schema,
  path: string,
  told: DescribedObjects,
): { text: string; isTold: boolean } {
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
function rowsOf(object: Schema, path = "", told: DescribedObjects = new Map()): string[] {
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
      `In addition to the fields of [all ${name}](#all-${name}):`,
      "",
      text,
    ]),
  ];
}

function section([name, schema]: [string, Schema]): string[] {
  const { description } = schema;
  const sentence = description && `${description[0]!.toUpperCase()}${description.slice(1)}.`;
  const heading = [`## ${name}`, "", ...(sentence ? [sentence, ""] : [])];
  const shapes = schema.items?.anyOf;
  if (shapes !== undefined) return [...heading, ...variants(name, shapes)];
  return [...heading, ...table(inner(schema).flatMap(([, object]) => rowsOf(object)))];
}

/** The page as Markdown. */
export function configurationPage(): string {
  const { properties = {} } = configSchema() as Schema;
  return [introduction, ...Object.entries(properties).flatMap(section)].join("\n");
}

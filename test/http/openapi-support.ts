// The OpenAPI document as the tests read it.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { openapiDocument } from "../../src/http/openapi/full-document.ts";

export interface Schema {
  readonly $ref?: string;
  readonly "x-frame"?: { readonly $ref: string };
}
type Content = Record<string, { schema: Schema; example?: unknown; examples?: Examples }>;
type Examples = Record<string, { value: Record<string, unknown> }>;
interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly description: string;
  readonly parameters?: { name: string; in: string; required: boolean; example?: string }[];
  readonly requestBody?: { required: boolean; content: Content };
  readonly responses: Record<string, { description: string; headers?: object; content: Content }>;
  readonly security?: object[];
}

export const openapi = openapiDocument();
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(openapi, "openapi.json");

const validators = new Map<string, ValidateFunction>();

/** Validation errors of a value for a schema of the document. Empty if the value fits. */
export function faults(schema: Schema, value: unknown): string[] {
  const text = JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/');
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as Schema);
  validators.set(text, validate);
  if (validate(value)) return [];
  return validate.errors!.map((error) => `${error.instancePath} ${error.message}`);
}

/** A value, or the target of its reference. */
const resolved = <Value>(value: Value): Value => {
  const reference = (value as { $ref?: string }).$ref;
  return reference === undefined ? value : (resolve(reference) as Value);
};

/** Every operation, with resolved parameters and responses. */
export const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, one]) => {
    const operation = one as unknown as Operation;
    const responses = Object.entries(operation.responses);
    return {
      method: method.toUpperCase(),
      path,
      operation: {
        ...operation,
        parameters: operation.parameters?.map(resolved),
        responses: Object.fromEntries(responses.map(([status, each]) => [status, resolved(each)])),
      },
    };
  }),
);
/** The operations for API keys. test/admin compares the others with the gateway. */
export const callerOperations = operations.filter(
  ({ path }) => !/^\/(admin|auth|invitations)\//.test(path),
);
export type Target = (typeof operations)[number];
export const byId = (id: string) =>
  operations.find(({ operation }) => operation.operationId === id)!;
export const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Every value of a key, anywhere in the document. */
export function valuesOf(node: unknown, key: string): unknown[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [
    ...(name === key ? [value as unknown] : []),
    ...valuesOf(value, key),
  ]);
}

/** The target of a reference in the document. */
export function resolve(reference: string): unknown {
  const [root, ...steps] = reference.split("/");
  if (root !== "#") return undefined;
  return steps.reduce<unknown>(
    (node, step) => (node as Record<string, unknown> | undefined)?.[step],
    openapi,
  );
}

/** An operation's address with the examples of its parameters filled in. */
export function address({ path, operation }: Target): string {
  const parameters = operation.parameters ?? [];
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(parameters.find((one) => one.name === name)!.example!),
  );
  const query = parameters.filter((one) => one.in === "query" && one.example !== undefined);
  if (query.length === 0) return filled;
  return `${filled}?${query.map((one) => `${one.name}=${one.example}`).join("&")}`;
}

/** A schema and all its anyOf, oneOf and allOf branches. */
function branches(schema: unknown): Record<string, unknown>[] {
  const node = resolved(schema as object) as Record<string, unknown>;
  const within = ["anyOf", "oneOf", "allOf"].flatMap((key) => (node[key] ?? []) as unknown[]);
  return [node, ...within.flatMap(branches)];
}

/** Undocumented fields: fields of a value that its schema does not name, if the schema names any. */
export function unnamed(schema: unknown, value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const parts = branches(schema);
  if (Array.isArray(value)) {
    const items = parts.flatMap((one) => one["items"] ?? []);
    return value.flatMap((one) => unnamed({ anyOf: items }, one, `${at}[]`));
  }
  const named = parts.map((one) => (one["properties"] ?? {}) as Record<string, unknown>);
  const isOpen =
    named.every((one) => Object.keys(one).length === 0) ||
    parts.some((one) => one["additionalProperties"] ?? one["patternProperties"]);
  return Object.entries(value).flatMap(([name, one]) => {
    const known = named.flatMap((each) => (Object.hasOwn(each, name) ? [each[name]] : []));
    if (known.length > 0) return unnamed({ anyOf: known }, one, `${at}.${name}`);
    return isOpen ? [] : [`${at}.${name}`];
  });
}

/** The building blocks of the OpenAPI document. Each part describes the paths of one concern. */
import { Type, type TSchema } from "../../base/json-schema.ts";
import { ref } from "../shapes/schema.ts";

/** A JSON value of the document. Schemas are TypeBox objects, which are plain JSON Schema once written out. */
export type Node = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Node[];
  readonly requestBody?: Node;
  readonly responses: Readonly<Record<string, Node>>;
  /** Absent: one of the credentials is needed. `[]`: none. A list with `{}`: a credential is optional. */
  readonly security?: readonly Node[];
}

type PathItem = Readonly<Partial<Record<"get" | "post" | "patch" | "delete", Operation>>>;

/** One concern's part of the document. Schema names are unique across parts. */
export interface Part {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly schemas: Readonly<Record<string, object>>;
}

/** A reference to a header of components.ts. */
export const headerRef = (name: string): Node => ({ $ref: `#/components/headers/${name}` });

/** A JSON body of one named schema. */
export const jsonContent = (name: string, extra: Node = {}): Node => ({
  "application/json": { schema: ref(name), ...extra },
});

/** The body of an operation: JSON of one named schema, with examples by name. */
export interface RequestBody {
  readonly schema: string;
  readonly examples: Readonly<Record<string, Node>>;
}

export const requestBody = ({ schema, examples }: RequestBody): Node => ({
  required: true,
  content: jsonContent(schema, { examples }),
});

/** The response headers with the call's id; SDKs of the messages protocol read a name of their own. */
export const requestIdHeaders = (style: string): Node => ({
  "x-request-id": headerRef("RequestId"),
  ...(style === "messages" && { "request-id": headerRef("RequestId") }),
});

/** A JSON Schema condition: a value that fits `when` must fit `rule` too. */
export function condition(when: unknown, rule: unknown): Node {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; nothing awaits a schema
  return { if: when, then: rule };
}

/** An object whose further fields depend on its `type`. */
export const byType = (examples: string[], rules: Readonly<Record<string, TSchema>>): TSchema =>
  Type.Unsafe({
    type: "object",
    required: ["type"],
    properties: { type: Type.String({ examples }) },
    allOf: Object.entries(rules).map(([type, rule]) =>
      condition({ properties: { type: { const: type } } }, rule),
    ),
  });

// Shared responses, parameters and schemas of the OpenAPI document.
import { describe, expect, it } from "vitest";
import { share } from "../../src/http/openapi/share.ts";
import { openapi, resolve, valuesOf } from "./openapi-support.ts";

/** A value with every reference replaced by its target. */
function expanded(value: unknown, root: object): unknown {
  if (Array.isArray(value)) return value.map((one) => expanded(one, root));
  if (typeof value !== "object" || value === null) return value;
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, expanded(one, root)]),
    );
  const steps = $ref.slice(2).split("/");
  const target = steps.reduce<unknown>(
    (node, step) => (node as Record<string, unknown>)[step],
    root,
  );
  return expanded(target, root);
}

/** The schemas that the fragments are taken from. */
const property = (names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(
    names.map((name) => [name, { type: "object", properties: { [name]: { type: "string" } } }]),
  ),
});
const schemas = {
  ApiKey: property(["spend_caps", "spend", "remaining", "resets_at", "routing", "rate_limits"]),
  CreateKeyRequest: property(["spend_caps", "routing", "rate_limits"]),
  MessagesRequest: property(["messages", "system", "tools"]),
  One: { type: "object", properties: { id: { type: "string" } } },
  List: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } },
};

const failed = (schema: string) => ({
  description: "It failed.",
  content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
});
const limit = { name: "limit", in: "query", schema: { type: "integer" } };
const paths = {
  "/a": {
    get: { parameters: [limit], responses: { 400: failed("Error"), 401: failed("Error") } },
    post: { responses: { 400: failed("Error"), 401: failed("One"), 404: failed("One") } },
  },
  "/b": {
    get: { parameters: [limit, { ...limit, name: "after" }], responses: { 401: failed("One") } },
  },
};

describe("the shared components of a document", () => {
  const shared = share(paths, schemas);

  it("do not change what the document says", () => {
    const both = { components: { ...shared.components, schemas: { ...schemas, Error: {} } } };
    expect(
      expanded(shared.paths, {
        components: { ...shared.components, schemas: both.components.schemas },
      }),
    ).toEqual(expanded(paths, both));
    const { List } = shared.components.schemas;
    expect(expanded(List, shared)).toEqual(schemas.List);
  });

  it("are parts that occur twice; all others stay in place", () => {
    expect(Object.keys(shared.components.responses)).toEqual(["BadRequest", "OneUnauthorized"]);
    expect(Object.keys(shared.components.parameters)).toEqual(["Limit"]);
    expect(shared.components.schemas["List"]).toEqual({
      type: "array",
      items: { $ref: "#/components/schemas/One" },
    });
    expect(shared.paths["/a"]!["post"]!["responses"]).toMatchObject({ 404: failed("One") });
  });

  it("get numbers if different responses would have the same name", () => {
    const other = { ...failed("Error"), description: "Otherwise." };
    const more = {
      "/c": { get: { responses: { 400: other } }, post: { responses: { 400: other } } },
    };
    const { responses } = share({ ...paths, ...more }, schemas).components;
    expect(Object.keys(responses)).toEqual(["BadRequest", "OneUnauthorized", "BadRequest2"]);
  });
});

describe("the OpenAPI document", () => {
  it("has no component that is used only once, and no two equal ones", () => {
    const used = valuesOf(openapi, "$ref") as string[];
    for (const kind of ["responses", "parameters"] as const) {
      const all = Object.entries(openapi.components[kind]);
      expect(all.length).toBeGreaterThan(5);
      const seldom = all
        .map(([name]) => `#/components/${kind}/${name}`)
        .filter((reference) => used.filter((one) => one === reference).length < 2);
      expect(seldom).toEqual([]);
      expect(new Set(all.map(([, one]) => JSON.stringify(one))).size).toBe(all.length);
    }
    expect(resolve("#/components/responses/Unauthorized")).toBeDefined();
  });

  it("has less than 30% of the lines that it would have without references", () => {
    const lines = (value: unknown) => JSON.stringify(value, null, 2).split("\n").length;
    expect(lines(openapi) / lines(expanded(openapi.paths, openapi))).toBeLessThan(0.3);
  });
});

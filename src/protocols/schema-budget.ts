/** How much one request may ask to be held to schemas: a vendor refuses the whole request for more. */
import { isObject } from "../base/json.ts";
import type { JsonObject } from "./canonical/request.ts";
import { schemasIn } from "./schema-walk.ts";

/** Numbers of all schemas of a request together. */
export interface SchemaCost {
  /** Tools that are held to their schema. */
  readonly tools: number;
  /** Properties that are not required. */
  readonly optional: number;
  /** Values of several types, or of a choice of schemas. */
  readonly unions: number;
}

/** Takes from a budget what it holds; once for each schema. */
export class SchemaBudget {
  #left: SchemaCost;

  constructor(most: SchemaCost) {
    this.#left = most;
  }

  /** Whether this schema may be asked for too; then it is counted. */
  take(schema: JsonObject, isTool: boolean): boolean {
    const cost = costOf(schema);
    const left = {
      tools: this.#left.tools - (isTool ? 1 : 0),
      optional: this.#left.optional - cost.optional,
      unions: this.#left.unions - cost.unions,
    };
    if (Math.min(left.tools, left.optional, left.unions) < 0) return false;
    this.#left = left;
    return true;
  }
}

function costOf(schema: JsonObject): Pick<SchemaCost, "optional" | "unions"> {
  const { properties, required, anyOf, type } = schema;
  const names = isObject(properties) ? Object.keys(properties) : [];
  const needed = new Set(Array.isArray(required) ? required : []);
  let optional = names.filter((name) => !needed.has(name)).length;
  let unions = anyOf !== undefined || Array.isArray(type) ? 1 : 0;
  for (const inner of schemasIn(schema)) {
    const cost = costOf(inner);
    optional += cost.optional;
    unions += cost.unions;
  }
  return { optional, unions };
}

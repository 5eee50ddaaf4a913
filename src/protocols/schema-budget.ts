/** Limits the enforced schemas of one request: a vendor refuses the whole request above its limits. */
import { isObject } from "../base/json.ts";
import type { JsonObject } from "./canonical/request.ts";
import { schemasIn } from "./schema-walk.ts";

/** Counts over all schemas of a request. */
export interface SchemaCost {
  /** Tools with an enforced schema. */
  readonly tools: number;
  /** Properties that are optional. */
  readonly optional: number;
  /** Values with several types or a choice of schemas. */
  readonly unions: number;
}

/** Spends the limits of a request, schema by schema. */
export class SchemaBudget {
  #left: SchemaCost;

  constructor(most: SchemaCost) {
    this.#left = most;
  }

  /** True if this schema still fits the budget; it is then counted. */
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

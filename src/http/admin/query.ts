/** Reads the query of a management request, and refuses parameters that would be lost. */
import { invalidValue } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import { queryOf, queryValuesOf } from "../path.ts";
import { checker } from "./check.ts";
import type { AdminRoute } from "./route.ts";

type Asking = Parameters<typeof queryOf>[0];

/** Returns the reader of a route's query. @throws GatewayError, from the returned reader */
export function queryReader(route: AdminRoute): (asking: Asking) => Record<string, string> {
  const check = route.query && checker(route.query);
  const fields = isObject(route.body) ? route.body["properties"] : undefined;
  return (asking) => {
    const query = queryOf(asking);
    check?.(query);
    for (const name of Object.keys(query)) {
      if (check && queryValuesOf(asking, name).length > 1)
        throw invalidValue(name, "is there more than once: only one value counts");
      // In the query, `dry_run` or `grace_seconds` would have no effect: the change would be made without it.
      if (isObject(fields) && Object.hasOwn(fields, name))
        throw invalidValue(name, "belongs in the body, not in the query");
    }
    return query;
  };
}

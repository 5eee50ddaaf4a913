/** The filters and the order of the request log over the management API. docs/management.md. */
import { invalidValue } from "../../base/errors.ts";
import { Type } from "../../base/json-schema.ts";
import { parseUsd } from "../../base/money.ts";
import { requestConditions } from "../../admin/index.ts";
import { filterText, periodOf, periodQuery, words } from "./schemas.ts";
import { tagFilters } from "./tag-filters.ts";

/** The final states of calls and tasks in the log. */
export const requestStatuses = [
  "succeeded",
  "failed",
  "client_closed",
  "expired",
  "canceled",
] as const;

/** Refuses an unknown status: an empty list would look as if nothing had failed. @throws GatewayError `invalid_value` */
function checkStatuses(text: string | undefined): void {
  const known: readonly string[] = requestStatuses;
  if (text === undefined || text.split(",").every((one) => known.includes(one))) return;
  throw invalidValue(
    "status",
    `must be one or more of these, separated by commas: ${requestStatuses.join(", ")}`,
  );
}

/** Filters that may match few rows. */
const rareFilters = {
  member_id: filterText,
  attempted_provider: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description: "A provider that was asked, whichever answered.",
    }),
  ),
  protocol: filterText,
  http_status: Type.Optional(
    Type.String({
      pattern: String.raw`^[1-5]\d\d$`,
      description: "The status of the answer, such as 429.",
    }),
  ),
  error_code: filterText,
  ...tagFilters,
  min_cost: Type.Optional(
    Type.String({
      pattern: String.raw`^\d{1,9}(\.\d{1,9})?$`,
      description: "In USD, such as 0.05.",
    }),
  ),
  min_duration_ms: Type.Optional(
    Type.String({
      pattern: String.raw`^\d{1,9}$`,
      description: "In whole milliseconds, such as 1500.",
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "Text in the error's code or message; case does not matter.",
    }),
  ),
  changed: Type.Optional(words("true", "false")),
};

type RareQuery = { readonly [Name in keyof typeof rareFilters]?: string | undefined };

/** Converts the text of each filter to a condition. */
const rareConditions: {
  readonly [Name in keyof RareQuery]-?: (text: string) => ReturnType<typeof requestConditions.q>;
} = {
  ...requestConditions,
  http_status: (text) => requestConditions.http_status(Number(text)),
  min_cost: (text) => requestConditions.min_cost(parseUsd(text)),
  min_duration_ms: (text) => requestConditions.min_duration_ms(Number(text)),
  changed: (text) => requestConditions.changed(text === "true"),
};

const rareOf = (query: RareQuery) =>
  (Object.keys(rareFilters) as (keyof RareQuery)[]).flatMap((name) => {
    const text = query[name];
    return text === undefined ? [] : [rareConditions[name](text)];
  });

/** The parameters of a query, without those of a page. */
export const requestFilters = {
  workspace_id: filterText,
  key_id: filterText,
  model: filterText,
  provider: filterText,
  status: Type.Optional(
    Type.String({
      maxLength: 100,
      description: `One of ${requestStatuses.join(", ")}, or several, separated by commas: \`failed,expired\`.`,
    }),
  ),
  ...periodQuery,
  ...rareFilters,
  sort: Type.Optional(
    Type.Unsafe<"cost">({
      type: "string",
      enum: ["cost"],
      description: "Most expensive first, within at most 31 days (`from`). Absent: newest first.",
    }),
  ),
};

type Query = RareQuery & {
  readonly [Name in "workspace_id" | "key_id" | "model" | "provider" | "status" | "from" | "to"]?:
    | string
    | undefined;
} & { readonly sort?: "cost" | undefined };

/** Returns the filter of a query. @throws GatewayError `invalid_value` (from, to, status) */
export function filterOf(query: Query) {
  const { workspace_id: workspaceId, key_id, model, provider, status, sort } = query;
  checkStatuses(status);
  return {
    workspaceId,
    ...periodOf(query),
    equal: { key_id, model, provider, status },
    rare: rareOf(query),
    sort,
  };
}

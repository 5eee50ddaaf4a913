/** The filters by callers' tags, for the request log and for tasks. docs/tags.md. */
import { Type } from "../../base/json-schema.ts";
import { requestConditions } from "../../admin/index.ts";

/** The query parameters. */
export const tagFilters = {
  tag: Type.Optional(
    Type.String({
      maxLength: 600,
      pattern: "^[^:]+:",
      description: "A tag and its value: `team:search`.",
    }),
  ),
  end_user: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
};

/** Returns the conditions of the query's tag filters, as rare conditions. */
export const tagConditions = ({
  tag,
  end_user: endUser,
}: {
  readonly tag?: string | undefined;
  readonly end_user?: string | undefined;
}) => [
  ...(tag === undefined ? [] : [requestConditions.tag(tag)]),
  ...(endUser === undefined ? [] : [requestConditions.end_user(endUser)]),
];

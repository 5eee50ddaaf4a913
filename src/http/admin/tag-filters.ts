/** The filters by what callers say, of the request log and of tasks. docs/tags.md. */
import { Type } from "../../base/json-schema.ts";
import { requestConditions } from "../../admin/index.ts";

/** The parameters of a query. */
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

/** A tag's name has no colon here; its value may have some. */
export function pairOf(tag: string): [name: string, value: string] {
  const colon = tag.indexOf(":");
  return [tag.slice(0, colon), tag.slice(colon + 1)];
}

/** What rows with tags must have, as rare conditions. */
export const tagConditions = ({
  tag,
  end_user: endUser,
}: {
  readonly tag?: string | undefined;
  readonly end_user?: string | undefined;
}) => [
  ...(tag === undefined ? [] : [requestConditions.tag(...pairOf(tag))]),
  ...(endUser === undefined ? [] : [requestConditions.end_user(endUser)]),
];

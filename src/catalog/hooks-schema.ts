/** The schema of `hooks` in the configuration file. docs/hooks.md. */
import { Type, type Static } from "../base/json-schema.ts";
import { callEndpoints } from "./families.ts";
import { closed, text } from "./schema-kit.ts";

export type HookEndpoint = (typeof callEndpoints)[number];

const ids = (what: string) =>
  Type.Array(text("an id"), { minItems: 1, uniqueItems: true, description: what });

const hookSchema = closed({
  name: Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    description: "letters, digits, dots, dashes and underscores; logs and metrics have it",
  }),
  at: Type.Enum(["before", "after"], {
    description: "before: may allow, refuse or change a call; after: hears of calls that are over",
  }),
  url: Type.Optional(
    Type.String({
      pattern: "^(https?://[^\\s#@]+|\\$\\{.*)$",
      description:
        "where it is asked by POST, https://guard.example.com/check, without user:password@; or `module`",
    }),
  ),
  secret: Type.Optional(
    Type.String({
      pattern: "^(whsec_[A-Za-z0-9+/]{32,}={0,2}|\\$\\{.*)$",
      description: "what requests to `url` are signed with, whsec_ and base64, best as ${VARIABLE}",
    }),
  ),
  module: Type.Optional(text("a file of JavaScript that exports `before` or `after`; or `url`")),
  endpoints: Type.Optional(
    Type.Array(Type.Enum([...callEndpoints]), {
      minItems: 1,
      uniqueItems: true,
      description: "calls of which endpoints; all if absent",
    }),
  ),
  workspaces: Type.Optional(ids("calls of these workspaces, by id; all if absent")),
  keys: Type.Optional(ids("calls of these API keys, by id; all if absent")),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 60_000,
      description: "milliseconds it may take; 2000 before and 10000 after if absent",
    }),
  ),
  on_failure: Type.Optional(
    Type.Enum(["allow", "refuse"], {
      description:
        "what becomes of a call whose hook fails or is late; refuse if absent; only with `at: before`",
    }),
  ),
});

export const hooksSchema = Type.Array(hookSchema, {
  maxItems: 20,
  description: "the operator's own checks of calls, asked in this order; none if absent",
});

export type HookRow = Static<typeof hookSchema>;

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
    description: "name in logs and metrics: letters, digits, dots, dashes and underscores",
  }),
  at: Type.Enum(["before", "after"], {
    description: "before: may allow, refuse or change a call; after: is notified of ended calls",
  }),
  url: Type.Optional(
    Type.String({
      pattern: "^(https?://[^\\s#@]+|\\$\\{.*)$",
      description:
        "address that gets the POST requests, https://guard.example.com/check, without user:password@; this or `module`",
    }),
  ),
  secret: Type.Optional(
    Type.String({
      pattern: "^(whsec_[A-Za-z0-9+/]{32,}={0,2}|\\$\\{.*)$",
      description:
        "the secret that signs requests to `url`, whsec_ and base64, best as ${VARIABLE}",
    }),
  ),
  module: Type.Optional(text("JavaScript file that exports `before` or `after`; this or `url`")),
  endpoints: Type.Optional(
    Type.Array(Type.Enum([...callEndpoints]), {
      minItems: 1,
      uniqueItems: true,
      description: "only calls of these endpoints; all if absent",
    }),
  ),
  workspaces: Type.Optional(ids("only calls of these workspaces, by id; all if absent")),
  keys: Type.Optional(ids("only calls of these API keys, by id; all if absent")),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 60_000,
      description:
        "milliseconds that the hook may take; if absent 2000 before a call and 10000 after",
    }),
  ),
  on_failure: Type.Optional(
    Type.Enum(["allow", "refuse"], {
      description:
        "whether a call is allowed or refused if its hook fails or is late; refuse if absent; only with `at: before`",
    }),
  ),
});

export const hooksSchema = Type.Array(hookSchema, {
  maxItems: 20,
  description: "your own checks of calls, run in this order; none if absent",
});

export type HookRow = Static<typeof hookSchema>;

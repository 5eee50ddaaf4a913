/** Shared parts of the `/auth` operations in the OpenAPI document. */
import { Type } from "../../base/json-schema.ts";
import type { ErrorCode } from "../../base/errors.ts";
import type { Node, Operation } from "./document.ts";

export const done = (description: string, schema: object): Node => ({
  description,
  content: { "application/json": { schema } },
});

export const signedIn = (description: string): Node =>
  done(
    description,
    Type.Object({
      token: Type.String(),
      user: Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() }),
      password_change_required: Type.Boolean({
        description:
          "True: another person set the password. It cannot be used again, and the session may only change it.",
      }),
    }),
  );

/** Errors of everything that reads the database. */
export const failing: readonly ErrorCode[] = [
  "internal_error",
  "database_unavailable",
  "overloaded",
];

/** Errors of everything with a body. */
export const writing: readonly ErrorCode[] = [
  "invalid_json",
  "missing_required_parameter",
  "unknown_parameter",
  "invalid_type",
  "invalid_value",
  "string_above_max_length",
  "unsupported_media_type",
  "request_too_large",
  "cross_origin_request",
  ...failing,
];

export const operation = (
  one: Pick<Operation, "operationId" | "summary" | "description" | "responses"> &
    Partial<Operation>,
): Operation => ({ tags: ["Sessions"], security: [], ...one });

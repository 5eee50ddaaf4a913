/** Shared by all parts: credentials, response headers, and the fields that the gateway adds to answers. */
import { Type } from "../../base/json-schema.ts";
import type { Node } from "./document.ts";

/** Credentials of the management API; API keys are refused there. */
const adminSchemes: Readonly<Record<string, Node>> = {
  adminToken: {
    type: "http",
    scheme: "bearer",
    description:
      "The management API: `Authorization: Bearer <token>`, the admin token (`TOLLGATE_ADMIN_TOKEN`) or a personal one. API keys do not work here.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "tollgate.session_token",
    description: "A console session; `POST /auth/sign-in/email` sets the cookie.",
  },
};

/** Any one of these is enough; each vendor's SDK has its own. Requirements: AUTH. */
const callerSchemes: Readonly<Record<string, Node>> = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "`Authorization: Bearer <API key>`. An API key begins with `gw_live_`.",
  },
  xApiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same API key, as the messages protocol's SDKs send it.",
  },
  xGoogApiKey: {
    type: "apiKey",
    in: "header",
    name: "x-goog-api-key",
    description: "The same API key, as the generateContent protocol's SDKs send it.",
  },
};

export const securitySchemes: Readonly<Record<string, Node>> = {
  ...callerSchemes,
  ...adminSchemes,
};

export const anyCredential: readonly Node[] = Object.keys(callerSchemes).map((name) => ({
  [name]: [],
}));

export const headers: Readonly<Record<string, Node>> = {
  RequestId: {
    description: "The request's id, also in the request log. Quote it when you report a problem.",
    schema: Type.String(),
    example: "req_01kacw5v2pf6q8p5b0d6m1x7yt",
  },
  DroppedParams: {
    description:
      "On streams only: the names of the parameters that were dropped or rewritten, joined by `, `, as the caller wrote them. Absent when there are none. ASCII, at most 4 KB. Whole answers have the same list in `gw.droppedParams`.",
    schema: Type.String(),
    example: "service_tier",
  },
  RetryAfter: {
    description: "Seconds to wait before you repeat the call.",
    schema: Type.Integer({ minimum: 1 }),
    example: 5,
  },
  ShouldRetry: {
    description:
      "`false` if the client must not repeat the request automatically. Absent otherwise.",
    schema: Type.String({ enum: ["false"] }),
  },
  Authenticate: {
    description: "The scheme of the credential that is missing or wrong.",
    schema: Type.String({ enum: ["Bearer"] }),
  },
};

export const sharedSchemas = {
  Gw: Type.Object(
    {
      droppedParams: Type.Array(Type.String(), {
        description:
          "Names of the dropped or rewritten parameters, as the caller wrote them (dotted paths), unique, in the order of the request.",
        examples: [["service_tier"]],
      }),
    },
    {
      description:
        "Changes of the gateway in the request. Absent if there are none. A stream has them in the header `x-gw-dropped-params`.",
    },
  ),
};

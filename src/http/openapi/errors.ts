/**
 * Error answers, in the shape of each protocol, from the one catalogue in base/errors.ts. Requirements: ERR. The codecs of real answers
 * write the examples, so the two cannot differ.
 */
import { Type } from "../../base/json-schema.ts";
import { errorCatalogue, GatewayError, type ErrorCode } from "../../base/errors.ts";
import { encodeError } from "../errors/reply-error.ts";
import { oneOf, orNull } from "../shapes/schema.ts";
import { headerRef, jsonContent, type Node } from "./document.ts";

/** The shape of an error: the OpenAI style serves all but two protocols and two vendors' paths. */
export type ErrorStyle = "chat" | "messages" | "generate_content" | "dashscope" | "ark";

const schemaNames: Readonly<Record<ErrorStyle, string>> = {
  chat: "Error",
  messages: "MessagesError",
  generate_content: "GenerateContentError",
  dashscope: "DashscopeError",
  ark: "ArkError",
};

/** The errors of the alias paths, with their vendors' codes. */
const aliasErrorSchemas = {
  DashscopeError: Type.Object({
    code: Type.String({ examples: ["InvalidParameter", "TaskNotFound"] }),
    message: Type.String(),
    request_id: Type.String(),
  }),
  ArkError: Type.Object({
    error: Type.Object({
      code: Type.String({ examples: ["InvalidParameter", "ResourceNotFound"] }),
      message: Type.String({ description: "It ends with the request's id." }),
      param: Type.String({ description: "The offending field, or empty." }),
      type: Type.String({ examples: ["BadRequest", "NotFound"] }),
    }),
  }),
};

export const errorSchemas = {
  ...aliasErrorSchemas,
  ErrorCode: {
    ...oneOf(...Object.keys(errorCatalogue)),
    title: "ErrorCode",
    description: `A stable code. It keeps its name and its meaning as long as its path prefix exists.\n\n${list(
      Object.keys(errorCatalogue) as ErrorCode[],
    )}`,
  },
  Error: Type.Object({
    error: Type.Object({
      message: Type.String({ description: "For people; it may change." }),
      type: Type.String({
        description: "The class of the error.",
        examples: [...new Set(Object.values(errorCatalogue).map((entry) => entry.type))],
      }),
      param: orNull(Type.String({ description: "The offending field as the caller spelled it." })),
      code: orNull(
        Type.String({
          description:
            "One of `ErrorCode`. If an upstream's refusal is passed on unchanged, the upstream's code.",
        }),
      ),
    }),
  }),
  MessagesError: Type.Object({
    type: Type.Literal("error"),
    error: Type.Object({
      type: Type.String({ examples: ["invalid_request_error", "billing_error", "api_error"] }),
      message: Type.String(),
      details: Type.Optional(
        orNull(
          Type.Object({
            error_code: Type.Optional(Type.String({ description: "One of `ErrorCode`." })),
            param: Type.Optional(Type.String()),
          }),
        ),
      ),
    }),
    request_id: Type.Optional(orNull(Type.String())),
  }),
  GenerateContentError: Type.Object({
    error: Type.Object({
      code: Type.Integer({ description: "The HTTP status." }),
      message: Type.String(),
      status: Type.String({ examples: ["INVALID_ARGUMENT", "UNAUTHENTICATED", "UNAVAILABLE"] }),
      details: Type.Optional(
        Type.Array(Type.Object({}), {
          description:
            "`google.rpc.ErrorInfo`, whose `reason` is an `ErrorCode` in upper case, and `google.rpc.RetryInfo` if the call may be repeated.",
        }),
      ),
    }),
  }),
};

const exampleRequestId = "req_01kacw5v2pf6q8p5b0d6m1x7yt";

/** The error answers of an operation that may fail with `codes`, by HTTP status. */
export function errorResponses(
  style: ErrorStyle,
  codes: readonly ErrorCode[],
): Record<string, Node> {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, group]) => [status, errorResponse(style, status, group)]),
  );
}

function errorResponse(style: ErrorStyle, status: number, codes: readonly ErrorCode[]): Node {
  const [first] = codes;
  const error = new GatewayError(first!, errorCatalogue[first!].meaning, {
    retryAfterSeconds: retried.has(status) ? 5 : undefined,
  });
  return {
    description: list(codes),
    headers: {
      "x-request-id": headerRef("RequestId"),
      ...(status === 401 && { "www-authenticate": headerRef("Authenticate") }),
      ...(notAgain.has(status) && { "x-should-retry": headerRef("ShouldRetry") }),
      ...(retried.has(status) && { "retry-after": headerRef("RetryAfter") }),
    },
    content: jsonContent(schemaNames[style], {
      example: encodeError(style, error, exampleRequestId),
    }),
  };
}

const retried = new Set([429, 503]);
const notAgain = new Set([401, 402]);

function list(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${errorCatalogue[code].meaning}`).join("\n");
}

const callerCodes = [
  "missing_api_key",
  "invalid_api_key",
  "api_key_disabled",
  "api_key_revoked",
  "api_key_expired",
  "workspace_disabled",
] satisfies ErrorCode[];
const faultCodes = ["internal_error", "database_unavailable", "overloaded"] satisfies ErrorCode[];

/** The error codes of operations that only read. */
export const readingCodes: readonly ErrorCode[] = [...callerCodes, ...faultCodes];

/** The error codes of a text call. */
export const textCodes: readonly ErrorCode[] = [
  "invalid_json",
  "malformed_request",
  "missing_required_parameter",
  "invalid_type",
  "invalid_value",
  "integer_above_max_value",
  "integer_below_min_value",
  "invalid_model_suffix",
  "provider_not_found",
  "routing_locked",
  "unsupported_protocol",
  "upstream_rejected",
  ...callerCodes,
  "insufficient_balance",
  ...(Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => code.endsWith("_cap_reached")),
  "model_not_allowed",
  "model_not_found",
  "request_too_large",
  "request_timeout",
  "unsupported_media_type",
  "rate_limit_exceeded",
  ...faultCodes,
  "upstream_error",
  "no_provider_available",
  "upstream_timeout",
];

/** The error codes of a token count, which costs nothing and needs no provider. */
export const countingCodes: readonly ErrorCode[] = textCodes.filter(
  (code) =>
    errorCatalogue[code].type !== "insufficient_quota" &&
    !code.startsWith("upstream_") &&
    code !== "no_provider_available",
);

/** The error codes of creating a task: those of a text call, and those of image and video fields. */
export const creationCodes: readonly ErrorCode[] = [
  ...textCodes.filter((code) => !code.startsWith("upstream_")),
  "string_above_max_length",
  "unsupported_value",
  "unsupported_parameter",
  "prompt_or_media_required",
  "media_must_be_object",
  "invalid_webhook_url",
  "duration_above_max",
  "resolution_not_supported",
  "streaming_not_supported",
  "idempotency_in_progress",
  "idempotency_key_reuse",
  "queue_full",
];

/** The error codes of creating a task with pictures. */
export const uploadCodes: readonly ErrorCode[] = [
  "invalid_image_file",
  "image_too_large",
  "too_many_images",
  "image_url_not_supported",
];

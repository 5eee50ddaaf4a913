/**
 * The one closed catalogue of errors: every code with its HTTP status, type and retry semantics. Requirements: ERR; docs/decisions.md
 * "Error types and codes". `docs/errors.md` is generated from it.
 */

/** `error.type` on the wire, by HTTP status. It tells a client whether to send the same call again. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "insufficient_quota"
  | "permission_error"
  | "not_found_error"
  | "conflict_error"
  | "request_too_large"
  | "rate_limit_error"
  | "server_error"
  | "upstream_error"
  | "overloaded_error"
  | "timeout_error";

interface CodeEntry {
  readonly status: number;
  readonly type: ErrorType;
  /** One sentence for the documentation: when a caller sees it and what to do. */
  readonly meaning: string;
}

const request = (meaning: string): CodeEntry => ({
  status: 400,
  type: "invalid_request_error",
  meaning,
});
const unauthenticated = (meaning: string): CodeEntry => ({
  status: 401,
  type: "authentication_error",
  meaning,
});
const quota = (meaning: string): CodeEntry => ({
  status: 402,
  type: "insufficient_quota",
  meaning,
});
const forbidden = (meaning: string): CodeEntry => ({
  status: 403,
  type: "permission_error",
  meaning,
});
const missing = (meaning: string): CodeEntry => ({ status: 404, type: "not_found_error", meaning });
const conflict = (meaning: string): CodeEntry => ({ status: 409, type: "conflict_error", meaning });

const cap = (layer: string, window: string): CodeEntry =>
  quota(
    `The ${window} spend cap of the ${layer} is reached. The message names the amount, the time of the reset, and what a hard cap has left for a smaller call.`,
  );

/** Every error code the gateway answers with. Stable: a code is never renamed within a path prefix. */
export const errorCatalogue = {
  invalid_json: request(
    "The body is not valid JSON, not valid UTF-8, nested too deeply, or has too many values.",
  ),
  malformed_request: request("The request or its address is not well-formed HTTP."),
  missing_required_parameter: request("A required field is absent. `param` names it."),
  unknown_parameter: request("This endpoint refuses unknown fields, and `param` is one."),
  invalid_type: request("A field has the wrong JSON type. `param` names it."),
  invalid_value: request("A field has a value outside its domain. `param` names it."),
  integer_above_max_value: request("A number is above its maximum."),
  integer_below_min_value: request("A number is below its minimum."),
  string_above_max_length: request("A text is longer than its maximum."),
  unsupported_value: request("The value is valid elsewhere, but cannot be served here."),
  unsupported_parameter: request(
    "The field exists elsewhere, but not here. To leave it out would change the result.",
  ),
  prompt_or_media_required: request("A video needs a prompt or material (images to start from)."),
  media_must_be_object: request("Material must be an object `{url}`, not a string."),
  invalid_webhook_url: request("`webhook_url` must be a public HTTPS address."),
  duration_above_max: request("The video is longer than the model allows with this material."),
  resolution_not_supported: request("The model does not have this resolution."),
  invalid_image_file: request("An uploaded file is not a PNG, JPEG or WebP image, or is corrupt."),
  image_too_large: request(
    "An uploaded image exceeds a limit of bytes or pixels, or all images together do.",
  ),
  too_many_images: request("There are more images than the model or the endpoint takes."),
  image_url_not_supported: request(
    "This endpoint takes images only as files of a multipart body, not as addresses or text.",
  ),
  n_must_be_one_when_streaming: request("A stream has one image: `n` must be 1."),
  streaming_not_supported: request(
    "Streaming is not available: the endpoint is asynchronous, or no provider of the model streams.",
  ),
  unsupported_protocol: request(
    "The model does not offer this endpoint. `GET /v1/models` lists the endpoints it has.",
  ),
  unsupported_content: request("The model's upstream cannot take this kind of content."),
  thread_unsupported_request: request(
    "The gateway stores no conversations, so a message thread cannot be created or continued. Send the whole conversation in `messages`, without `thread`. Anthropic's SDK then does so by itself.",
  ),
  unsupported_media_type: {
    status: 415,
    type: "invalid_request_error",
    meaning: "This endpoint does not read this Content-Type.",
  },
  unsupported_content_encoding: {
    status: 415,
    type: "invalid_request_error",
    meaning:
      "This endpoint does not read this Content-Encoding. `Accept-Encoding` lists those that it reads.",
  },
  invalid_model_suffix: request(
    "The suffix after the model id is malformed, or combines a provider and a strategy.",
  ),
  routing_locked: request(
    "The key has its own routing, and requests must not override its strategy.",
  ),
  provider_not_found: request(
    "The provider in the suffix does not serve this model, or the key may not use it.",
  ),
  context_length_exceeded: request("The request does not fit the model's context length."),
  upstream_rejected: request(
    "The upstream refused the request; its message is passed on. Nothing was charged.",
  ),
  content_policy_violation: request(
    "The upstream's moderation refused the request or its result; its message is passed on. Nothing was charged.",
  ),
  missing_api_key: unauthenticated("No API key was sent."),
  invalid_api_key: unauthenticated(
    "The API key is malformed or unknown, or two different keys were sent.",
  ),
  api_key_disabled: unauthenticated("The API key is disabled. It can be enabled again."),
  api_key_revoked: unauthenticated("The API key was revoked permanently."),
  api_key_expired: unauthenticated(
    "The API key is past its expiry date, or was rotated and this is its earlier value.",
  ),
  missing_credential: unauthenticated(
    "The management API needs a bearer token (the admin token, or a personal one) or a console session.",
  ),
  invalid_credential: unauthenticated(
    "The token or session is unknown, expired or revoked, or the e-mail address or the password is wrong. API keys do not work in the management API.",
  ),
  insufficient_balance: quota(
    "The workspace's available balance cannot cover the reservation for this call.",
  ),
  workspace_total_spend_cap_reached: cap("workspace", "total"),
  workspace_monthly_spend_cap_reached: cap("workspace", "monthly"),
  workspace_weekly_spend_cap_reached: cap("workspace", "weekly"),
  workspace_daily_spend_cap_reached: cap("workspace", "daily"),
  member_total_spend_cap_reached: cap("member", "total"),
  member_monthly_spend_cap_reached: cap("member", "monthly"),
  member_weekly_spend_cap_reached: cap("member", "weekly"),
  member_daily_spend_cap_reached: cap("member", "daily"),
  key_total_spend_cap_reached: cap("key", "total"),
  key_monthly_spend_cap_reached: cap("key", "monthly"),
  key_weekly_spend_cap_reached: cap("key", "weekly"),
  key_daily_spend_cap_reached: cap("key", "daily"),
  workspace_disabled: forbidden("The workspace of the key is disabled."),
  model_not_allowed: forbidden(
    "The model is outside the allowlist or the routing scope of the key.",
  ),
  hook_refused: forbidden(
    "A hook of the gateway's operator refused the request. The message is the hook's. Nothing was charged.",
  ),
  insufficient_permissions: forbidden("The caller's role does not allow this."),
  password_change_required: forbidden(
    "The session was opened with a password that another person set. Call `POST /auth/change-password` first; other requests are refused until then.",
  ),
  cross_origin_request: forbidden(
    "A change with a session's cookie must come from the console's own origin.",
  ),
  model_not_found: missing(
    "No such model. `GET /v1/models` lists the models that the key can call.",
  ),
  not_found: missing("No such path or object."),
  task_not_found: missing("No such task, or it belongs to another workspace."),
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    meaning: "The path exists, but not with this HTTP method.",
  },
  websocket_not_offered: {
    status: 426,
    type: "invalid_request_error",
    meaning:
      "The path exists, but not as a WebSocket: send a POST. Streams are server-sent events.",
  },
  conflict: conflict("The object is in a state that does not allow this."),
  task_not_cancelable: conflict(
    "The task has ended, or its vendor did not confirm the cancellation.",
  ),
  idempotency_in_progress: conflict(
    "The first request with this `Idempotency-Key` is still being accepted. Retry after `Retry-After`.",
  ),
  idempotency_key_reuse: {
    status: 422,
    type: "invalid_request_error",
    meaning: "The `Idempotency-Key` was used with another request in the last 24 hours.",
  },
  precondition_failed: {
    status: 412,
    type: "conflict_error",
    meaning: "The object has changed since the version in `If-Match`.",
  },
  request_too_large: {
    status: 413,
    type: "request_too_large",
    meaning:
      "The body is above the limit of its path (`limits.text_body_mb`, `limits.body_mb`), or the headers are too large.",
  },
  range_not_satisfiable: {
    status: 416,
    type: "invalid_request_error",
    meaning: "The file does not have these bytes. `Content-Range` has its size.",
  },
  request_timeout: {
    status: 408,
    type: "timeout_error",
    meaning: "The request did not arrive completely in time. Nothing was charged.",
  },
  rate_limit_exceeded: {
    status: 429,
    type: "rate_limit_error",
    meaning:
      "All providers of the model are rate-limited, or the key has reached its own limit. Retry after `Retry-After`.",
  },
  too_many_attempts: {
    status: 429,
    type: "rate_limit_error",
    meaning:
      "Too many sign-ins from this network address or to this account failed. Retry after `Retry-After`.",
  },
  internal_error: {
    status: 500,
    type: "server_error",
    meaning: "An error in the gateway itself. Nothing was charged.",
  },
  upstream_error: {
    status: 502,
    type: "upstream_error",
    meaning:
      "All providers that were tried failed. Nothing was charged, except for a stream that was read too slowly; its message says so.",
  },
  no_provider_available: {
    status: 503,
    type: "overloaded_error",
    meaning: "No provider of the model is available now. Retry after `Retry-After`.",
  },
  queue_full: {
    status: 503,
    type: "overloaded_error",
    meaning:
      "Too many image and video calls are in flight (`limits.queue`). Nothing was stored or reserved. Retry after `Retry-After`.",
  },
  database_unavailable: {
    status: 503,
    type: "overloaded_error",
    meaning:
      "The gateway cannot reach its database, so it can neither check nor bill a call. Retry after `Retry-After`.",
  },
  storage_unavailable: {
    status: 503,
    type: "overloaded_error",
    meaning:
      "The gateway cannot write or read files now: its disk is full, or its storage is unavailable. Nothing was charged. Retry after `Retry-After`.",
  },
  hook_failed: {
    status: 503,
    type: "overloaded_error",
    meaning:
      "A hook that the gateway's operator requires gave no valid answer. Nothing was charged. Retry after `Retry-After`.",
  },
  overloaded: {
    status: 503,
    type: "overloaded_error",
    meaning:
      "The gateway itself is at a limit: concurrent new calls (`limits.round_calls`), connections, open files, or bodies in flight (`limits.bodies_under_way_mb`). No provider failed, and nothing was charged. Retry after `Retry-After`.",
  },
  shutting_down: {
    status: 503,
    type: "overloaded_error",
    meaning: "The gateway is stopping. Retry after `Retry-After`.",
  },
  upstream_timeout: {
    status: 504,
    type: "timeout_error",
    meaning: "The upstream did not answer in time. Nothing was charged.",
  },
} as const satisfies Record<string, CodeEntry>;

/** A stable error code; a key of {@link errorCatalogue}. */
export type ErrorCode = keyof typeof errorCatalogue;

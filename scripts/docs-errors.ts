/** Generates docs/errors.md from the catalogue in src/base/errors.ts. */
import { errorCatalogue, type ErrorType } from "../src/base/errors.ts";

/** Whether the same call may be sent again, by type. Official SDKs decide by status, and agree with this. */
const retry: Record<ErrorType, string> = {
  invalid_request_error: "no",
  authentication_error: "no",
  insufficient_quota: "no",
  permission_error: "no",
  not_found_error: "no",
  conflict_error: "only after `Retry-After`, if present",
  request_too_large: "no",
  rate_limit_error: "yes, after `Retry-After`",
  server_error: "yes",
  upstream_error: "yes",
  overloaded_error: "yes, after `Retry-After`",
  timeout_error: "yes",
};

const introduction = `# Errors

<!-- Generated from src/base/errors.ts by \`npm run docs\`. -->

Every error of the gateway itself has one of the codes below. A code is stable: it keeps its
name and meaning as long as its path prefix exists. Let your program branch on \`code\`, or on \`type\` for a whole class.
\`message\` is for people and may change.

## Where the code is

The body follows the protocol of the path that was called, so that each vendor's SDK raises its own error class:

| path | body | the code is |
|---|---|---|
| all but those below | \`{"error": {"message", "type", "param", "code"}}\` | \`error.code\` |
| \`/v1/messages\` and below | \`{"type": "error", "error": {"type", "message", "details": {"error_code", "param"}}, "request_id"}\` | \`error.details.error_code\` |
| below \`/v1beta\`; \`...:generateContent\`, \`...:streamGenerateContent\`, \`...:countTokens\` | \`{"error": {"code": <HTTP status>, "message", "status", "details": [{"reason", ...}]}}\` | \`reason\` in \`error.details\`, in upper case |
| \`/api/v1/tasks\` | \`{"code", "message", "request_id"}\` | one of DashScope's, such as \`TaskNotFound\` |
| \`/api/v3/contents/generations/tasks\` | \`{"error": {"code", "message", "param", "type"}}\` | one of Ark's, such as \`ResourceNotFound\` |

Except in the first row, \`type\` and \`status\` are the vendor's own words, not those of the list. If the gateway passes on a vendor's
refusal, the code is the vendor's, or missing.

\`param\` is the offending field as the caller spelled it, or null. Items of lists are counted from 0: \`messages[0].content\` in calls,
\`credentials.0.id\` in the management API. A call that is refused, or whose upstream
fails before it produces anything, is not charged. \`x-should-retry: false\` in a response says that the client must not repeat the request
automatically.

A stream that breaks after its first byte cannot change its status. It ends with an error event in
the caller's protocol, and never with a normal ending. If the provider reports an overload or a rate limit there, the event has
the code and type of that, for clients that try again after them. For generateContent the gateway repeats the error after that event, as a
line of its own, because Google's clients look for it there.

If a stream of responses was asked for, \`context_length_exceeded\` comes inside it, with status 200, although nothing was sent before.
OpenAI answers so, and Codex shortens the conversation only then.

## Codes

`;

/** The page as Markdown. */
export function errorsPage(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, entry]) =>
      `| \`${code}\` | ${entry.status} | \`${entry.type}\` | ${retry[entry.type]} | ${entry.meaning} |`,
  );
  return [
    `${introduction}| code | HTTP | type | retry? | meaning |`,
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** Generates docs/errors.md from the catalogue in src/base/errors.ts. */
import { errorCatalogue, type ErrorType } from "../src/base/errors.ts";

/** Whether the same call may be sent again, by type. Official SDKs decide by status, and agree with this. */
const retry: Record<ErrorType, string> = {
  invalid_request_error: "no",
  authentication_error: "no",
  insufficient_quota: "no",
  permission_error: "no",
  not_found_error: "no",
  conflict_error: "only after `Retry-After`, where sent",
  request_too_large: "no",
  rate_limit_error: "yes, after `Retry-After`",
  server_error: "yes",
  upstream_error: "yes",
  overloaded_error: "yes, after `Retry-After`",
  timeout_error: "yes",
};

const introduction = `# Errors

<!-- Generated from src/base/errors.ts by \`npm run docs\`. -->

Every error that the gateway itself answers with has one of the codes below. A code is stable: it keeps its
name and meaning as long as its path prefix exists. Branch on \`code\`, or on \`type\` where a whole class is
treated alike; \`message\` is for people and may change.

## Where it stands

The body follows the protocol of the path that was called, so that each vendor's SDK raises its own error class:

| path | body | the code is |
|---|---|---|
| all but those below | \`{"error": {"message", "type", "param", "code"}}\` | \`error.code\` |
| \`/v1/messages\` and below | \`{"type": "error", "error": {"type", "message", "details": {"error_code", "param"}}, "request_id"}\` | \`error.details.error_code\` |
| below \`/v1beta\`; \`...:generateContent\`, \`...:streamGenerateContent\`, \`...:countTokens\` | \`{"error": {"code": <HTTP status>, "message", "status", "details": [{"reason", ...}]}}\` | \`reason\` in \`error.details\`, in upper case |
| \`/api/v1/tasks\` | \`{"code", "message", "request_id"}\` | one of DashScope's, such as \`TaskNotFound\` |
| \`/api/v3/contents/generations/tasks\` | \`{"error": {"code", "message", "param", "type"}}\` | one of Ark's, such as \`ResourceNotFound\` |

Below the first row \`type\` and \`status\` are the vendor's own words, not those of the list. Where a vendor's refusal is passed on as it
came, its code is the vendor's, or missing.

\`param\` is the offending field as the caller spelled it, or null. Items of lists are counted from 0: \`messages[0].content\` in calls,
\`credentials.0.id\` in the management API. A call that is refused, or whose upstream
fails before it produced anything, is not charged. A response that must not be sent again by itself carries
\`x-should-retry: false\`.

A stream that breaks after its first byte cannot change its status any more: it ends with an error event in
the caller's protocol, and never with a normal ending. For generateContent the error stands behind that event once more, as a
line of its own: there Google's clients look for it.

## Codes

`;

/** The page as Markdown. */
export function errorsPage(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, entry]) =>
      `| \`${code}\` | ${entry.status} | \`${entry.type}\` | ${retry[entry.type]} | ${entry.meaning} |`,
  );
  return [
    `${introduction}| code | HTTP | type | send again? | meaning |`,
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

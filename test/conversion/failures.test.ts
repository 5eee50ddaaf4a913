/**
 * Errors of each vendor in its own format, as callers of each protocol get them: before an answer, during one, and when a stream
 * breaks off. All four protocols get the same status, code and retry delay, and no call is charged. ERR-01, T16.
 */
import { describe, expect, it } from "vitest";
import { logRow } from "../rows/world.ts";
import { isLong } from "../support/long.ts";
import { sse, type Answer } from "../support/recorder.ts";
import { byName, conversions, names, type Body, type Name } from "./world.ts";

const world = conversions();
const directions = names.flatMap((from) => names.map((to) => [from, to] as const));
const words = "The words of the vendor.";

/** The short form uses each protocol once as caller and once as vendor, in different pairs for each failure. */
const directionsOf = (place: number) =>
  isLong
    ? directions
    : names.map((from, index) => [from, names[(index + place) % names.length]!] as const);

/** An error as each vendor writes it. */
const errorOf: Readonly<Record<Name, (status: number, type: string) => Body>> = {
  chat: (_status, type) => ({ error: { message: words, type, param: null, code: type } }),
  responses: (_status, type) => ({ error: { message: words, type, param: null, code: type } }),
  messages: (_status, type) => ({
    type: "error",
    error: { type, message: words },
    request_id: "req_vendor",
  }),
  generate_content: (code, status) => ({
    error: {
      code,
      message: words,
      status,
      // Google sends the delay in the body, not in a header.
      details:
        code === 429
          ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "17s" }]
          : [],
    },
  }),
};

const types: Readonly<Record<Name, readonly string[]>> = {
  chat: ["invalid_request_error", "invalid_api_key", "rate_limit_exceeded", "server_error", "busy"],
  responses: [
    "invalid_request_error",
    "invalid_api_key",
    "rate_limit_exceeded",
    "server_error",
    "busy",
  ],
  messages: [
    "invalid_request_error",
    "authentication_error",
    "rate_limit_error",
    "api_error",
    "overloaded_error",
  ],
  generate_content: [
    "INVALID_ARGUMENT",
    "UNAUTHENTICATED",
    "RESOURCE_EXHAUSTED",
    "INTERNAL",
    "UNAVAILABLE",
  ],
};

interface Failure {
  readonly status: number;
  /** Index into the vendor's `types`. */
  readonly type: 0 | 1 | 2 | 3 | 4;
  readonly expectedStatus: number;
  /** The gateway's own code. A direct refusal keeps the vendor's code instead. */
  readonly code: string;
  readonly retryAfter: string | null;
  /** True if the caller's error contains the vendor's message. */
  readonly showsMessage: boolean;
}

const refused = {
  type: 0,
  code: "upstream_rejected",
  retryAfter: null,
  showsMessage: true,
} as const;
const failed = {
  expectedStatus: 502,
  code: "upstream_error",
  retryAfter: null,
  showsMessage: false,
} as const;
const failures: readonly Failure[] = [
  { status: 400, expectedStatus: 400, ...refused },
  { status: 413, expectedStatus: 413, ...refused },
  { status: 422, expectedStatus: 422, ...refused },
  { status: 401, type: 1, ...failed },
  { status: 403, type: 1, ...failed },
  { status: 500, type: 3, ...failed },
  {
    status: 429,
    type: 2,
    expectedStatus: 429,
    code: "rate_limit_exceeded",
    retryAfter: "17",
    showsMessage: false,
  },
  {
    status: 503,
    type: 4,
    expectedStatus: 503,
    code: "no_provider_available",
    retryAfter: "5",
    showsMessage: false,
  },
  {
    status: 529,
    type: 4,
    expectedStatus: 503,
    code: "no_provider_available",
    retryAfter: "5",
    showsMessage: false,
  },
];

/** The code in an error of each protocol. */
const codeIn: Readonly<Record<Name, (body: Body) => unknown>> = {
  chat: (body) => (body["error"] as Body)["code"],
  responses: (body) => (body["error"] as Body)["code"],
  messages: (body) => ((body["error"] as Body)["details"] as Body | undefined)?.["error_code"],
  generate_content: (body) => {
    const [detail] = (body["error"] as { details?: Body[] }).details ?? [];
    return String(detail?.["reason"]).toLowerCase();
  },
};

const failing =
  (to: Name, { status, type }: Failure): Answer =>
  (_request, response) => {
    const retryAfter = status === 429 && to !== "generate_content" ? { "retry-after": "17" } : {};
    const body = errorOf[to](status, types[to][type]!);
    response.writeHead(status, { "content-type": "application/json", ...retryAfter });
    response.end(JSON.stringify(body));
  };

describe.each(failures)("a vendor that answers $status", (failure) => {
  it.each(directionsOf(failures.indexOf(failure)))(
    "ERR-01: is reported to %s from %s with the right status, code and retry delay",
    async (from, to) => {
      const { status, headers, answer } = await world.send(from, to, {}, failing(to, failure));
      const id = headers.get("x-request-id");
      expect([status, headers.get("retry-after")]).toEqual([
        failure.expectedStatus,
        failure.retryAfter,
      ]);
      expect(id).toMatch(/^req_/);
      const text = JSON.stringify(answer);
      expect(text.includes(words)).toBe(failure.showsMessage);
      // A direct refusal is passed on with the vendor's own error.
      const isOwn = from === to && failure.showsMessage;
      expect(isOwn ? failure.code : codeIn[from](answer)).toBe(failure.code);
      const { text: streamed } = await world.stream(from, to, {}, failing(to, failure));
      expect(streamed).not.toContain("data:");
      expect(streamed.includes(words)).toBe(failure.showsMessage);
      const row = await logRow(world.gateway(), id!);
      expect(row).toMatchObject({ cost_nano: 0n, usage_source: null });
    },
  );
});

/** The frames of a vendor's answer without its end. */
function begun(to: Name): string {
  const { frames, endFrames } = byName[to];
  return frames.slice(0, -endFrames).join("");
}

const breaks: readonly (readonly [string, (to: Name) => string])[] = [
  ["contains an error in the middle", (to) => begun(to) + byName[to].errorFrame],
  ["breaks off", begun],
];

describe.each(breaks)("a stream that %s", (_how, framesOf) => {
  it.each(directions)("T16: ends with an error, uncharged, for %s from %s", async (from, to) => {
    const { events, id, text } = await world.stream(from, to, {}, sse(framesOf(to)));
    const caller = byName[from];
    expect(caller.textOfFrames(events)).toContain("Größe");
    expect([caller.endsNormally(events), caller.endsWithError(events)]).toEqual([false, true]);
    expect(text).not.toContain("req_vendor");
    const row = await logRow(world.gateway(), id!);
    // The vendor failed: the part that it has sent is not charged.
    expect(row).toMatchObject({ status: "failed", cost_nano: 0n });
  });
});

it.each(names)(
  "T16 T60: a failed response with an end marker behind it is no answer, uncharged, for %s",
  async (from) => {
    const response = {
      id: "resp_7",
      status: "failed",
      error: { code: "server_error", message: words },
    };
    const frame = { type: "response.failed", response };
    const stream = `${begun("responses")}data: ${JSON.stringify(frame)}\n\ndata: [DONE]\n\n`;
    const { events, id } = await world.stream(from, "responses", {}, sse(stream));
    expect(byName[from].endsNormally(events)).toBe(false);
    expect(await logRow(world.gateway(), id!)).toMatchObject({ status: "failed", cost_nano: 0n });
  },
);

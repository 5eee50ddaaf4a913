import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";

describe("the errors of generateContent", () => {
  it.each([
    ["invalid_type", 400, "INVALID_ARGUMENT"],
    ["invalid_api_key", 401, "UNAUTHENTICATED"],
    ["insufficient_balance", 402, "FAILED_PRECONDITION"],
    ["model_not_allowed", 403, "PERMISSION_DENIED"],
    ["model_not_found", 404, "NOT_FOUND"],
    ["rate_limit_exceeded", 429, "RESOURCE_EXHAUSTED"],
    ["internal_error", 500, "INTERNAL"],
    ["upstream_error", 502, "UNAVAILABLE"],
    ["no_provider_available", 503, "UNAVAILABLE"],
    ["upstream_timeout", 504, "DEADLINE_EXCEEDED"],
  ] as const)("are written for %s as %i %s", (code, status, rpcStatus) => {
    const error = new GatewayError(code, "Why.", { param: "contents[0]" });
    expect(generateContentCodec.encodeError(error, "req_1")).toEqual({
      error: {
        code: status,
        message: "Why.",
        status: rpcStatus,
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: code.toUpperCase(),
            domain: "tollgate",
            metadata: { param: "contents[0]", request_id: "req_1" },
          },
        ],
      },
    });
  });

  it("contain the retry delay", () => {
    const error = new GatewayError("no_provider_available", "Later.", { retryAfterSeconds: 7 });
    expect(JSON.stringify(generateContentCodec.encodeError(error, ""))).toContain(
      '"retryDelay":"7s"',
    );
  });

  it.each([
    [
      "the vendor's own shape",
      {
        error: {
          code: 429,
          message: "Slow.",
          status: "RESOURCE_EXHAUSTED",
          details: [{ violations: [] }],
        },
      },
      { message: "Slow.", type: "RESOURCE_EXHAUSTED", code: "RESOURCE_EXHAUSTED" },
    ],
    [
      "a list of one, as without alt=sse",
      [{ error: { code: 400, message: "Bad.", status: "INVALID_ARGUMENT" } }],
      { message: "Bad.", type: "INVALID_ARGUMENT" },
    ],
    [
      "its details",
      {
        error: {
          message: "Bad.",
          status: "INVALID_ARGUMENT",
          details: [
            { reason: "API_KEY_INVALID" },
            { fieldViolations: [{ field: "contents[0].parts" }] },
          ],
        },
      },
      { code: "API_KEY_INVALID", param: "contents[0].parts" },
    ],
    ["a bare string", "Not found", { message: "Not found" }],
    ["an HTML page", "<html><title>Error 502</title></html>", { message: "Error 502" }],
    ["nothing", undefined, { message: "The upstream answered with status 502." }],
  ] as [string, unknown, object][])("are read from %s", (_, body, expected) => {
    expect(generateContentCodec.decodeError(502, body)).toMatchObject(expected);
  });

  it("are read from a body of any shape without an exception", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(typeof generateContentCodec.decodeError(500, body).message).toBe("string");
      }),
    );
  });
});

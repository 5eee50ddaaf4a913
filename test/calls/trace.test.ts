/** When the span of a call is a failure: errors of the gateway or a provider are, errors of the caller are not. */
import { expect, it } from "vitest";
import { traceCall } from "../../src/calls/trace.ts";
import { recordAt } from "./support.ts";

it.each([
  ["failed", 502, "upstream_error", "upstream_error"],
  ["failed", 500, null, "failed"],
  ["failed", 400, "invalid_value", undefined],
  ["client_closed", 502, null, undefined],
  ["succeeded", 200, null, undefined],
] as const)(
  "the span of a call ends with or without an error: %s with status %i",
  (status, httpStatus, errorCode, said) => {
    const ends: unknown[] = [];
    const nothing = (): void => undefined;
    const end = (error?: string) => ends.push(error);
    const span = { isSampled: true, share: nothing, add: nothing, end };
    traceCall(Object.assign(recordAt(0), { status, httpStatus, errorCode, span: span as never }));
    expect(ends).toEqual([said]);
  },
);

/** When a caller is told to come again, from what the upstream says of it. Spec: "Errors"; design.md section 7. */
import { describe, expect, it } from "vitest";
import { codecs } from "../../src/protocols/index.ts";
import { outcomeOfStatus } from "../../src/upstream/index.ts";

/** Google's refusal: the time stands in the body, with no header. */
const limited = {
  error: {
    code: 429,
    message: "Quota exceeded.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
    ],
  },
};
const google = codecs.generate_content.decodeError(429, limited);
const silent = { message: "Later." };

describe("when to come again", () => {
  it.each([
    { title: "the header's seconds", status: 429, wire: silent, header: "7", seconds: 7 },
    {
      title: "google's retryDelay, rounded up",
      status: 429,
      wire: google,
      header: undefined,
      seconds: 35,
    },
    { title: "the header before the body", status: 429, wire: google, header: "2", seconds: 2 },
    {
      title: "five seconds where nothing is said",
      status: 429,
      wire: silent,
      header: undefined,
      seconds: 5,
    },
    {
      title: "five seconds where a date is said",
      status: 503,
      wire: silent,
      header: "Fri, 20 Nov 2026 08:00:00 GMT",
      seconds: 5,
    },
    { title: "an hour at most", status: 503, wire: silent, header: "86400", seconds: 3600 },
    { title: "an overload's own word", status: 529, wire: silent, header: "12", seconds: 12 },
  ])("$title", ({ status, wire, header, seconds }) => {
    expect(outcomeOfStatus(status, wire, header).error.retryAfterSeconds).toBe(seconds);
  });

  it("is not said of a failure that names no time of its own", () => {
    for (const status of [400, 401, 404, 500, 502, 504]) {
      expect(outcomeOfStatus(status, silent, "7").error.retryAfterSeconds).toBeUndefined();
    }
  });
});

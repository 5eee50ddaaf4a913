// Log lines about the expiry of the gateway's own certificate: once a day from two weeks before, and again for another
// certificate. docs/network.md "TLS".
import { expect, it } from "vitest";
import { dayMs, hourMs } from "../../src/base/durations.ts";
import { createCertificateWatch } from "../../src/cli/certificate-watch.ts";
import { manualClock } from "../support/manual-clock.ts";

const startMs = Date.UTC(2026, 10, 1);

/** Collects the log lines about the certificate that `expiresMs` describes, on a clock of the test. */
function startWatch(expiresMs: () => number | undefined) {
  const clock = manualClock(startMs);
  const lines: object[] = [];
  const keep = (level: string) => (fields: object, msg: string) =>
    void lines.push({ level, ...fields, msg });
  const log = { warn: keep("warn"), error: keep("error") };
  return { clock, lines, look: createCertificateWatch({ ownTls: { expiresMs }, clock, log }) };
}

it("an expiring certificate is logged once a day from 14 days before, as an error after its end, and another one anew", () => {
  let expiresMs: number | undefined = startMs + 20 * dayMs;
  const { clock, lines, look } = startWatch(() => expiresMs);
  const linesOfDays = (days: number): object[] => {
    lines.length = 0;
    for (let hours = 0; hours < days * 24; hours += 1) {
      look();
      clock.advance(hourMs);
    }
    return [...lines];
  };
  expect(linesOfDays(6)).toEqual([]);
  clock.advance(hourMs);
  const left = (days_left: number) => ({
    level: "warn",
    days_left,
    expires: "2026-11-21",
    fix: expect.stringContaining("server.tls.cert") as string,
    msg: "the gateway's own certificate expires soon",
  });
  expect(linesOfDays(3)).toEqual([left(13), left(12), left(11)]);
  expiresMs = startMs + 90 * dayMs;
  expect(linesOfDays(3)).toEqual([]);
  // Another certificate that has already expired is logged at once.
  expiresMs = startMs;
  expect(linesOfDays(1)).toMatchObject([
    { level: "error", expires: "2026-11-01", msg: "the gateway's own certificate has expired" },
  ]);
  expiresMs = undefined;
  expect(linesOfDays(2)).toEqual([]);
});

it("a clock that ran ahead and was set back delays no later log line", () => {
  const { clock, lines, look } = startWatch(() => startMs + 10 * dayMs);
  clock.advance(400 * dayMs);
  look();
  clock.advance(-400 * dayMs);
  look();
  look();
  expect(lines).toMatchObject([{ level: "error" }, { level: "warn", days_left: 10 }]);
});

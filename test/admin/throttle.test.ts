/** Counting of sign-ins: within a window, per account in any spelling, and never below zero. docs/management.md. */
import { expect, it } from "vitest";
import { createThrottle } from "../../src/admin/throttle.ts";
import { manualClock } from "../support/manual-clock.ts";
import { describeDatabase } from "../support/postgres.ts";

const windowMs = 5 * 60_000;

describeDatabase("the throttle of sign-ins", (open) => {
  it("a success that arrives after its window ended does not reduce the count of the next window", async () => {
    const clock = manualClock(Date.now());
    const throttle = createThrottle(await open(), clock);
    const attempt = { kind: "account", subject: "slow@example.com" } as const;
    const early = [await throttle.begin(attempt), await throttle.begin(attempt)];
    clock.advance(windowMs);
    await throttle.begin(attempt);
    for (const admission of early) await throttle.uncount(admission);
    for (let failure = 0; failure < 10; failure += 1) await throttle.begin(attempt);
    await expect(throttle.begin(attempt)).rejects.toMatchObject({ code: "too_many_attempts" });
    // One window later it is open again.
    clock.advance(windowMs);
    await throttle.begin(attempt);
  });

  it("counts all spellings of an account together, and other accounts separately", async () => {
    const throttle = createThrottle(await open(), manualClock(Date.now()));
    const of = (subject: string) => ({ kind: "account", subject }) as const;
    for (let failure = 0; failure < 10; failure += 1) await throttle.begin(of("Ann@Example.com"));
    const typed = throttle.begin(of(" ann@example.COM "));
    await expect(typed).rejects.toMatchObject({ code: "too_many_attempts" });
    await throttle.begin(of("anna@example.com"));
  });
});

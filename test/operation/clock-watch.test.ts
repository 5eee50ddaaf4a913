// Log lines if the clocks of the database and the gateway differ: once with advice, and once when it is over. docs/operate.md
// "Clocks".
import { expect, it } from "vitest";
import { watchClocks } from "../../src/cli/clock-watch.ts";
import { manualClock } from "../support/manual-clock.ts";
import { eventually } from "../support/patience.ts";

const startMs = Date.UTC(2026, 10, 27);

it.each([3_600_000, -3_600_000])(
  "a clock that is %i ms off is logged once, and a difference of 29 seconds is not",
  async (ms) => {
    const own = manualClock(startMs);
    const shared = manualClock(startMs);
    const lines: object[] = [];
    let checks = 0;
    const clock = { now: () => ((checks += 1), own.now()) };
    const logLine = (fields: object, msg: string): void => void lines.push({ ...fields, msg });
    const end = watchClocks({
      sharedClock: shared,
      clock,
      log: { info: logLine, warn: logLine },
      everyMs: 5,
    });
    const severalChecks = async (): Promise<void> => {
      const before = checks;
      await eventually(() => checks > before + 5 || undefined, "some looks");
    };
    await severalChecks();
    shared.advance(29_000);
    await severalChecks();
    expect(lines).toEqual([]);
    shared.advance(ms);
    await severalChecks();
    expect(lines).toEqual([
      {
        database_ahead_seconds: ms / 1_000 + 29,
        fix: expect.stringContaining("NTP") as string,
        msg: "the database's clock is another than this machine's",
      },
    ]);
    own.set(shared.now());
    await severalChecks();
    expect(lines).toHaveLength(2);
    expect(lines[1]).toEqual({ msg: "the clocks of the database and of this machine agree" });
    end();
  },
);

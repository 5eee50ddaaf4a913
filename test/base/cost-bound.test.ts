/** The most that one call may cost and be charged. docs/ledger.md. */
import { describe, expect, it, vi } from "vitest";
import { chargeFor, checkBound } from "../../src/base/cost-bound.ts";
import { amountNanoMax as most } from "../../src/base/money.ts";
import { silentLog } from "../support/postgres.ts";

describe("a bound", () => {
  const field = (name: string, least: bigint) => ({ field: name, leastNano: () => least });

  it("may be as high as the most that a call may cost, and is then not looked into", () => {
    const fields = vi.fn<() => never>();
    checkBound(most, fields);
    expect(fields).not.toHaveBeenCalled();
  });

  it("above that is refused by the first field that would help, else by the model", () => {
    const refused = (...leasts: bigint[]) => {
      try {
        checkBound(most + 1n, () => leasts.map((least, index) => field(`f${index}`, least)));
      } catch (error) {
        return error;
      }
      return expect.unreachable();
    };
    expect(refused(most + 1n, most, 0n)).toMatchObject({
      code: "invalid_value",
      param: "f1",
      message:
        "`f1` makes a call that may cost up to $10000000.000000001; one call may cost $10000000 at most.",
    });
    expect(refused(most + 1n)).toMatchObject({ param: "model" });
    expect(refused()).toMatchObject({ param: "model" });
  });
});

it("a call is charged what it costs, up to the most that a call may cost; the rest is logged", () => {
  const error = vi.fn<(fields: object, message: string) => void>();
  const charged = (cost: bigint) => chargeFor(cost, { log: { ...silentLog, error }, id: "req_1" });
  expect([charged(0n), charged(most)]).toEqual([0n, most]);
  expect(error).not.toHaveBeenCalled();
  expect(charged(most + 1n)).toBe(most);
  expect(error.mock.calls).toEqual([
    [
      { id: "req_1", cost_usd: "10000000.000000001", charged_usd: "10000000" },
      expect.stringContaining("was charged the most"),
    ],
  ]);
});

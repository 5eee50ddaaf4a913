/**
 * Clocks that jump, and processes that are paused for longer than a lease: a call whose reservation was taken for dead
 * while it ran is still charged, once. Design section 10.
 */
import { expect, it } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import {
  answering,
  chatConfig,
  describeGateways,
  eventually,
  idOf,
  talk,
  usageOf,
} from "../money/support.ts";

const clock = manualClock(Date.UTC(2026, 4, 13, 12));
const config = (url: string) => chatConfig(url, 'price: { input: "3", output: "15" }');
const usage = usageOf(100, 40);
const costNano = 100n * 3_000n + 40n * 15_000n;
const hour = 3_600_000;

describeGateways("a clock that jumps", { config, clock }, (bench) => {
  it("BILL-01 T67: forward by more than a lease: the sweeper frees the holds of running calls, and their ends are charged", async () => {
    const ends: (() => void)[] = [];
    bench().up.answer((request, response) => {
      ends.push(() => void answering(usage)(request, response));
    });
    const before = await bench().ledger.balance(bench().workspaceId);
    const calls = [false, true].map((stream) =>
      bench().post("/v1/chat/completions", talk({ stream })),
    );
    await eventually(() => (ends.length === 2 ? true : undefined), "two calls under way");
    clock.advance(hour);
    expect(await bench().ledger.expireHolds()).toBe(2);
    for (const end of ends) end();
    for (const call of calls) {
      const response = await call;
      expect(response.status).toBe(200);
      await response.text();
      const id = idOf(response);
      expect(await bench().logRow(id)).toMatchObject({ status: "succeeded", cost_nano: costNano });
      expect(await bench().entry(id)).toMatchObject({ kind: "expire", amount_nano: 0n });
      expect(await bench().entry(`${id}:late`)).toMatchObject({
        kind: "charge",
        amount_nano: costNano,
        held_nano: 0n,
      });
      // Told again, as after a lost connection, it has no further effect.
      const again = { id, workspaceId: bench().workspaceId, amountNano: 7n * costNano };
      expect(await bench().ledger.chargeExpired(again)).toEqual({
        outcome: "posted",
        chargedNano: costNano,
      });
    }
    const after = await bench().ledger.balance(bench().workspaceId);
    expect(after.chargedNano - before.chargedNano).toBe(2n * costNano);
    expect((await bench().keySpend()).total).toBe("0.0018");
    await bench().expectClean();
  });

  it("backward by a day: calls go on, and are charged", async () => {
    bench().up.answer(answering(usage));
    for (const ms of [-24 * hour, -1, 24 * hour]) {
      clock.advance(ms);
      const response = await bench().post("/v1/chat/completions", talk());
      await response.text();
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: costNano });
    }
    await bench().expectClean();
  });

  it("a hold that was released, posted or never there is not charged late", async () => {
    bench().up.answer(answering(usage));
    const response = await bench().post("/v1/chat/completions", talk());
    await response.text();
    bench().up.answer((_request, answer) => void answer.writeHead(400).end());
    const refused = await bench().post("/v1/chat/completions", talk());
    await refused.text();
    const { workspaceId, ledger } = bench();
    for (const id of [idOf(response), idOf(refused), "req_never"]) {
      expect(await ledger.chargeExpired({ id, workspaceId, amountNano: 5n })).toEqual({
        outcome: "unknown_hold",
        chargedNano: 0n,
      });
    }
    await bench().expectClean();
  });
});

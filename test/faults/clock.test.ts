/**
 * The database's clock jumps, or a gateway is paused for longer than its lease. Its reservations are released, and calls that ran
 * meanwhile are still charged, once.
 */
import { expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import {
  answering,
  chatConfig,
  describeGateways,
  eventually,
  idOf,
  moveClock,
  talk,
  usageOf,
} from "../money/support.ts";

const clock = manualClock(Date.UTC(2026, 4, 13, 12));
const config = (url: string) => chatConfig(url, 'price: { input: "3", output: "15" }');
const usage = usageOf(100, 40);
const costNano = 100n * 3_000n + 40n * 15_000n;
const hour = 3_600_000;

/** Times in a row of the request log. */
interface Took {
  readonly duration_ms: number;
  readonly first_token_ms: number;
  readonly attempts: readonly { readonly duration_ms: number }[];
}

describeGateways("a clock that jumps", { config, clock }, (bench) => {
  it("BILL-01 T67: forward by more than a lease releases the reservations of running calls, and their ends are still charged", async () => {
    const ends: (() => void)[] = [];
    bench().up.answer((request, response) => {
      ends.push(() => void answering(usage)(request, response));
    });
    const { workspaceId, ledger } = bench();
    const before = await ledger.balance(workspaceId);
    const calls = [false, true].map((stream) =>
      bench().post("/v1/chat/completions", talk({ stream })),
    );
    await eventually(() => (ends.length === 2 ? true : undefined), "two calls under way");
    await moveClock(bench(), clock, clock.now() + hour);
    await eventually(
      async () => ((await ledger.expire()) === 1 ? true : undefined),
      "the sweep of the gateway that seems dead",
    );
    expect((await ledger.balance(workspaceId)).heldNano).toBe(0n);
    for (const end of ends) end();
    for (const call of calls) {
      const response = await call;
      expect(response.status).toBe(200);
      await response.text();
      const id = idOf(response);
      expect(await bench().logRow(id)).toMatchObject({ status: "succeeded", cost_nano: costNano });
      expect(await bench().entry(id)).toMatchObject({ kind: "charge", amount_nano: costNano });
    }
    const after = await ledger.balance(workspaceId);
    expect(after.chargedNano - before.chargedNano).toBe(2n * costNano);
    expect((await bench().keySpend()).total).toBe("0.0018");
    await bench().expectClean();
  });

  it.each([hour, -hour])(
    "by %i ms during a call does not change the duration in log and metrics, nor what health measures",
    async (ms) => {
      let end: (() => void) | undefined;
      bench().up.answer((request, response) => {
        end = () => void answering(usage)(request, response);
      });
      const call = bench().post("/v1/chat/completions", talk());
      await eventually(() => end, "the call under way");
      await moveClock(bench(), clock, clock.now() + ms);
      end!();
      const response = await call;
      await response.text();
      const id = idOf(response);
      expect(await bench().logRow(id)).toMatchObject({ status: "succeeded" });
      const [row] = await bench().database.query<Took & Record<string, unknown>>(
        "select duration_ms, first_token_ms, attempts from request_log where id = $1",
        [id],
      );
      const { duration_ms, first_token_ms, attempts } = row!;
      for (const took of [duration_ms, first_token_ms, attempts[0]!.duration_ms]) {
        expect(took).toBeGreaterThanOrEqual(0);
        expect(took).toBeLessThan(60_000);
      }
      const metrics = await (await fetch(`${bench().url}/metrics`)).text();
      const [, sum] = /^gen_ai_server_request_duration_seconds_sum\{.*\} (.*)$/m.exec(metrics)!;
      expect(Number(sum)).toBeGreaterThan(0);
      expect(Number(sum)).toBeLessThan(600);
    },
  );

  it("backward by a day does not stop calls, and they are charged", async () => {
    bench().up.answer(answering(usage));
    for (const ms of [-24 * hour, -1, 24 * hour]) {
      await moveClock(bench(), clock, clock.now() + ms);
      const response = await bench().post("/v1/chat/completions", talk());
      await response.text();
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: costNano });
    }
    await bench().expectClean();
  });
});

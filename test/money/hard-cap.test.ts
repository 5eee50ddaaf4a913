/**
 * A thousand concurrent calls on a key with a hard cap of one dollar never exceed the cap, at any moment. The short form has a
 * third of both.
 */
import { expect, it } from "vitest";
import { readSpend } from "../../src/admin/index.ts";
import { shortOrLong } from "../support/long.ts";
import { describeGateways, answering, chatConfig, errorOf, talk, usageOf } from "./support.ts";

const callers = shortOrLong(333, 1_000);
const capNano = BigInt(callers) * 1_000_000n;
/**
 * A token costs a hundredth of a cent. Every call reaches the cap: refused callers that all retry at once may exceed the bound on new
 * calls, which is lifted here.
 */
const config = (url: string) =>
  `limits: { round_calls: 0 }${chatConfig(url, 'price: { input: "100", output: "100" }')}`;
const askedTokens = 100;

/** True if the server closed an idle connection at the same moment: every client retries then. */
const isClosedIdle = (error: unknown): boolean =>
  error instanceof TypeError &&
  ["ECONNRESET", "UND_ERR_SOCKET"].includes((error.cause as { code?: string }).code ?? "");

describeGateways(`a key that may spend ${callers / 1_000} dollars`, { config }, (bench) => {
  it(`T63: ${callers} simultaneous calls under a hard cap never charge more than the cap, and use nearly all of it`, async () => {
    const spent = async () =>
      (await readSpend(bench().database, bench().workspaceId, { layer: "key", id: bench().keyId }))
        .total;
    expect(await spent()).toBe(0n);
    await bench().setCaps("key", { totalNano: capNano, hard: true });
    let served = 0;
    bench().up.answer((request, response) => {
      served += 1;
      // Between no output and all requested tokens.
      const output = (served * 37) % (askedTokens + 1);
      setTimeout(() => void answering(usageOf(5, output))(request, response), served % 20);
    });
    let highest = 0n;
    const watch = setInterval(() => {
      void spent().then((now) => (highest = now > highest ? now : highest));
    }, 20);
    const statuses = new Map<number, number>();
    async function ask(again = 3): Promise<Response> {
      try {
        return await bench().post("/v1/chat/completions", talk({ max_tokens: askedTokens }));
      } catch (error) {
        if (again === 0 || !isClosedIdle(error)) throw error;
        return ask(again - 1);
      }
    }
    // A refused caller retries, because other calls return their reservations.
    async function caller(): Promise<void> {
      for (let tries = 0; tries < 10; tries += 1) {
        const answer = await ask();
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status === 200) return void (await answer.text());
        expect((await errorOf(answer)).code).toBe("key_total_spend_cap_reached");
      }
    }
    await Promise.all(Array.from({ length: callers }, caller));
    clearInterval(watch);
    const total = await spent();
    expect([...statuses.keys()].sort((one, other) => one - other)).toEqual([200, 402]);
    expect(total).toBeLessThanOrEqual(capNano);
    expect(highest).toBeGreaterThan(0n);
    expect(highest).toBeLessThanOrEqual(capNano);
    // At most a tenth of the cap is left over.
    expect(total).toBeGreaterThan((capNano * 9n) / 10n);
    await bench().expectClean();
  });
});

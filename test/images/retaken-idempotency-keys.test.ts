// An image call whose process pauses until its hold expires, and whose idempotency key another call then takes.
import { afterEach, describe, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { picture } from "./support.ts";
import { startVendors } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

const key = { "idempotency-key": "one" };
/** The charge at USD 1 per million tokens. */
const chargeNano = 30_000n;
const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };

/** The answer's status with its error code, and `again` if it is a repetition. */
async function statusOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error?: { code: string } };
  const replayed = response.headers.get("idempotent-replayed") === "true" ? " again" : "";
  return `${response.status}${error ? ` ${error.code}` : ""}${replayed}`;
}

describe("a call whose hold expired while its vendor worked", () => {
  async function slowCall() {
    vendors = await startVendors();
    const { bench } = vendors;
    const image = await picture();
    const done = json({ data: [{ b64_json: image.toString("base64") }], usage });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    vendors.answer(async (request, response) => {
      if (vendors.first.requests.length === 1) await held;
      await done(request, response);
    });
    const call = async () =>
      statusOf(await bench.edit({ model: "acme/edit:first", prompt: "x" }, { image }, key));
    const first = call();
    await expect.poll(() => vendors.first.requests.length).toBe(1);
    // As if its process was stopped, or could not reach the database, for a minute.
    await bench.database.query("update ledger_holds set lease_until = now() - interval '1 minute'");
    await bench.ledger.expire();
    await expect.poll(() => bench.holds()).toBe(0);
    return { call, first, release };
  }

  it("T67 T81: is not charged if another call has taken its key, and gets 409", async () => {
    const { call, first, release } = await slowCall();
    expect(await call()).toBe("200");
    release();
    expect(await first).toBe("409 idempotency_in_progress");
    expect(await call()).toBe("200 again");
    expect((await vendors.bench.state()).chargedNano).toBe(chargeNano);
    const tasks = await vendors.bench.database.query("select id from tasks");
    expect(tasks).toHaveLength(1);
  });

  it("T67: is charged late if no other call has taken its key, which then repeats its answer", async () => {
    const { call, first, release } = await slowCall();
    release();
    expect(await first).toBe("200");
    expect(await call()).toBe("200 again");
    expect((await vendors.bench.state()).chargedNano).toBe(chargeNano);
  });
});

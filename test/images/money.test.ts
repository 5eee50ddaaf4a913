// The cost of image calls: held while they run, charged as made, refused without enough credit.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyLedger } from "../../src/verification/index.ts";
import { json } from "../support/recorder.ts";
import {
  modelA,
  modelB,
  picture,
  prompted,
  startImages,
  type Bytes,
  type Fields,
  type ImageAnswer,
  type ImageBench,
  type Usage,
} from "./support.ts";
import { generating, startVendors, twoOffers } from "./two-vendors.ts";

let image: Bytes;
beforeAll(async () => {
  image = await picture();
});

/** The price by the sandbox's rates, in nano-USD. */
function priceOf({ input_tokens_details: input, output_tokens_details: output }: Usage): bigint {
  return (
    BigInt(input.text_tokens) * 5_000n +
    BigInt(input.image_tokens) * 8_000n +
    BigInt(output.text_tokens) * 10_000n +
    BigInt(output.image_tokens) * 30_000n
  );
}

describe("the charge of an image call", () => {
  let bench: ImageBench;
  beforeAll(async () => {
    // Several leases pass while a slow call runs.
    bench = await startImages({ holdLeaseMs: 600 });
  });
  afterAll(() => bench.close());

  /** Makes a call. Returns its answer and its charge. */
  async function charged(call: () => Promise<Response>) {
    const before = await bench.state();
    const response = await call();
    if (response.status !== 200) throw new Error(await response.text());
    const answer = (await response.json()) as ImageAnswer;
    const { chargedNano } = await bench.state();
    return { answer, nano: chargedNano - before.chargedNano };
  }
  const edit = (fields: Fields = {}, images = [image], script?: object) =>
    bench.edit({ model: modelB, prompt: prompted(script), ...fields }, { "image[]": images });

  it("T55: has the image-token rates for pictures, in and out", async () => {
    const made = await charged(() => bench.generate({ quality: "high", n: 2 }));
    expect(made.answer.usage.output_tokens_details.image_tokens).toBeGreaterThan(0);
    expect(made.nano).toBe(priceOf(made.answer.usage));
    const edited = await charged(() => edit());
    expect(edited.answer.usage.input_tokens_details.image_tokens).toBeGreaterThan(0);
    expect(edited.nano).toBe(priceOf(edited.answer.usage));
  });

  it("EDIT2-34: is the cost_nano of the answer", async () => {
    const { answer, nano } = await charged(() => edit());
    expect(answer.gw!.cost_nano).toBe(String(nano));
  });

  it("EDIT2-29: grows with each reference image", async () => {
    const one = await charged(() => edit());
    const three = await charged(() => edit({}, [image, image, image]));
    const inputOf = ({ answer }: typeof one) => answer.usage.input_tokens_details.image_tokens;
    expect(inputOf(three)).toBe(inputOf(one) * 3);
    expect(three.nano).toBeGreaterThan(one.nano);
  });

  it("T56: is not zero for automatic size and quality, with or without reported usage", async () => {
    for (const script of [undefined, { usage: null }]) {
      const fields = { prompt: prompted(script), size: "auto", quality: "auto" };
      const made = await charged(() => bench.generate(fields));
      expect(made.nano).toBeGreaterThan(10_000_000n);
      expect(made.nano).toBe(priceOf(made.answer.usage));
    }
  });

  it("EDIT2-30, BILL-20: is held at its maximum while the call runs, and replaced by the actual cost afterwards", async () => {
    const { availableNano: before } = await bench.ledger.balance(bench.workspaceId);
    const slow = charged(() => edit({}, [image], { task_seconds: 2 }));
    await expect
      .poll(async () => (await bench.ledger.balance(bench.workspaceId)).heldNano)
      .toBeGreaterThan(0n);
    const during = await bench.ledger.balance(bench.workspaceId);
    const { nano } = await slow;
    const after = await bench.ledger.balance(bench.workspaceId);
    expect(during.heldNano).toBeGreaterThanOrEqual(nano);
    expect(during.availableNano).toBe(before - during.heldNano);
    expect(after).toMatchObject({ heldNano: 0n, availableNano: before - nano });
    // The call outlived its first lease, because the gateway extended it.
    const [row] = await bench.database.query<{ kind: string }>(
      "select kind from ledger_entries order by entry desc limit 1",
    );
    expect(row).toEqual({ kind: "charge" });
  });

  it("is rolled back with everything else if its transaction fails: no picture, hold or charge is left", async () => {
    const before = await bench.state();
    await bench.database.query("alter table tasks add constraint refused check (false) not valid");
    try {
      expect((await edit()).status).toBe(500);
    } finally {
      await bench.database.query("alter table tasks drop constraint refused");
    }
    await expect.poll(() => bench.state()).toEqual(before);
  });

  it("is never above the hold, streamed or not", async () => {
    for (const fields of [
      { size: "2048x2048", quality: "high", output_format: "jpeg" },
      { size: "auto", quality: "auto", stream: true, partial_images: 3 },
    ]) {
      await bench.generate({ model: modelA, ...fields }).then((answer) => answer.text());
    }
    const rows = await bench.database.query<{ amount_nano: bigint; held_nano: bigint }>(
      "select amount_nano, held_nano from ledger_entries where kind = 'charge'",
    );
    for (const { amount_nano, held_nano } of rows)
      expect(held_nano).toBeGreaterThanOrEqual(amount_nano);
    expect(await verifyLedger(bench.database)).toEqual([]);
  });

  it("is in the request log with its call and its tokens, and metrics count the call", async () => {
    const { answer, nano } = await charged(() => edit({ foo: "1" }));
    const rowOf = async () =>
      (
        await bench.database.query<Fields>("select * from request_log where id = $1", [
          answer.gw!.generation_id,
        ])
      )[0];
    await expect.poll(rowOf).toBeDefined();
    expect(await rowOf()).toMatchObject({
      model: modelB,
      provider: "sandbox-openai",
      protocol: "images_edits",
      status: "succeeded",
      http_status: 200,
      usage_source: "upstream",
      cost_nano: nano,
      dropped: ["foo"],
      usage: { unit: "image_tokens" },
    });
    const metrics = await (await fetch(`${bench.url}/metrics`)).text();
    expect(metrics).toMatch(/tollgate_calls_total\{[^}]*images_edits[^}]*\} [1-9]/);
  });
});

describe("a vendor that returns more pictures than requested", () => {
  it("BILL-09: is paid for the requested ones, and only they are answered and stored", async () => {
    const vendors = await startVendors();
    const { bench } = vendors;
    const data = Array.from({ length: 12 }, () => ({ b64_json: image.toString("base64") }));
    const ask = async (count: number) => {
      vendors.answer(json({ data: data.slice(0, count) }));
      const before = await bench.state();
      const response = await bench.edit({ model: "acme/edit:first", prompt: "x", n: 2 }, { image });
      const answer = (await response.json()) as ImageAnswer;
      const { chargedNano } = await bench.state();
      return {
        data: answer.data.length,
        kept: answer.gw?.images.length,
        nano: chargedNano - before.chargedNano,
      };
    };
    const asked = await ask(2);
    expect(asked).toMatchObject({ data: 2, kept: 2 });
    expect(await ask(12)).toEqual(asked);
    const rows = await bench.database.query<{ amount_nano: bigint; held_nano: bigint }>(
      "select amount_nano, held_nano from ledger_entries where kind = 'charge'",
    );
    for (const { amount_nano, held_nano } of rows)
      expect(held_nano).toBeGreaterThanOrEqual(amount_nano);
    await vendors.close();
  });
});

describe("a refused image call", () => {
  it("EDIT2-41, BILL-23, ERR-09: gets 402 without enough credit, and no vendor is asked", async () => {
    const vendors = await startVendors({ usd: "0.000001" });
    const { bench } = vendors;
    const refused = [
      await bench.edit({ model: twoOffers, prompt: "x" }, { image }),
      await bench.generate({ model: generating }),
    ];
    for (const response of refused) {
      expect(response.status).toBe(402);
      expect(response.headers.get("x-should-retry")).toBe("false");
      expect(await response.json()).toMatchObject({ error: { code: "insufficient_balance" } });
    }
    expect(vendors.first.requests).toEqual([]);
    expect(await bench.state()).toEqual({ holds: 0, chargedNano: 0n, files: [] });
    await vendors.close();
  });

  it("EDIT2-42, ERR-11: gets 503 with Retry-After while the queue is full", async () => {
    const more = "limits: { queue: { global: 10, per_workspace: 1 } }";
    const vendors = await startVendors({ more });
    const { bench } = vendors;
    const { promise: made, resolve: finish } = Promise.withResolvers<void>();
    const file = image.toString("base64");
    vendors.answer(async (request, response) => {
      await made;
      await json({ data: [{ b64_json: file }] })(request, response);
    });
    const edit = () => bench.edit({ model: "acme/edit:first", prompt: "x" }, { image });
    const running = edit();
    await expect.poll(() => bench.holds()).toBe(1);
    const refused = await edit();
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: "queue_full" } });
    finish();
    expect((await running).status).toBe(200);
    expect((await edit()).status).toBe(200);
    expect(await bench.holds()).toBe(0);
    await vendors.close();
  });
});

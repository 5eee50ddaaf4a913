/** Spend caps in calls: each window at each layer, soft and hard, and their resets on a manual clock. */
// Fourteen hours ahead of UTC: code that uses the machine's time zone fails (CAP-06, T72).
process.env["TZ"] = "Pacific/Kiritimati";

import { expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { readSpend } from "../../src/admin/index.ts";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import type { SpendCapsPatch } from "../../src/tenancy/index.ts";
import { json, type Answer } from "../support/recorder.ts";
import {
  answering,
  chatConfig,
  delta,
  describeGateways,
  errorOf,
  eventually,
  moveClock,
  talk,
  usageOf,
  type Bench,
} from "./support.ts";

/** A call costs one cent, and additionally reserves 100 dollars per million requested output tokens. */
const price = 'price: { input: "0", output: "100", request: "0.01" }';
const cent = parseUsd("0.01");
/** A Wednesday, two hours before midnight UTC; in Kiritimati it is already Thursday. */
const start = Date.UTC(2026, 2, 25, 22);
const clock = manualClock(start);

const windows = ["total", "monthly", "weekly", "daily"] as const;
const layers = ["workspace", "member", "key"] as const;
type Window = (typeof windows)[number];
type Layer = (typeof layers)[number];

/** The first moment of the next UTC period, by ordinary calendar arithmetic. */
function nextPeriod(window: Window): number {
  const day = 86_400_000;
  const midnight = Math.floor(clock.now() / day) * day + day;
  if (window === "daily") return midnight;
  for (let moment = midnight; ; moment += day) {
    const date = new Date(moment);
    if (window === "weekly" && date.getUTCDay() === 1) return moment;
    if (window === "monthly" && date.getUTCDate() === 1) return moment;
  }
}

const call = (bench: Bench, extra: object = {}) =>
  bench.post("/v1/chat/completions", talk({ max_tokens: 1, ...extra }));

async function expectServed(bench: Bench): Promise<void> {
  const response = await call(bench);
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
}

/** Expects a refusal by a cap: its code, no upstream request, and no advice to retry. Returns the message. */
async function expectRefused(bench: Bench, layer: Layer, window: Window): Promise<string> {
  const requestsBefore = bench.up.requests.length;
  const response = await call(bench);
  expect(response.status).toBe(402);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(response.headers.get("retry-after")).toBeNull();
  const error = await errorOf(response);
  expect(error).toMatchObject({
    code: `${layer}_${window}_spend_cap_reached`,
    type: "insufficient_quota",
  });
  expect(bench.up.requests).toHaveLength(requestsBefore);
  return error.message;
}

async function spentNano(bench: Bench, layer: Layer, window: Window): Promise<bigint> {
  const [row] = await bench.database.query<{ created_by: string }>(
    "select created_by from api_keys where id = $1",
    [bench.keyId],
  );
  const id = { workspace: bench.workspaceId, member: row!.created_by, key: bench.keyId }[layer];
  return (await readSpend(bench.database, bench.workspaceId, { layer, id }))[window];
}

const capOf = (window: Window, amountNano: bigint): SpendCapsPatch => ({
  [`${window}Nano`]: amountNano,
});

const error = { error: { message: "out of order" } };
const streaming = { "content-type": "text/event-stream" };
/** Each way in which an upstream fails: its answer, whether a stream is asked for, and a word of what the caller gets. */
const failures: readonly (readonly [Answer, boolean, string])[] = [
  [json(error, 500), false, "status 500"],
  [json(error, 400), false, "out of order"],
  [json(error, 429), false, "rate_limit_exceeded"],
  [json(error), false, "upstream_error"],
  [(_request, response) => void response.writeHead(200).end("Hello"), false, "upstream_error"],
  [(_request, response) => void response.destroy(), false, "upstream_error"],
  [json(error, 503), true, "overloaded"],
  [
    (_request, response) => {
      response.writeHead(200, streaming).write(delta("Hello"), () => response.destroy());
    },
    true,
    "broke off",
  ],
  [
    (_request, response) =>
      void response
        .writeHead(200, streaming)
        .end(`${delta("Hello")}data: ${JSON.stringify(error)}\n\n`),
    true,
    "upstream_error",
  ],
];

const cases = layers.flatMap((layer) => windows.map((window) => ({ layer, window })));

describeGateways("spend caps", { config: (url) => chatConfig(url, price), clock }, (bench) => {
  it.each(cases)(
    "CAP-01 CAP-03 CAP-05 CAP-06 CAP-09 T72: the $window cap of the $layer stops calls once it is reached, until its UTC reset",
    async ({ layer, window }) => {
      bench().up.answer(answering(usageOf(5, 0)));
      const limit = (await spentNano(bench(), layer, window)) + 2n * cent;
      await bench().setCaps(layer, capOf(window, limit));
      await expectServed(bench());
      await expectServed(bench());
      // Spend equals the cap now, and does not exceed it.
      expect(await spentNano(bench(), layer, window)).toBe(limit);
      const message = await expectRefused(bench(), layer, window);
      expect(message).toContain(`$${formatUsd(limit)}`);
      const reset = window === "total" ? undefined : nextPeriod(window);
      const words = reset === undefined ? "does not reset" : new Date(reset).toISOString();
      expect(message).toContain(words);
      await moveClock(
        bench(),
        clock,
        reset === undefined ? clock.now() + 400 * 86_400_000 : reset - 1,
      );
      await expectRefused(bench(), layer, window);
      if (reset !== undefined) {
        await moveClock(bench(), clock, reset);
        await expectServed(bench());
      }
      await bench().setCaps(layer, null);
      await expectServed(bench());
    },
  );

  it("CAP-03: a soft cap that is set on a busy key stops it at the cap", async () => {
    bench().up.answer(answering(usageOf(5, 0)));
    for (let round = 0; round < 10; round += 1) {
      for (let count = 0; count < 5; count += 1) await expectServed(bench());
      const limit = (await spentNano(bench(), "key", "total")) + 2n * cent;
      await bench().setCaps("key", { totalNano: limit });
      await expectServed(bench());
      await expectServed(bench());
      await expectRefused(bench(), "key", "total");
      await bench().setCaps("key", null);
    }
  });

  it.each(layers)(
    "CAP-05: after a call that cost far more than its bound, and so spent the cap of the %s, the very next call is refused",
    async (layer) => {
      await bench().credit("10");
      for (let round = 0; round < 2; round += 1) {
        // The cap is far away, so calls that cost what they reserve are admitted in memory.
        const limit = (await spentNano(bench(), layer, "total")) + 300n * cent;
        await bench().setCaps(layer, capOf("total", limit));
        bench().up.answer(answering(usageOf(5, 0)));
        for (let count = 0; count < 5; count += 1) await expectServed(bench());
        bench().up.answer(answering(usageOf(5, 35_000)));
        await expectServed(bench());
        await expectRefused(bench(), layer, "total");
        await bench().setCaps(layer, null);
      }
    },
  );

  it("CAP-02: the total cap counts what was spent a year ago, and never resets", async () => {
    bench().up.answer(answering(usageOf(5, 0)));
    await expectServed(bench());
    await bench().setCaps("key", { totalNano: await spentNano(bench(), "key", "total") });
    await moveClock(bench(), clock, clock.now() + 400 * 86_400_000);
    expect(await expectRefused(bench(), "key", "total")).toContain("does not reset");
    await bench().setCaps("key", null);
  });

  it("CAP-04: an empty cap is no limit, and a cap of zero refuses every call", async () => {
    bench().up.answer(answering(usageOf(5, 0)));
    await bench().setCaps("key", {
      totalNano: null,
      monthlyNano: null,
      weeklyNano: null,
      dailyNano: null,
    });
    for (let count = 0; count < 5; count += 1) await expectServed(bench());
    await bench().setCaps("key", { dailyNano: 0n });
    await expectRefused(bench(), "key", "daily");
    await bench().setCaps("key", null);
    await expectServed(bench());
  });

  it("CAP-09: if all layers are used up, the refusal names the workspace first, then the member, then the key", async () => {
    bench().up.answer(answering(usageOf(5, 0)));
    for (const layer of layers) await bench().setCaps(layer, { dailyNano: 0n, monthlyNano: 0n });
    for (const layer of layers) {
      await expectRefused(bench(), layer, "monthly");
      await bench().setCaps(layer, null);
    }
    await expectServed(bench());
  });

  it("CAP-07: a large running reservation counts against a hard cap, and not against a soft one", async () => {
    let end = (): void => undefined;
    bench().up.answer((request, response) => {
      if (request.body["max_tokens"] === 1) return answering(usageOf(5, 0))(request, response);
      end = () => void answering(usageOf(5, 0))(request, response);
    });
    // 30,000 tokens: 3.01 dollars reserved, of which a cent will be charged.
    const limit = (await spentNano(bench(), "key", "total")) + parseUsd("3.02");
    await bench().setCaps("key", { totalNano: limit });
    const large = call(bench(), { max_tokens: 30_000 });
    await eventually(async () => (await bench().holds())[0], "the large reservation");
    await expectServed(bench());
    await expectServed(bench());
    await bench().setCaps("key", { totalNano: limit, hard: true });
    await expectRefused(bench(), "key", "total");
    end();
    expect((await large).status).toBe(200);
    await (await large).text();
    // The unused part of the reservation is free again.
    await expectServed(bench());
    await bench().setCaps("key", null);
  });

  it.each(layers)("CAP-08: calls that fail upstream do not count in the %s", async (layer) => {
    const spent = await spentNano(bench(), layer, "total");
    await bench().setCaps(layer, { totalNano: spent + cent });
    for (const [answer, stream, wanted] of failures) {
      bench().up.answer(answer);
      const response = await call(bench(), { stream });
      expect(await response.text()).toContain(wanted);
    }
    expect(await spentNano(bench(), layer, "total")).toBe(spent);
    bench().up.answer(answering(usageOf(5, 0)));
    await expectServed(bench());
    await expectRefused(bench(), layer, "total");
    await bench().setCaps(layer, null);
  });

  it.each(layers)(
    "T63 T65 T66: exactly ten of fifty simultaneous calls fit under a hard cap of the %s, and ten again after those left",
    async (layer) => {
      const reserved = cent + 100_000n; // a cent and one token
      const limit = (await spentNano(bench(), layer, "daily")) + 10n * reserved;
      await bench().setCaps(layer, { dailyNano: limit, hard: true });
      const waiting: (() => void)[] = [];
      bench().up.answer((request, response) => {
        waiting.push(() => void answering(usageOf(5, 0))(request, response));
      });
      const leave = new AbortController();
      const first = await startFiftyCalls(bench(), leave.signal);
      await eventually(
        () => (waiting.length === 10 && first.refused() === 40 ? true : undefined),
        "ten under way, forty refused",
      );
      leave.abort();
      await bench().expectClean();
      waiting.length = 0;
      const second = await startFiftyCalls(bench());
      await eventually(
        () => (waiting.length === 10 && second.refused() === 40 ? true : undefined),
        "ten under way again",
      );
      for (const release of waiting) release();
      const served = (await Promise.all(second.calls)).filter((one) => one?.status === 200);
      await Promise.all(served.map((one) => one!.text()));
      expect(served).toHaveLength(10);
      expect(await spentNano(bench(), layer, "daily")).toBe(limit - 10n * 100_000n);
      await bench().setCaps(layer, null);
      await bench().expectClean();
    },
  );

  it("T69: refused calls leave nothing in a cap: raised by one call, it admits one more", async () => {
    bench().up.answer(answering(usageOf(5, 0)));
    const spent = await spentNano(bench(), "key", "total");
    await bench().setCaps("key", { totalNano: spent, hard: true });
    for (let count = 0; count < 20; count += 1) await expectRefused(bench(), "key", "total");
    await bench().setCaps("key", { totalNano: spent + cent + 100_000n });
    await expectServed(bench());
    await expectRefused(bench(), "key", "total");
    expect(await spentNano(bench(), "key", "total")).toBe(spent + cent);
    await bench().setCaps("key", null);
  });

  it("GET /v1/key shows the key's caps, spend, remainder and resets", async () => {
    const daily = await spentNano(bench(), "key", "daily");
    const limit = daily + 5n * cent;
    await bench().setCaps("key", { dailyNano: limit });
    bench().up.answer(answering(usageOf(5, 0)));
    await expectServed(bench());
    const shown = (await (await bench().get("/v1/key")).json()) as Record<string, object>;
    expect(shown["spend_caps"]).toMatchObject({
      daily: formatUsd(limit),
      total: null,
      hard: false,
    });
    expect(shown["spend"]).toMatchObject({ daily: formatUsd(daily + cent) });
    expect(shown["remaining"]).toMatchObject({ daily: "0.04", total: null });
    expect(shown["resets_at"]).toMatchObject({
      daily: new Date(nextPeriod("daily")).toISOString(),
    });
    await bench().setCaps("key", null);
  });
});

/** Starts fifty concurrent calls; `refused` counts 402 answers. A call aborted by the signal gives undefined. */
async function startFiftyCalls(bench: Bench, signal?: AbortSignal) {
  let refused = 0;
  const calls = Array.from({ length: 50 }, async () => {
    try {
      const response = await fetch(`${bench.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${bench.key}` },
        body: JSON.stringify(talk({ max_tokens: 1 })),
        ...(signal === undefined ? {} : { signal }),
      });
      if (response.status === 402) refused += 1;
      return response;
    } catch {
      return undefined;
    }
  });
  return { calls, refused: () => refused };
}

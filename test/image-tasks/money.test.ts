// The exact holds and costs of image tasks at the sandbox's prices. USD per picture: 0.02, 0.04 (low) and 0.05, 0.08 (medium) at 1K
// and 2K, and 0.002 per reference; or 0.03. By tokens: 5 and 10 per million text tokens in and out, 8 and 30 per million image
// tokens.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { openCall } from "../ledger/open-calls.ts";
import { isLong } from "../support/long.ts";
import type { TaskBody } from "../task-http/support.ts";
import { plain, startImages, type Fields, type ImageBench, type Options } from "./support.ts";

let bench: ImageBench;
beforeAll(async () => {
  bench = await startImages({
    tasks: { timing: { firstPollMs: 30, sweepMs: 100, missesMin: 3, missingMs: 200 } },
  });
});
afterAll(() => bench?.close());

interface Money {
  /** Reduction of the available balance while the task waits. */
  readonly held: bigint;
  /** Reduction of the available balance after the task has ended. */
  readonly paid: bigint;
  readonly task: TaskBody;
}

/** Makes a task, and reads the balance before, while it waits, and after. */
async function moneyOf(fields: Fields, options?: Options): Promise<Money> {
  const before = await bench.available();
  const release = bench.hold("ask.claimed");
  const answer = await bench.submit(fields, options);
  expect(answer.status).toBe(202);
  const { id, status, cost } = (await answer.json()) as TaskBody;
  expect([status, cost]).toEqual(["queued", "0"]);
  const held = before - (await bench.available());
  release();
  const task = await bench.until(id, "succeeded", "failed", "expired");
  return { held, paid: before - (await bench.available()), task };
}

const usd = parseUsd;
const pictures = (count: number) => Array.from({ length: count }, () => plain());
const references = async (count: number) => ({
  files: { "image[]": await Promise.all(pictures(count)) },
});

describe("sandbox/task-image-model-1, billed by the picture", () => {
  const model = "sandbox/task-image-model-1";

  it("BILL-03 BILL-04 BILL-10: hold and cost are proportional to n", async () => {
    const one = await moneyOf({ model });
    const four = await moneyOf({ model, n: 4 });
    expect([one.held, one.paid, one.task.cost]).toEqual([usd("0.02"), usd("0.02"), "0.02"]);
    expect([four.held, four.paid, four.task.cost]).toEqual([usd("0.08"), usd("0.08"), "0.08"]);
    expect(four.task.usage).toEqual({ output_images: 4, input_images: 0 });
  });

  it.each([
    ["low", "1K", "0.02"],
    ["low", "2K", "0.04"],
    ["medium", "1K", "0.05"],
    ["medium", "2K", "0.08"],
    ["auto", "2K", "0.04"],
  ])("BILL-11 TIMG1-18: %s at %s costs %s", async (quality, size, cost) => {
    const { held, paid, task } = await moneyOf({ model, quality, image_size: size });
    expect([held, paid, task.cost]).toEqual([usd(cost), usd(cost), cost]);
  });

  it("BILL-08: the hold stays while the task waits and while it runs", async () => {
    const before = await bench.available();
    for (const [point, status] of [
      ["ask.claimed", "queued"],
      ["ask.answered", "running"],
    ] as const) {
      const release = bench.hold(point);
      const { id } = (await (await bench.submit({ model, n: 2 })).json()) as TaskBody;
      await bench.until(id, status);
      expect(before - (await bench.available())).toBe(usd("0.04"));
      const canceled = await bench.send("POST", `/v1/tasks/${id}/cancel`);
      release();
      const ended = await bench.until(id, "succeeded", "canceled");
      expect([canceled.status, ended.status]).toEqual(
        status === "queued" ? [200, "canceled"] : [409, "succeeded"],
      );
      const paid = status === "queued" ? 0n : usd("0.04");
      expect(before - (await bench.available())).toBe(paid);
    }
  });

  it("BILL-12: the aspect ratio does not change the price", async () => {
    const costs = new Set<string>();
    for (const ratio of ["1:1", "21:9", "9:20", "auto", "7:5"])
      costs.add((await bench.run({ model, aspect_ratio: ratio })).task.cost);
    expect([...costs]).toEqual(["0.02"]);
  });

  it("BILL-13: references cost the same for any n", async () => {
    for (const [n, made] of [
      [1, "0.02"],
      [3, "0.06"],
    ] as const) {
      const { held, paid, task } = await moneyOf({ model, n }, await references(2));
      expect(paid - usd(made)).toBe(usd("0.004"));
      expect(held).toBe(paid);
      expect(task.usage).toEqual({ output_images: n, input_images: 2 });
    }
  });

  it.each(["failed", "blocked"])(
    "BILL-05 ERR-14: a task that is %s by the vendor costs nothing",
    async (outcome) => {
      const { held, paid, task } = await moneyOf(
        { model, n: 2 },
        { script: { task_outcome: outcome, error: { code: "invalid_request" } } },
      );
      expect([held, paid, task.cost]).toEqual([usd("0.04"), 0n, "0"]);
      expect(task.error!.message.length).toBeGreaterThan(0);
    },
  );
});

describe("sandbox/image-model-c, billed by the picture", () => {
  const model = "sandbox/image-model-c";

  it("BILL-06: an expired task costs nothing", async () => {
    const { held, paid, task } = await moneyOf({ model }, { script: { task_outcome: "expired" } });
    expect([task.status, held, paid, task.cost]).toEqual(["expired", usd("0.03"), 0n, "0"]);
  });

  it("BILL-07: a task that is canceled before or after its submission to the vendor costs nothing", async () => {
    const before = await bench.available();
    for (const point of ["ask.claimed", undefined] as const) {
      const release = point && bench.hold(point);
      const answer = await bench.submit({ model }, { script: { task_seconds: 600 } });
      const { id } = (await answer.json()) as TaskBody;
      await bench.until(id, point ? "queued" : "running");
      expect(before - (await bench.available())).toBe(usd("0.03"));
      const canceled = await bench.send("POST", `/v1/tasks/${id}/cancel`);
      expect(await canceled.json()).toMatchObject({ status: "canceled", cost: "0" });
      expect(await bench.available()).toBe(before);
      release?.();
    }
  });

  it("all sizes have one price, and references are free", async () => {
    const model = "sandbox/image-model-c";
    const { held, paid, task } = await moneyOf(
      { model, n: 3, image_size: "2K" },
      await references(2),
    );
    expect([held, paid, task.cost]).toEqual([usd("0.09"), usd("0.09"), "0.09"]);
  });
});

/** Tokens of 1024x1024, 1536x1024 and 1024x1536 by quality, from the vendor's list. */
const tokens = {
  low: { "1024x1024": 272, "1536x1024": 400, "1024x1536": 408 },
  medium: { "1024x1024": 1056, "1536x1024": 1568, "1024x1536": 1584 },
  high: { "1024x1024": 4160, "1536x1024": 6208, "1024x1536": 6240 },
} as const;

/** The sizes of a quality. The short form tests one, a different one for each quality and model. */
const sizesOf = (sizes: Readonly<Record<string, number>>, place: number) =>
  Object.entries(sizes).filter((_size, index) => isLong || index === place % 3);

const byTokens = ["sandbox/task-image-model-2", "sandbox/image-model-b"];
describe.each(byTokens)("%s, billed by tokens", (model) => {
  it.each(Object.entries(tokens))(
    "T55: pictures of %s quality are billed at the image-token rate, and the prompt at the text-token rate",
    async (quality, sizes) => {
      const place = byTokens.indexOf(model) + Object.keys(tokens).indexOf(quality);
      for (const [size, count] of sizesOf(sizes, place)) {
        const { held, paid, task } = await moneyOf({ model, quality, size, n: 2 });
        const input = task.usage["input_tokens"]!;
        expect(task.usage).toEqual({
          input_tokens: input,
          output_tokens: 2 * count,
          total_tokens: input + 2 * count,
        });
        expect(paid).toBe(BigInt(input) * 5_000n + BigInt(2 * count) * 30_000n);
        expect(held).toBeGreaterThanOrEqual(paid);
      }
    },
  );

  it("T55 TASK-27: references are billed at the image-token rate too", async () => {
    const prompt = "The same words with and without pictures";
    const fields = { model, prompt, quality: "low", size: "1024x1024" };
    const without = await moneyOf(fields);
    const two = await moneyOf(fields, await references(2));
    // Each reference has two tiles of 129 tokens, plus 65.
    const given = two.task.usage["input_tokens"]! - without.task.usage["input_tokens"]!;
    expect(given).toBe(2 * (65 + 2 * 129));
    expect(two.paid - without.paid).toBe(BigInt(given) * 8_000n);
    expect(two.held).toBeGreaterThanOrEqual(two.paid);
  });

  it("T56: automatic size and quality are never free, with or without reported usage, and never cost more than the hold", async () => {
    for (const script of [{}, { usage: null }])
      for (const options of [{}, await references(1)]) {
        const { held, paid, task } = await moneyOf({ model, n: 2 }, { script, ...options });
        expect(task.status).toBe("succeeded");
        expect(paid).toBeGreaterThan(0n);
        expect(held).toBeGreaterThanOrEqual(paid);
        expect(task.usage["output_tokens"]).toBeGreaterThan(0);
      }
  });
});

it("BILL-23 ERR-09: a task that costs more than the balance is refused with 402 before any vendor request", async () => {
  const model = "sandbox/task-image-model-1";
  const drained = { model, n: 10, quality: "medium", image_size: "2K" };
  await reserveAllBut(usd("0.79"));
  const answer = await bench.submit({ ...drained, prompt: "Too dear" });
  expect(answer.status).toBe(402);
  expect(answer.headers.get("x-should-retry")).toBe("false");
  expect(await answer.json()).toMatchObject({ error: { type: "insufficient_quota" } });
  expect(await bench.sentWith("Too dear")).toEqual([]);
  expect(await bench.available()).toBe(usd("0.79"));
  expect((await moneyOf({ ...drained, n: 9 })).paid).toBe(usd("0.72"));
});

/** Reserves the available balance except for this amount. */
async function reserveAllBut(amountNano: bigint): Promise<void> {
  const [key] = await bench.database.query<{ id: string }>(
    "select id from api_keys where workspace_id = $1",
    [bench.workspaceId],
  );
  await openCall(bench.ledger, {
    id: crypto.randomUUID(),
    workspaceId: bench.workspaceId,
    keyId: key!.id,
    keyRotation: 0,
    amountNano: (await bench.available()) - amountNano,
  });
}

// Videos whose vendors bill those with sound and those without at two rates: the hold, the charge, and where the rates are shown.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd as usd } from "../../src/base/money.ts";
import { ledgerReaderOf, type LedgerReader } from "../money/support.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import { frame, taskHelpers } from "./support.ts";

let bench: Bench;
let books: LedgerReader;

const offer = (provider: string, model: string, price: string) =>
  `    offers: [{ provider: ${provider}, upstream_model: ${model}, price: ${price} }]`;
/** Prices of November 2026: ByteDance bills silent videos of Seedance 1.5 at half, and 1080p of Seedance 2 at another rate. */
const config = [
  "models:",
  "  - id: acme/seedance\n    kind: video\n    family: video-tokens",
  offer(
    "sandbox-ark",
    "seedance-1-5-pro",
    `{ output_video_token: { sound: "2.4", silent: "1.2" } }`,
  ),
  "  - id: acme/seedance-2\n    kind: video\n    family: video-tokens",
  offer(
    "sandbox-ark",
    "seedance-2-0",
    `{ output_video_token: { 720p: "7", 1080p: { sound: "7.7", silent: "7.6" } } }`,
  ),
  "  - id: acme/flash\n    kind: video\n    family: video-v1.5",
  offer(
    "sandbox-dashscope",
    "wan2.6-i2v-flash",
    `{ output_second: { 720p: { sound: "0.05", silent: "0.025" }, 1080p: "0.075" }, input_image: "0" }`,
  ),
].join("\n");

beforeAll(async () => {
  bench = await startBench({ config, sandbox: "on" });
  await bench.credit("1000");
  books = ledgerReaderOf(bench.database);
});
afterAll(() => bench?.close());

const { created, refused } = taskHelpers(() => bench);
const native = taskHelpers(() => bench, "/v1/videos/generations");

/** The amounts of a task in nano-USD: held, and charged. */
async function amountsOf(body: object, helpers: Pick<typeof native, "created"> = { created }) {
  const { id } = await helpers.created({ prompt: "A boat", duration: 2, ...body });
  const { usage } = await bench.until(id, "succeeded");
  const { amount_nano: amount, held_nano: held } = (await books.entry(id))!;
  const { cost_nano: logged } = await books.logRow(id);
  expect(logged).toBe(amount);
  return { id, amount, held, usage };
}

describe("a video billed by the token, with a rate for silent ones", () => {
  const seedance = { model: "acme/seedance", resolution: "720p", aspect_ratio: "16:9" };

  it.each([
    ["with sound, if the call says nothing", {}, 2_400n],
    ["with sound", { audio: true }, 2_400n],
    ["without sound", { audio: false }, 1_200n],
  ])("BILL-03 BILL-19: costs the rate of one %s, and is held at it", async (_row, fields, rate) => {
    const { amount, held, usage } = await amountsOf({ ...seedance, ...fields });
    const tokens = BigInt(usage["output_video_tokens"]!);
    expect(tokens).toBeGreaterThan(0n);
    expect(amount).toBe(tokens * rate);
    expect(held % rate).toBe(0n);
    expect(held).toBeGreaterThanOrEqual(amount);
    expect(held).toBeLessThan(2n * amount);
  });

  it("BILL-19: costs the rate of its resolution, if there is one for each", async () => {
    const rateAt = async (fields: object) => {
      const { amount, usage } = await amountsOf({ model: "acme/seedance-2", ...fields });
      return amount / BigInt(usage["output_video_tokens"]!);
    };
    expect(await rateAt({ resolution: "720p", audio: false })).toBe(7_000n);
    expect(await rateAt({ resolution: "1080p" })).toBe(7_700n);
    expect(await rateAt({ resolution: "1080p", audio: false })).toBe(7_600n);
    const bare = { model: "acme/seedance-2", prompt: "A boat", duration: 2 };
    expect(await refused(bare)).toEqual({ status: 400, param: "resolution" });
  });
});

describe("a video billed by the second, with a rate for silent ones", () => {
  const flash = { model: "acme/flash", image: frame, resolution: "720p" };

  it("BILL-18 NVID-18: costs the rate of what was asked for, on both endpoints", async () => {
    expect(await amountsOf(flash)).toMatchObject({ amount: usd("0.1"), held: usd("0.1") });
    const silent = { amount: usd("0.05"), held: usd("0.05") };
    expect(await amountsOf({ ...flash, audio: false })).toMatchObject(silent);
    expect(await amountsOf({ ...flash, generate_audio: false }, native)).toMatchObject(silent);
    const single = { amount: usd("0.15"), held: usd("0.15") };
    expect(await amountsOf({ ...flash, resolution: "1080p", audio: false })).toMatchObject(single);
  });

  it("is made without sound by the vendor", async () => {
    await bench.received(/video-synthesis/);
    await amountsOf({ ...flash, audio: false });
    const [request] = await bench.received(/video-synthesis/);
    expect(request?.body).toMatchObject({ parameters: { audio: false } });
  });
});

describe("GET /v1/models", () => {
  it("MODELS-07 MODELS-08: lists the rates of videos by resolution and sound", async () => {
    const { data } = (await (await bench.get("/v1/models")).json()) as {
      data: { id: string; pricing: object[]; supported_parameters: Record<string, object> }[];
    };
    const of = (id: string) => data.find((model) => model.id === id)!;
    const rate = (price_usd: string, when: object) => ({
      billable: "output_video_tokens",
      unit: "million_tokens",
      price_usd,
      when,
    });
    expect(of("acme/seedance").pricing).toEqual([
      rate("2.4", { audio: "true" }),
      rate("1.2", { audio: "false" }),
    ]);
    expect(of("acme/seedance-2").pricing).toEqual([
      rate("7", { resolution: "720p" }),
      rate("7.7", { resolution: "1080p", audio: "true" }),
      rate("7.6", { resolution: "1080p", audio: "false" }),
    ]);
    expect(of("acme/seedance-2").supported_parameters["resolution"]).toEqual({
      type: "enum",
      values: ["720p", "1080p"],
    });
    expect(of("acme/flash").pricing.slice(0, 2)).toMatchObject([
      { billable: "output_video_seconds", when: { resolution: "720p", audio: "true" } },
      { price_usd: "0.025", when: { resolution: "720p", audio: "false" } },
    ]);
  });
});

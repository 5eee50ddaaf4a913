/** Calls at prices by the hour: each pays the price of the time of its admission, whatever the time of its answer. docs/models.md. */
import { expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { json } from "../support/recorder.ts";
import {
  answering,
  chatConfig,
  describeGateways,
  idOf,
  moveClock,
  talk,
  usageOf,
} from "./support.ts";

const price =
  'price: { input: "1", output: "2" }, price_hours: [{ hours_utc: ["01:00-04:00"], price: { input: "2", output: "4" } }]';
/** Also sold by `steady`, at one price between those of the first offer. */
const config = (url: string) =>
  chatConfig(url, price).replace(
    "models:",
    `  - { id: steady, dialect: openai-compatible, base_url: "${url}/steady", api_key: none }
models:
  - { id: acme/vectors, kind: embedding, context_length: 8192, offers: [{ provider: up, upstream_model: v,
      price: { input: "1" }, price_hours: [{ hours_utc: ["01:00-04:00"], price: { input: "2" } }] }] }
  - id: acme/shared
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers:
      - { provider: up, protocol: chat, upstream_model: shared-1, ${price} }
      - { provider: steady, protocol: chat, upstream_model: shared-1, price: { input: "1.5", output: "3" } }`,
  );
const clock = manualClock(Date.parse("2026-11-30T12:00:00Z"));
/** Times of the next day: each test has a day of its own, because time only goes forward here. */
function nextDay() {
  const midnight = Math.ceil(clock.now() / 86_400_000) * 86_400_000;
  const at = (time: string): number => midnight + Date.parse(`1970-01-01T${time}Z`);
  return { before: at("00:59:59"), during: at("01:00:00"), after: at("04:00:00") };
}
const usage = usageOf(1_000, 500);
const vectorsAnswer = json({
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: [0.1] }],
  usage: { prompt_tokens: 9, total_tokens: 9 },
});
const nano = 1_000n * 1_000n + 500n * 2_000n;

describeGateways("a price by the hour", { config, clock }, (bench) => {
  /** Makes a call at one time that its vendor answers at another one. */
  async function charged(admittedMs: number, answeredMs: number, stream: boolean) {
    await moveClock(bench(), clock, admittedMs);
    const answer = answering(usage);
    bench().up.answer(async (request, response) => {
      await moveClock(bench(), clock, answeredMs);
      await answer(request, response);
    });
    const response = await bench().post("/v1/chat/completions", talk({ stream, max_tokens: 500 }));
    await response.text();
    const id = idOf(response);
    const { cost_nano: logged } = await bench().logRow(id);
    const entry = await bench().entry(id);
    expect(logged).toBe(entry?.amount_nano);
    return { id, amount: entry?.amount_nano, held: entry?.held_nano };
  }

  it.each([false, true])(
    "BILL-01: is that of the call's admission, also if the answer comes in other hours (stream: %s)",
    async (stream) => {
      const { before, during, after } = nextDay();
      expect(await charged(before, during, stream)).toMatchObject({ amount: nano });
      expect(await charged(during, after, stream)).toMatchObject({ amount: 2n * nano });
      expect(await charged(after, after, stream)).toMatchObject({ amount: nano });
      await bench().expectClean();
    },
  );

  it("BILL-01: is that of the admission for embeddings too", async () => {
    const { before, during, after } = nextDay();
    const amountAt = async (admittedMs: number, answeredMs: number) => {
      await moveClock(bench(), clock, admittedMs);
      bench().up.answer(async (request, response) => {
        await moveClock(bench(), clock, answeredMs);
        await vectorsAnswer(request, response);
      });
      const response = await bench().post("/v1/embeddings", { model: "acme/vectors", input: "Hi" });
      await response.text();
      const id = idOf(response);
      const { cost_nano: logged } = await bench().logRow(id);
      expect(logged).toBe((await bench().entry(id))?.amount_nano);
      return logged;
    };
    expect(await amountAt(before, during)).toBe(9_000n);
    expect(await amountAt(during, after)).toBe(18_000n);
    expect(await amountAt(after, after)).toBe(9_000n);
  });

  it("T64: is reserved at the rates that it is charged at", async () => {
    const { before, during } = nextDay();
    const cheap = await charged(before, before, false);
    const dear = await charged(during, during, false);
    expect(cheap.held).toBeGreaterThan(0n);
    expect(dear.held).toBe(2n * cheap.held!);
    await bench().expectClean();
  });

  it("stays in the call's row: its lines have the rates of the admission", async () => {
    const { during, after } = nextDay();
    const { id } = await charged(during, after, false);
    const [row] = await bench().database.query<{ price: object }>(
      "select price from request_log where id = $1",
      [id],
    );
    expect(row?.price).toEqual({ input: "2000000000", output: "4000000000" });
  });

  it("ROUTE-03: `:@price` takes the offer that is cheaper at the time", async () => {
    const pathAt = async (ms: number): Promise<string> => {
      await moveClock(bench(), clock, ms);
      bench().up.answer(answering(usage));
      const body = { ...talk(), model: "acme/shared:@price" };
      await (await bench().post("/v1/chat/completions", body)).text();
      return bench().up.requests.at(-1)!.path;
    };
    const { before, during, after } = nextDay();
    expect(await pathAt(before)).toBe("/v1/chat/completions");
    expect(await pathAt(during)).toBe("/steady/chat/completions");
    expect(await pathAt(after)).toBe("/v1/chat/completions");
  });
});

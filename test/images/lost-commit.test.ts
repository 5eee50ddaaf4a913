// The commit that charges an image call succeeds, but its answer is lost because the connection breaks.
import { afterEach, expect, it, vi } from "vitest";
import { modelA, modelB, picture, prompted, startImages, type ImageBench } from "./support.ts";

let bench: ImageBench;
afterEach(async () => {
  vi.restoreAllMocks();
  await bench.close();
});

/** Loses the answer to the first commit that has a charge. */
function loseCharge(): { lost: number } {
  const { database } = bench;
  const transaction = database.transaction.bind(database);
  const seen = { lost: 0 };
  vi.spyOn(database, "transaction").mockImplementation(async (work, options) => {
    const value = await transaction(work, options);
    if ((value as { kind?: string } | undefined)?.kind === "charge") {
      seen.lost += 1;
      if (seen.lost === 1) throw new Error("Connection terminated unexpectedly");
    }
    return value;
  });
  return seen;
}

it("T67, EDIT2-35: an edit whose charge was committed is answered, and its picture is stored", async () => {
  bench = await startImages();
  const seen = loseCharge();
  const image = await picture();
  const answer = await bench.edit({ model: modelB, prompt: prompted() }, { image });
  expect(answer.status).toBe(200);
  expect(seen.lost).toBe(2);
  const { gw } = (await answer.json()) as {
    gw: { cost_nano: string; images: { url: string }[] };
  };
  expect((await bench.state()).chargedNano).toBe(BigInt(gw.cost_nano));
  const kept = await fetch(gw.images[0]!.url);
  expect(kept.status).toBe(200);
  const attempt: unknown = expect.objectContaining({
    outcome: "ok",
    started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  expect(await bench.database.query("select status, attempts from tasks")).toEqual([
    { status: "succeeded", attempts: [attempt] },
  ]);
});

it("T67: a generation whose charge was committed is repeated for its idempotency key", async () => {
  bench = await startImages();
  loseCharge();
  const fields = { model: modelA, prompt: prompted() };
  const first = await bench.generate(fields, { "idempotency-key": "one" });
  expect(first.status).toBe(200);
  const again = await bench.generate(fields, { "idempotency-key": "one" });
  expect([again.status, await again.text()]).toEqual([200, await first.text()]);
});

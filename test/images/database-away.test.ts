// The database is away for a moment during an image call: the call waits for it, and is not answered with an internal error.
import { afterEach, expect, it, vi } from "vitest";
import { modelA, modelB, picture, prompted, startImages, type ImageBench } from "./support.ts";

let bench: ImageBench;
afterEach(async () => {
  vi.restoreAllMocks();
  await bench.close();
});

/** Lets the first statement that matches, with its parameters, fail as if the connection broke. Returns how many have matched. */
function breakFirst(pattern: RegExp): () => number {
  const { database } = bench;
  const query = database.query.bind(database);
  let matched = 0;
  vi.spyOn(database, "query").mockImplementation(async (sql, params, options) => {
    if (pattern.test(`${sql} ${String(params)}`) && (matched += 1) === 1)
      throw new Error("Connection terminated unexpectedly");
    return query(sql, params, options);
  });
  return () => matched;
}

it("T67: a finished picture whose row cannot be written at once is not lost", async () => {
  bench = await startImages();
  const matched = breakFirst(/insert into files .*,result,/s);
  const image = await picture();
  const answer = await bench.edit({ model: modelB, prompt: prompted() }, { image });
  expect([answer.status, matched()]).toEqual([200, 3]);
  const { gw } = (await answer.json()) as { gw: { cost_nano: string } };
  expect((await bench.state()).chargedNano).toBe(BigInt(gw.cost_nano));
});

it("T68: an upload waits for the database", async () => {
  bench = await startImages();
  const matched = breakFirst(/insert into files .*,input,/s);
  const image = await picture();
  const answer = await bench.edit({ model: modelB, prompt: prompted() }, { image });
  expect([answer.status, matched()]).toEqual([200, 3]);
});

it("T68: the look-up of an idempotency key waits for the database", async () => {
  bench = await startImages();
  const matched = breakFirst(/from idempotency_keys/);
  const fields = { model: modelA, prompt: prompted() };
  const answer = await bench.generate(fields, { "idempotency-key": "one" });
  expect([answer.status, matched()]).toEqual([200, 2]);
});

it("T68: the report of a key's limits waits for the database", async () => {
  bench = await startImages();
  const matched = breakFirst(/ from api_keys where id = /);
  expect([(await bench.get("/v1/key")).status, matched()]).toEqual([200, 2]);
});

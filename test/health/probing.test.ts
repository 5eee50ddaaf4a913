/** A provider that is being probed: which other calls may go to it meanwhile. docs/routing.md. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { json, type Answer } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import {
  failing,
  hastyRules,
  takeRequestCounts,
  names,
  nodeEnvironment,
  startTrio,
  type Trio,
} from "./support.ts";

const options = { prices: { a: 1, b: 2, c: 3 }, models: 9, health: hastyRules };

let trio: Trio;
beforeAll(async () => {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  trio = await startTrio({ ...options, databaseUrl });
});
afterAll(() => trio.close());

let number = 0;
let model = "";
beforeEach(() => {
  number += 1;
  model = `acme/talk-${number}:@price`;
  for (const name of names) trio.up[name].answer(answering);
});

const limited = json({ error: { message: "slow down" } }, 429);

/** Makes provider `a` hold its answer until the returned function is called. */
function holdAnswer(answer: Answer) {
  const { promise, resolve } = Promise.withResolvers<void>();
  trio.up.a.answer(async (request, response) => {
    await promise;
    return answer(request, response);
  });
  return resolve;
}

/** Opens the circuit of provider `a`, waits until its pause is over, and sends the probe, which stays in flight. */
async function startProbe(answer: Answer) {
  trio.up.a.answer(failing);
  for (let count = 0; count < 5; count += 1) await (await trio.call({ model })).text();
  await eventually(async () => {
    const authorization = `Bearer ${nodeEnvironment.TOLLGATE_ADMIN_TOKEN}`;
    const providers = await trio.gateway.get("/admin/v1/providers", { authorization });
    return (await providers.text()).includes('"state":"due"');
  }, "the pause is over");
  takeRequestCounts(trio);
  const release = holdAnswer(answer);
  const probe = trio.call({ model });
  await eventually(() => trio.up.a.requests.length === 1, "the probe");
  return { probe, release };
}

const callsDuringProbe = (count: number) =>
  Promise.all(Array.from({ length: count }, () => trio.call({ model })));

describe("a provider that is being probed", () => {
  it("is not asked for calls that another provider answers", async () => {
    const { probe, release } = await startProbe(answering);
    expect((await callsDuringProbe(6)).map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200, 200,
    ]);
    expect(takeRequestCounts(trio)).toEqual({ a: 1, b: 6, c: 0 });
    release();
    expect((await probe).status).toBe(200);
  });

  it("answers calls that failed at all others", async () => {
    const { probe, release } = await startProbe(answering);
    for (const name of ["b", "c"] as const) trio.up[name].answer(limited);
    const calls = callsDuringProbe(6);
    await eventually(() => trio.up.a.requests.length === 7, "all of them asked it");
    release();
    for (const answer of await calls) {
      expect(answer.status).toBe(200);
      await answer.text();
      const asked = (await trio.row(answer)).attempts.map(({ provider }) => provider);
      expect(asked).toEqual(["b", "c", "a"]);
    }
    expect((await probe).status).toBe(200);
  });

  it("gets one pause, and no calls in it, if it fails all of them", async () => {
    const { probe, release } = await startProbe(failing);
    for (const name of ["b", "c"] as const) trio.up[name].answer(failing);
    // With the probe's own call each has four failures: the other circuits stay closed.
    const calls = callsDuringProbe(3);
    await eventually(() => trio.up.a.requests.length === 4, "all of them asked it");
    release();
    const statuses = [...(await calls), await probe].map(({ status }) => status);
    expect(statuses).toEqual([502, 502, 502, 502]);
    for (const name of ["b", "c"] as const) trio.up[name].answer(answering);
    takeRequestCounts(trio);
    expect((await callsDuringProbe(3)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(takeRequestCounts(trio).a).toBe(0);
  });
});

/** A task that is larger than an account's tokens a minute: the provider's other accounts are asked. docs/routing.md "Several credentials". */
import { expect, it } from "vitest";
import type { TaskServices } from "../../src/tasks/engine.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { jobOf, rowOf, useWorld, type World } from "./steps-support.ts";
import type { Reply } from "./support.ts";

const world = useWorld();

/** The gateway with several keys of the provider `one`. */
function withKeys({ services, catalog }: World, ids: readonly string[]): TaskServices {
  const one = catalog.providers.get("one")!;
  const credentials = ids.map((id) => ({ id, apiKey: `key-of-${id}`, weight: 1 }));
  const providers = new Map([...catalog.providers, ["one", { ...one, credentials }]]);
  return { ...services, catalog: () => ({ ...catalog, providers }) };
}

const tooLarge: Reply = (response) =>
  void response.writeHead(429, { "content-type": "application/json" }).end(
    JSON.stringify({
      error: {
        code: "rate_limit_exceeded",
        message: "Request too large for m on tokens per min (TPM): Limit 1, Requested 2.",
      },
    }),
  );

it("every credential is tried once before any is tried twice", async () => {
  const ids = ["a", "b", "c", "d", "e"];
  world.vendor.plan("POST", ...ids.map(() => tooLarge));
  const services = withKeys(world, ids);
  let job = await jobOf(world, "acme/clip");
  for (let steps = 0; steps < ids.length; steps += 1) {
    await submitStep(services, job);
    await world.database.query("update tasks set lease_token = 'mine' where id = $1", [job.id]);
    job = await rowOf(world, job.id);
  }
  expect(job.attempts.map(({ credential }) => credential).toSorted()).toEqual(ids);
  expect(new Set(world.vendor.calls("POST").map(({ headers }) => headers.authorization)).size).toBe(
    ids.length,
  );
});

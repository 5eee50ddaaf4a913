/** A runner that is told to stop while it looks for due tasks. docs/tasks.md. */
import { expect, it } from "vitest";
import { startRunner } from "../../src/tasks/runner.ts";
import { jobOf, rowOf, useWorld } from "./steps-support.ts";

const world = useWorld();

it.each([
  ["that a look finds later", "tasks_due"],
  ["that it claims just then", "tasks_claim"],
])(
  "a stopped runner begins no step of tasks %s, so that other gateways take them",
  async (_what, name) => {
    const job = await jobOf(world, "acme/clip", { lease_token: null });
    const { database } = world;
    const found = Promise.withResolvers<void>();
    const query = (async (sql: string, values: unknown[], options?: { name?: string }) => {
      const asked = database.query<{ id: string }>(sql, values, options);
      if (options?.name !== name) return asked;
      const rows = await asked;
      if (rows.some(({ id }) => id === job.id)) {
        runner.stopSteps();
        found.resolve();
      }
      return rows;
    }) as typeof database.query;
    const runner = startRunner({ ...world.services, database: { ...database, query } });
    await found.promise;
    await runner.idle();
    expect(world.vendor.calls("POST")).toEqual([]);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "queued", leaseToken: null });
    await runner.close();
  },
);

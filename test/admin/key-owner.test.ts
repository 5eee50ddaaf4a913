/** The owner of a new key is looked up: only an unknown one is the caller's mistake. */
import { expect, it } from "vitest";
import { callDirectly } from "../../src/http/admin/direct.ts";
import { keyRoutes } from "../../src/http/admin/keys.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { AdminServices } from "../../src/http/services.ts";
import { silentLog } from "../support/postgres.ts";

/** Makes a key for a member, on a database that answers the lookup of the member so. */
function makeKeyFor(members: () => Promise<object[]>) {
  const query = (sql: string): Promise<object[]> =>
    sql.includes("from members") ? members() : Promise.resolve([{ id: "w" }]);
  const database = { query, transaction: (work: (tx: object) => unknown) => work({ query }) };
  const catalog = () => ({ providers: new Map(), models: new Map() });
  const services = { database, clock: systemClock, catalog } as unknown as AdminServices;
  const body = { workspace_id: "w", name: "ci", user_id: "user_a" };
  const call = { method: "POST", path: "/keys", body } as const;
  return callDirectly({ routes: keyRoutes, services, log: silentLog }, call);
}

it("a database that fails during the lookup is reported as such, and not as an unknown member", async () => {
  const lost = Object.assign(new Error("terminating connection"), { code: "57P01" });
  await expect(makeKeyFor(() => Promise.reject(lost))).rejects.toBe(lost);
  await expect(makeKeyFor(() => Promise.resolve([]))).rejects.toMatchObject({
    code: "invalid_value",
    param: "user_id",
  });
});

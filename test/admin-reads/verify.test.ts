/** `verify` over the management API, by those who may ask for it, audited. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { tamper } from "../ledger/support.ts";
import { eventually } from "../support/patience.ts";
import { startWorld, type World } from "./support.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const { key } = await world.keyOf(world.mem, world.home.id);
  await world.chat(key);
});
afterAll(() => world.gateway.close());

const result = () =>
  eventually(async () => {
    const { json } = await world.root.call("GET", "/verify");
    return json.state !== "running" && json;
  }, "the check has ended");

it("was never asked for at first; then it finds nothing, and what was changed behind its back", async () => {
  expect((await world.root.call("GET", "/verify")).json).toMatchObject({
    state: "never",
    started_at: null,
    differences: [],
  });
  const begun = await world.root.call("POST", "/verify", {});
  expect(begun.status).toBe(202);
  expect(["running", "done"]).toContain(begun.json.state);
  expect(await result()).toMatchObject({ state: "done", differences_count: 0, differences: [] });
  await tamper(
    world.gateway.database,
    "update ledger_accounts set credits_nano = credits_nano + 1500000000 where workspace_id = $1",
    [world.home.id],
  );
  await world.root.call("POST", "/verify", {});
  const { differences, entries } = await result();
  expect(entries).toBeGreaterThan(2);
  expect(differences).toEqual([
    { workspace_id: world.home.id, what: "account credits", recorded: "51.5", computed: "50" },
  ]);
  const { json: audit } = await world.root.call("GET", "/audit?action=ledger.verify");
  expect(audit.data.length).toBe(2);
  expect(audit.data[0]).toMatchObject({ actor: { name: world.root.email } });
});

it("is nothing for workspace admins and members", async () => {
  for (const who of [world.ann, world.mem])
    for (const method of ["GET", "POST"]) {
      const { status, json } = await who.call(
        method,
        "/verify",
        method === "POST" ? {} : undefined,
      );
      expect({ status, code: json.error.code }).toEqual({
        status: 403,
        code: "insufficient_permissions",
      });
    }
});

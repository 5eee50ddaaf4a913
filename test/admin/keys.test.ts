/** API keys over the management API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAdminGateway, type AdminGateway } from "./support.ts";

describe("keys", () => {
  let gateway: AdminGateway;
  beforeAll(async () => {
    gateway = await startAdminGateway();
  });
  afterAll(() => gateway.close());

  it("KEY-18: a key is created, listed, read, changed, disabled, enabled, rotated, revealed and revoked", async () => {
    const made = await gateway.admin("POST", "/keys", {
      workspace_id: gateway.workspaceId,
      name: "ci",
      spend_caps: { total: "25.00" },
    });
    expect(made.json).toMatchObject({ name: "ci", status: "active" });
    expect(made.status).toBe(201);
    const { id, key } = made.json;
    expect(key).toMatch(/^gw_live_/);
    const read = await gateway.admin("GET", `/keys/${id}`);
    expect(read.json).toMatchObject({ id, spend_caps: { total: "25", daily: null } });
    expect(read.text).not.toContain(key);
    const { data } = (await gateway.admin("GET", "/keys?status=active")).json;
    expect(data.map((one: { id: string }) => one.id)).toContain(id);
    const renamed = await gateway.admin("PATCH", `/keys/${id}`, { name: "renamed" });
    expect(renamed.json).toMatchObject({ id, name: "renamed", created_by: "admin_token" });
    const shown = await gateway.admin("POST", `/keys/${id}/reveal`);
    expect(shown.json.key).toBe(key);
    const calls = async (value: string) =>
      (await gateway.get("/v1/key", { authorization: `Bearer ${value}` })).status;
    for (const [move, status, answer] of [
      ["disable", "disabled", 401],
      ["enable", "active", 200],
    ] as const) {
      const moved = await gateway.admin("POST", `/keys/${id}/${move}`);
      expect(moved.json).toMatchObject({ id, status });
      expect(await calls(key)).toBe(answer);
    }
    const rotated = await gateway.admin("POST", `/keys/${id}/rotate`, { grace_seconds: 60 });
    expect([await calls(key), await calls(rotated.json.key)]).toEqual([200, 200]);
    const revoked = await gateway.admin("POST", `/keys/${id}/revoke`);
    expect(revoked.json).toMatchObject({ id, status: "revoked" });
    expect([await calls(key), await calls(rotated.json.key)]).toEqual([401, 401]);
    const back = await gateway.admin("POST", `/keys/${id}/enable`);
    expect([back.status, back.json.error.code]).toEqual([409, "conflict"]);
  });

  it("KEY-03 KEY-06: a key without a name is refused, and each key shows its creator", async () => {
    for (const name of [undefined, "", "   "]) {
      const body = { workspace_id: gateway.workspaceId, name };
      const refused = await gateway.admin("POST", "/keys", body);
      expect(refused.json.error).toMatchObject({
        code: "missing_required_parameter",
        param: "name",
      });
      expect(refused.status).toBe(400);
    }
    const { data } = (await gateway.admin("GET", "/keys")).json;
    for (const { created_by } of data) expect(created_by).toMatch(/^(user_\w+|admin_token)$/);
  });

  it("routing with an unknown word, tier, provider or field is refused, and so is a body that is not an object", async () => {
    const { id } = (
      await gateway.admin("POST", "/keys", { workspace_id: gateway.workspaceId, name: "routed" })
    ).json;
    const wrong: [routing: object, code: string, param: string][] = [
      [{ mode: "strict" }, "invalid_value", "routing.mode"],
      [{ sort: "cheapest" }, "invalid_value", "routing.sort"],
      [{ supply_tiers: ["gold"] }, "invalid_value", "routing.supply_tiers.0"],
      [{ pinned_providers: ["nobody"] }, "invalid_value", "routing.pinned_providers"],
      [{ preferred_providers: ["nobody"] }, "invalid_value", "routing.preferred_providers"],
      [{ pinned: [] }, "unknown_parameter", "routing.pinned"],
    ];
    for (const [routing, code, param] of wrong) {
      const { status, json } = await gateway.admin("PATCH", `/keys/${id}`, { routing });
      expect({ status, code: json.error.code, param: json.error.param }).toEqual({
        status: 400,
        code,
        param,
      });
    }
    const list = await gateway.admin("PATCH", `/keys/${id}`, []);
    expect(list.json.error.code).toBe("invalid_json");
  });

  it("ROUTE-08 T78: routing that names a removed provider can be sent back unchanged at every layer; it cannot be newly set", async () => {
    const { json: organization } = await gateway.admin("POST", "/organizations", {
      name: "Of old",
    });
    const { json: workspace } = await gateway.admin("POST", "/workspaces", {
      name: "Of old",
      organization_id: organization.id,
    });
    const { json: key } = await gateway.admin("POST", "/keys", {
      workspace_id: workspace.id,
      name: "of old",
    });
    const pinned = ["gone", "sandbox-openai"];
    const kept = { ...key.routing, mode: "custom", pinned_providers: pinned };
    for (const [table, path] of [
      ["organizations", `/organizations/${organization.id}`],
      ["workspaces", `/workspaces/${workspace.id}`],
      ["api_keys", `/keys/${key.id}`],
    ] as const) {
      // As stored when the configuration still had the provider.
      const { id } = (await gateway.admin("GET", path)).json;
      await gateway.database.query(`update ${table} set routing = $2::jsonb where id = $1`, [
        id,
        JSON.stringify(kept),
      ]);
      const { json: read } = await gateway.admin("GET", path);
      expect(read.routing).toEqual(kept);
      const same = await gateway.admin("PATCH", path, { routing: read.routing });
      expect([path, same.status, same.json.routing]).toEqual([path, 200, kept]);
      const more = { pinned_providers: [...pinned, "sandbox-google"] };
      const added = await gateway.admin("PATCH", path, { routing: more });
      expect([path, added.status, added.json.routing]).toMatchObject([path, 200, more]);
      const wrong = await gateway.admin("PATCH", path, {
        routing: { preferred_providers: ["gone"] },
      });
      expect([path, wrong.status, wrong.json.error.param]).toEqual([
        path,
        400,
        "routing.preferred_providers",
      ]);
    }
    const asked = { key_id: key.id, model: "sandbox/chat", routing: { pinned_providers: pinned } };
    expect((await gateway.admin("POST", "/routing/preview", asked)).status).toBe(200);
  });
});

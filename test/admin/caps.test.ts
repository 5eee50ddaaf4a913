/** Which roles set which spend caps, and that the caps hold. Requirements: CAP; docs/management.md. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMember, startWorld, type Person, type World } from "./people.ts";
import type { Answer } from "./support.ts";

const chat = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };

describe("spend caps", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    const path = `/workspaces/${world.home.id}/credits`;
    world.must(await world.gateway.admin("POST", path, { amount: "10" }));
  });
  afterAll(() => world.gateway.close());

  const codeOf = (answer: Answer) => [answer.status, answer.json.error?.code];
  const refused = [403, "insufficient_permissions"];
  const setCaps = (person: Person, path: string, caps: object | null) =>
    person.call("PATCH", path, { spend_caps: caps });

  async function newKey(person: Person, caps?: object): Promise<{ id: string; key: string }> {
    const body = { workspace_id: world.home.id, name: "capped", spend_caps: caps };
    return world.must(await person.call("POST", "/keys", body));
  }

  const callWith = async (key: string): Promise<unknown> => {
    const answer = await world.gateway.post("/v1/chat/completions", chat, {
      authorization: `Bearer ${key}`,
    });
    const body = (await answer.json()) as { error?: { code: string } };
    return body.error?.code ?? answer.status;
  };

  it("CAP-10: an organization admin sets the caps of a workspace; other users are refused, with the rest of their change", async () => {
    const path = `/workspaces/${world.home.id}`;
    const set = world.must(await setCaps(world.root, path, { monthly: "500.00" }));
    expect(set.spend_caps).toMatchObject({ monthly: "500", total: null, hard: false });
    for (const caps of [
      { monthly: "1" },
      { monthly: null },
      { total: "1" },
      { hard: true },
      null,
    ]) {
      expect(codeOf(await setCaps(world.ann, path, caps))).toEqual(refused);
      expect(codeOf(await setCaps(world.mem, path, caps))).toEqual(refused);
    }
    const both = await world.ann.call("PATCH", path, { name: "x", spend_caps: { total: "1" } });
    expect(codeOf(both)).toEqual(refused);
    const { name, spend_caps } = world.must(await world.root.call("GET", path));
    expect([name, spend_caps.monthly]).toEqual(["home", "500"]);
  });

  it("CAP-11: a personal workspace takes no caps, neither at creation nor later", async () => {
    const made = await world.root.call("POST", "/workspaces", {
      name: "mine",
      spend_caps: { total: "5" },
    });
    expect(codeOf(made)).toEqual([400, "unsupported_parameter"]);
    expect(made.json.error.param).toBe("spend_caps");
    const { id, organization_id } = world.must(
      await world.root.call("POST", "/workspaces", { name: "mine" }),
    );
    expect(organization_id).toBeNull();
    const path = `/workspaces/${id}`;
    expect(codeOf(await setCaps(world.root, path, { total: "5" }))).toEqual([
      400,
      "unsupported_parameter",
    ]);
    expect(world.must(await world.root.call("GET", path)).spend_caps.total).toBeNull();
    expect((await setCaps(world.root, path, { total: null })).status).toBe(200);
  });

  it("CAP-12: a workspace admin sets a member's caps; members set neither their own nor another's", async () => {
    const of = (person: Person) => `/workspaces/${world.home.id}/members/${person.userId}`;
    expect(
      world.must(await setCaps(world.ann, of(world.mel), { daily: "3" })).spend_caps.daily,
    ).toBe("3");
    expect(codeOf(await setCaps(world.mel, of(world.mel), { daily: "2" }))).toEqual(refused);
    expect(codeOf(await setCaps(world.mem, of(world.mel), { daily: "2" }))).toEqual([
      404,
      "not_found",
    ]);
    expect(codeOf(await world.mel.call("PATCH", of(world.mel), { role: "admin" }))).toEqual(
      refused,
    );
  });

  it("CAP-13: the owner of a key may lower its caps, set new ones and make them hard", async () => {
    const { id } = await newKey(world.mem, { total: "10" });
    for (const caps of [{ total: "9.5" }, { daily: "1" }, { daily: "0" }, { hard: true }]) {
      const changed = await setCaps(world.mem, `/keys/${id}`, caps);
      expect(changed.status).toBe(200);
      expect(changed.json.spend_caps).toMatchObject(caps);
    }
  });

  it("CAP-14: raising, clearing or softening a key's caps takes a workspace admin, even if the change also lowers other caps", async () => {
    const { id } = await newKey(world.mem, { total: "10", daily: "2", hard: true });
    const path = `/keys/${id}`;
    const loosened = [
      { total: "10.000000001" },
      { total: null },
      { hard: false },
      { total: "1", daily: "3" },
      { total: "1", daily: null },
      null,
    ];
    for (const caps of loosened) {
      expect(codeOf(await setCaps(world.mem, path, caps))).toEqual(refused);
    }
    const kept = world.must(await world.mem.call("GET", path)).spend_caps;
    expect(kept).toEqual({ total: "10", daily: "2", weekly: null, monthly: null, hard: true });
    for (const caps of loosened) expect((await setCaps(world.ann, path, caps)).status).toBe(200);
  });

  it("a workspace admin sets up to five alert thresholds, sorted; null restores the default, and other values are refused", async () => {
    const path = `/workspaces/${world.home.id}`;
    const set = (alert_thresholds: unknown, by = world.ann) =>
      by.call("PATCH", path, { alert_thresholds });
    expect(world.must(await world.ann.call("GET", path)).alert_thresholds).toEqual([50, 80, 100]);
    expect(world.must(await set([90, 25, 90])).alert_thresholds).toEqual([25, 90]);
    expect(world.must(await set([])).alert_thresholds).toEqual([]);
    for (const wrong of [[0], [101], [1.5], ["50"], [1, 2, 3, 4, 5, 6], 50]) {
      const { status, json } = await set(wrong);
      expect([wrong, status, json.error.param]).toEqual([
        wrong,
        400,
        expect.stringMatching(/^alert_thresholds/),
      ]);
    }
    expect(codeOf(await set([10], world.mem))).toEqual(refused);
    expect(world.must(await set(null)).alert_thresholds).toEqual([50, 80, 100]);
    const { data } = world.must(await world.ann.call("GET", `/audit?subject_id=${world.home.id}`));
    expect(data[0]).toMatchObject({ action: "workspace.change", before: { alert_thresholds: [] } });
  });

  it("a workspace admin sets low_balance_alert to an amount from 0 up, or to null; credit above it re-arms the alert", async () => {
    const path = `/workspaces/${world.home.id}`;
    const { database } = world.gateway;
    const set = (low_balance_alert: unknown, by = world.ann) =>
      by.call("PATCH", path, { low_balance_alert });
    expect(world.must(await world.ann.call("GET", path)).low_balance_alert).toBeNull();
    for (const [amount, kept] of [
      ["20.50", "20.5"],
      ["0", "0"],
    ])
      expect(world.must(await set(amount)).low_balance_alert).toBe(kept);
    for (const wrong of ["-1", "x", "1e3", "", 5, "9999999999", "0.0000000001"]) {
      const { status, json } = await set(wrong);
      expect([wrong, status, json.error.param]).toEqual([wrong, 400, "low_balance_alert"]);
    }
    expect(codeOf(await set("5", world.mem))).toEqual(refused);
    world.must(await set("1000"));
    await database.query("insert into low_balances values ($1, 1000000000000, 0, now())", [
      world.home.id,
    ]);
    const reportedAlerts = async () => (await database.query("select 1 from low_balances")).length;
    const credit = async (amount: string) =>
      world.must(await world.root.call("POST", `${path}/credits`, { amount }));
    await credit("1");
    expect(await reportedAlerts()).toBe(1);
    await credit("2000");
    expect(await reportedAlerts()).toBe(0);
    await credit("-2001");
    expect(world.must(await set(null)).low_balance_alert).toBeNull();
  });

  it("T70: caps set over the management API apply from the next call, in every layer", async () => {
    const { id, key } = await newKey(world.mel, { total: "0" });
    const member = `/workspaces/${world.home.id}/members/${world.mel.userId}`;
    const workspace = `/workspaces/${world.home.id}`;
    expect(await callWith(key)).toBe("key_total_spend_cap_reached");
    await setCaps(world.ann, `/keys/${id}`, { total: null, weekly: "0" });
    expect(await callWith(key)).toBe("key_weekly_spend_cap_reached");
    await setCaps(world.ann, `/keys/${id}`, null);
    await setCaps(world.ann, member, null);
    expect(await callWith(key)).toBe(200);
    await setCaps(world.ann, member, { monthly: "0" });
    expect(await callWith(key)).toBe("member_monthly_spend_cap_reached");
    await setCaps(world.ann, member, { monthly: null });
    await setCaps(world.root, workspace, { daily: "0" });
    expect(await callWith(key)).toBe("workspace_daily_spend_cap_reached");
    await setCaps(world.root, workspace, null);
    expect(await callWith(key)).toBe(200);
  });

  it("T70: a member who is removed leaves no working key in the workspace", async () => {
    const path = `/workspaces/${world.home.id}/members`;
    const guest = await newMember(world.gateway, world.home.id, {
      email: "guest@example.com",
      role: "member",
    });
    await setCaps(world.ann, `${path}/${guest.userId}`, { total: "0.01" });
    const { id, key } = await newKey(guest);
    expect(await callWith(key)).toBe(200);
    const removed = world.must(await world.ann.call("DELETE", `${path}/${guest.userId}`));
    expect(removed).toEqual({
      object: "member",
      user_id: guest.userId,
      deleted: true,
      disabled_keys: [id],
    });
    expect(await callWith(key)).toBe("api_key_disabled");
    expect((await guest.call("GET", `/keys/${id}`)).status).toBe(404);
    expect((await guest.call("POST", `/keys/${id}/enable`)).status).toBe(404);
  });

  it("T71: a misspelled cap, a number, or a negative or too precise amount is refused, and valid caps are stored exactly", async () => {
    const { id } = await newKey(world.mem, { total: "1" });
    const wrong: [body: object, code: string, param: string][] = [
      [{ spend_cap: { total: "5" } }, "unknown_parameter", "spend_cap"],
      [{ spend_caps: { totals: "5" } }, "unknown_parameter", "spend_caps.totals"],
      [{ spend_caps: { total: 5 } }, "invalid_type", "spend_caps.total"],
      [{ spend_caps: { total: "-5" } }, "invalid_value", "spend_caps.total"],
      [{ spend_caps: { total: "0.0000000001" } }, "invalid_value", "spend_caps.total"],
      [{ spend_caps: { total: "1e3" } }, "invalid_value", "spend_caps.total"],
    ];
    for (const [body, code, param] of wrong) {
      const { status, json } = await world.mem.call("PATCH", `/keys/${id}`, body);
      expect({ status, code: json.error.code, param: json.error.param }).toEqual({
        status: 400,
        code,
        param,
      });
    }
    const before = world.must(await world.mem.call("GET", `/keys/${id}`)).spend_caps;
    expect(before).toMatchObject({ total: "1", daily: null, hard: false });
    const caps = {
      total: "0.123456789",
      daily: "0",
      weekly: "1",
      monthly: "9000000000",
      hard: true,
    };
    const saved = world.must(await setCaps(world.ann, `/keys/${id}`, caps));
    expect(saved.spend_caps).toEqual(caps);
    expect(world.must(await world.mem.call("GET", `/keys/${id}`)).spend_caps).toEqual(caps);
  });
});

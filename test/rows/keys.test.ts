/** Keys in calls: their records, and that each change applies to the next call. KEY rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readSpend } from "../../src/admin/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import {
  changeKey,
  createUser,
  enableKey,
  revealKey,
  revokeKey,
  type KeyPatch,
} from "../../src/tenancy/index.ts";
import { errorCode } from "./endpoints.ts";
import { chat, eachProtocol } from "./protocols.ts";
import { answering, costAtFirstNano, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const context = () => ({
  database: world.gateway.database,
  clock: systemClock,
  secrets: world.secrets,
});
const ownView = async (key: string) =>
  (await (await world.gateway.get("/v1/key", { authorization: `Bearer ${key}` })).json()) as Record<
    string,
    unknown
  >;
/** The status of one call, with the code of its error. */
async function tryCall(key: string, model = chat.model): Promise<string> {
  const answer = await world.call(chat, { key, model });
  const text = await answer.text();
  return answer.status === 200 ? "200" : `${answer.status} ${errorCode(text)}`;
}

describe("a key's record", () => {
  it("KEY-03 KEY-16 KEY-17: `GET /v1/key` shows the documented fields and the creator, never the key itself", async () => {
    const user = await createUser(context(), {
      email: "ada@example.org",
      name: "Ada",
      role: "user",
    });
    const { key, record } = await world.makeKey({
      name: "ci",
      createdBy: user.id,
      spendCaps: { totalNano: 10n ** 9n },
      modelAllowlist: ["acme/chat"],
    });
    await tryCall(key, "acme/chat:first");
    const text = JSON.stringify(await ownView(key));
    expect(text).not.toContain(key);
    expect(key.slice(0, 12)).toBe(record.prefix);
    const nothing = { daily: null, weekly: null, monthly: null };
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    expect(JSON.parse(text)).toEqual({
      id: record.id,
      object: "api_key",
      name: "ci",
      status: "active",
      key_prefix: record.prefix,
      key_last4: key.slice(-4),
      revealable: true,
      workspace_id: world.gateway.workspaceId,
      created_by: user.id,
      created_at: time,
      updated_at: time,
      last_used_at: expect.toSatisfy(
        (value) => value === null || typeof value === "string",
      ) as null,
      revoked_at: null,
      expires_at: null,
      spend_caps: { total: "1", ...nothing, hard: false },
      spend: { total: "0.000264", daily: "0.000264", weekly: "0.000264", monthly: "0.000264" },
      remaining: { total: "0.999736", ...nothing },
      resets_at: { daily: time, weekly: time, monthly: time },
      model_allowlist: ["acme/chat"],
      routing: {
        mode: "follow",
        sort: null,
        supply_tiers: [],
        pinned_providers: [],
        preferred_providers: [],
      },
      allow_request_override: false,
      rate_limits: null,
      response_cache: null,
    });
  });

  it("KEY-04: a key can be shown in full again, and the shown key works", async () => {
    const { key, record } = await world.makeKey();
    const shown = await revealKey(context(), { id: record.id });
    expect(shown.key).toBe(key);
    expect(await tryCall(shown.key)).toBe("200");
  });

  it("KEY-05: a legacy key shows only its prefix and cannot be revealed, and its calls still work", async () => {
    const { key, record } = await world.makeKey();
    await world.gateway.database.query("update api_keys set ciphertext = null where id = $1", [
      record.id,
    ]);
    await expect(revealKey(context(), { id: record.id })).rejects.toMatchObject({ status: 409 });
    expect(await tryCall(key)).toBe("200");
    expect(await ownView(key)).toMatchObject({ revealable: false, key_prefix: record.prefix });
  });

  it("KEY-06: a key without a name is refused", async () => {
    for (const name of ["", "   "]) {
      await expect(world.makeKey({ name })).rejects.toMatchObject({ status: 400 });
    }
  });
});

describe("a change of a key", () => {
  const changes: readonly (readonly [string, KeyPatch, string, string])[] = [
    ["total cap", { spendCaps: { totalNano: 0n } }, chat.model, "402 key_total_spend_cap_reached"],
    ["daily cap", { spendCaps: { dailyNano: 0n } }, chat.model, "402 key_daily_spend_cap_reached"],
    [
      "weekly cap",
      { spendCaps: { weeklyNano: 0n } },
      chat.model,
      "402 key_weekly_spend_cap_reached",
    ],
    [
      "monthly cap",
      { spendCaps: { monthlyNano: 0n } },
      chat.model,
      "402 key_monthly_spend_cap_reached",
    ],
    ["model allowlist", { modelAllowlist: ["acme/messages"] }, chat.model, "403 model_not_allowed"],
    [
      "routing",
      { routing: { mode: "custom", pinnedProviders: ["second"] } },
      "acme/chat:first",
      "400 provider_not_found",
    ],
    [
      "routing locks the strategy",
      { routing: { mode: "custom", sort: "price" } },
      "acme/chat:@price",
      "400 routing_locked",
    ],
    ["expiry", { expiresAt: new Date(Date.now() - 1000) }, chat.model, "401 api_key_expired"],
  ];
  it.each(changes)("KEY-07: applies to the next call: %s", async (_what, patch, model, refused) => {
    const { key, record } = await world.makeKey();
    expect(await tryCall(key, model)).toBe("200");
    await changeKey(context(), { id: record.id }, patch);
    expect(await tryCall(key, model)).toBe(refused);
    // Undo the patch.
    await changeKey(
      context(),
      { id: record.id },
      { spendCaps: null, modelAllowlist: null, routing: null, expiresAt: null },
    );
    expect(await tryCall(key, model)).toBe("200");
  });

  it("KEY-07: the override flag lifts the lock, and a new name is shown", async () => {
    const { key, record } = await world.makeKey({ routing: { mode: "custom", sort: "price" } });
    expect(await tryCall(key, "acme/chat:@price")).toBe("400 routing_locked");
    await changeKey(context(), { id: record.id }, { allowRequestOverride: true, name: "renamed" });
    expect(await tryCall(key, "acme/chat:@price")).toBe("200");
    expect(await ownView(key)).toMatchObject({ name: "renamed", allow_request_override: true });
  });
});

describe("a revoked key", () => {
  it.each(eachProtocol)(
    "KEY-11 KEY-12 KEY-13: later calls fail for good, and earlier charges stay (%s)",
    async (_name, protocol) => {
      const { key, record } = await world.makeKey();
      const before = await world.charged();
      const model = `${protocol.model}:first`;
      expect((await world.call(protocol, { key, model })).status).toBe(200);
      await revokeKey(context(), { id: record.id });
      expect((await world.call(protocol, { key, model })).status).toBe(401);
      await expect(enableKey(context(), { id: record.id })).rejects.toMatchObject({ status: 409 });
      expect((await world.call(protocol, { key, model })).status).toBe(401);
      expect((await world.charged()) - before).toBe(costAtFirstNano);
      const spend = await readSpend(world.gateway.database, world.gateway.workspaceId, {
        layer: "key",
        id: record.id,
      });
      expect(spend.total).toBe(costAtFirstNano);
    },
  );
});

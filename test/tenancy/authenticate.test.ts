import { beforeAll, expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import {
  addMember,
  changeKey,
  changeOrganization,
  changeWorkspace,
  createUser,
  createWorkspace,
  disableKey,
  enableKey,
  getKey,
  readCredential,
  revokeKey,
  type Authenticator,
} from "../../src/tenancy/index.ts";
import { generateKey, parseKey } from "../../src/tenancy/key-format.ts";
import { describeDatabase } from "../support/postgres.ts";
import { createTenant, refusal, until, type Tenant } from "./support.ts";

/** The same database, counting its look-ups of keys. */
function counting(database: Database): { database: Database; count: () => number } {
  let lookups = 0;
  const query: Database["query"] = (sql, params, options) => {
    if (sql.includes("k.lookup = $1")) lookups += 1;
    return database.query(sql, params, options);
  };
  return { database: { ...database, query }, count: () => lookups };
}

describeDatabase("authentication", (open) => {
  let tenant: Tenant;
  let authenticator: Authenticator;
  let lookups: () => number;
  beforeAll(async () => {
    tenant = await createTenant(await open());
    const counted = counting(tenant.database);
    lookups = counted.count;
    authenticator = tenant.newAuthenticator(counted.database);
    await until(() => tenant.database.signals.healthy());
  });

  /** The number of look-ups that a piece of work causes. */
  async function lookupsOf(work: () => Promise<unknown>): Promise<number> {
    const before = lookups();
    await work();
    return lookups() - before;
  }

  it("a key gives its caller: key, workspace, organization, member and limits", async () => {
    const { record, key } = await tenant.newKey({
      createdBy: "user_7",
      rateLimits: { requestsPerMinute: 5 },
      modelAllowlist: ["acme/talk"],
    });
    const credential = readCredential({ authorization: `Bearer ${key}` });
    expect(await authenticator.authenticate(credential)).toMatchObject({
      keyId: record.id,
      workspaceId: tenant.workspace.id,
      organizationId: tenant.organization.id,
      memberId: "user_7",
      expiresAt: null,
      limits: [
        {
          scope: "key",
          limits: { requestsPerMinute: 5, tokensPerMinute: null, concurrency: null },
        },
      ],
      key: { modelAllowlist: ["acme/talk"] },
    });
    const personal = await createWorkspace(tenant, { name: "Own", organizationId: null });
    const own = await tenant.newKey({ workspaceId: personal.id });
    expect(await authenticator.authenticate(own.key)).toMatchObject({
      workspaceId: personal.id,
      organizationId: null,
      organization: null,
    });
  });

  it("LIM-17: a key has the rate limits of its own member, in that member's workspace only", async () => {
    const other = await createWorkspace(tenant, { name: "Other", organizationId: null });
    const members: string[] = [];
    for (const concurrency of [3, 4]) {
      const email = `limit${concurrency}@example.com`;
      const { id: userId } = await createUser(tenant, {
        email,
        name: email,
        role: "user",
        hash: "x",
      });
      const member = { userId, role: "member", rateLimits: { concurrency } } as const;
      await addMember(tenant, { ...member, workspaceId: tenant.workspace.id });
      members.push(userId);
    }
    const limitsOf = async (createdBy: string, workspaceId = tenant.workspace.id) => {
      const { key } = await tenant.newKey({ createdBy, workspaceId });
      const { limits } = await authenticator.authenticate(key);
      return limits.map(({ scope, id, limits: { concurrency } }) => [scope, id, concurrency]);
    };
    const [three, four] = members as [string, string];
    expect(await limitsOf(three)).toEqual([["member", three, 3]]);
    expect(await limitsOf(four)).toEqual([["member", four, 4]]);
    expect(await limitsOf("nobody")).toEqual([]);
    expect(await limitsOf(four, other.id)).toEqual([]);
  });

  it("AUTH-03: an unknown key is refused, and a mistyped one without a database query", async () => {
    const { key } = await tenant.newKey();
    const unknown = generateKey();
    const typo = key.slice(0, -1) + (key.endsWith("a") ? "b" : "a");
    const asked = await lookupsOf(async () => {
      expect(await refusal(authenticator.authenticate(typo))).toBe("invalid_api_key");
      expect(await refusal(authenticator.authenticate("sk-something"))).toBe("invalid_api_key");
      expect(await refusal(authenticator.authenticate(""))).toBe("invalid_api_key");
    });
    expect(asked).toBe(0);
    expect(await lookupsOf(() => refusal(authenticator.authenticate(unknown)))).toBe(1);
  });

  it("a key that was unknown a moment ago works as soon as it exists", async () => {
    const key = generateKey();
    expect(await refusal(authenticator.authenticate(key))).toBe("invalid_api_key");
    const hint = parseKey(key)!;
    await tenant.database.query(
      `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4) values ($1, 'key_late', 'late', $2, $3, $4)`,
      [tenant.workspace.id, tenant.secrets.lookup(key), hint.prefix, hint.last4],
    );
    expect((await authenticator.authenticate(key)).keyId).toBe("key_late");
  });

  it("concurrent requests share one lookup, later ones use the cache, and `fresh` always looks up", async () => {
    const { key } = await tenant.newKey();
    const burst = () =>
      Promise.all(Array.from({ length: 100 }, () => authenticator.authenticate(key)));
    expect(await lookupsOf(burst)).toBe(1);
    expect(await lookupsOf(burst)).toBe(0);
    expect(await lookupsOf(() => authenticator.authenticate(key, { fresh: true }))).toBe(1);
    const fresh = () => authenticator.authenticate(key, { fresh: true });
    expect(await lookupsOf(() => Promise.all([fresh(), fresh(), fresh()]))).toBe(3);
    expect(await lookupsOf(burst)).toBe(0);
    // A change by hand in SQL sends no signal; the gateway notices it within a minute.
    tenant.clock.advance(60_000);
    expect(await lookupsOf(burst)).toBe(1);
    tenant.clock.advance(-120_000);
    expect(await lookupsOf(burst)).toBe(1);
    tenant.clock.advance(120_000);
  });

  it("KEY-10 KEY-11 T73: a change of a key applies to the next request, cached or not", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { record, key } = await tenant.newKey();
      const call = () => authenticator.authenticate(key);
      const reference = { id: record.id };
      await call();
      expect(await lookupsOf(call)).toBe(0);
      await disableKey(tenant, reference);
      expect(await refusal(call())).toBe("api_key_disabled");
      expect(await refusal(call())).toBe("api_key_disabled");
      await enableKey(tenant, reference);
      expect((await call()).keyId).toBe(record.id);
      await changeKey(tenant, reference, { modelAllowlist: ["acme/talk"] });
      expect((await call()).key.modelAllowlist).toEqual(["acme/talk"]);
      await revokeKey(tenant, reference);
      expect(await refusal(call())).toBe("api_key_revoked");
      expect(await refusal(enableKey(tenant, reference))).toBe("conflict");
      expect(await refusal(call())).toBe("api_key_revoked");
    }
  });

  it("a change of the workspace or the organization applies to the next request", async () => {
    const { key } = await tenant.newKey();
    const call = () => authenticator.authenticate(key);
    await call();
    await changeOrganization(tenant, tenant.organization.id, { modelAllowlist: ["a/b"] });
    expect((await call()).organization?.modelAllowlist).toEqual(["a/b"]);
    await changeWorkspace(tenant, tenant.workspace.id, { routing: { mode: "custom" } });
    expect((await call()).workspace.routing.mode).toBe("custom");
    await changeWorkspace(tenant, tenant.workspace.id, { status: "disabled" });
    await expect(call()).rejects.toMatchObject({ code: "workspace_disabled", status: 403 });
    await changeWorkspace(tenant, tenant.workspace.id, { status: "active" });
    await call();
  });

  it("a cached key is refused from its expiry date on", async () => {
    const expiresAt = new Date(tenant.clock.now() + 10_000);
    const { key } = await tenant.newKey({ expiresAt });
    const call = () => authenticator.authenticate(key);
    await call();
    tenant.clock.advance(9_999);
    await call();
    tenant.clock.advance(1);
    expect(await refusal(call())).toBe("api_key_expired");
    expect(await refusal(authenticator.authenticate(key, { fresh: true }))).toBe("api_key_expired");
  });

  it("the cache has a size limit, and drops the entry unused for longest", async () => {
    const counted = counting(tenant.database);
    const small = tenant.newAuthenticator(counted.database, 2);
    const [one, two, three] = await Promise.all([
      tenant.newKey(),
      tenant.newKey(),
      tenant.newKey(),
    ]);
    const asks = async (key: string) => {
      const before = counted.count();
      await small.authenticate(key);
      return counted.count() - before;
    };
    expect([await asks(one.key), await asks(two.key), await asks(one.key)]).toEqual([1, 1, 0]);
    expect([await asks(three.key), await asks(one.key), await asks(two.key)]).toEqual([1, 0, 1]);
    await small.close();
  });

  it("T73: a lookup that a change overtook is neither cached nor shared", async () => {
    const { record, key } = await tenant.newKey();
    // The real answer, delayed: read before the change, delivered after it.
    let reached = () => undefined as void;
    let release = () => undefined as void;
    const arrived = new Promise<void>((resolve) => (reached = resolve));
    const gate = new Promise<void>((resolve) => (release = resolve));
    let first = true;
    const query: Database["query"] = async (sql, params, options) => {
      const rows = await tenant.database.query(sql, params, options);
      if (sql.includes("k.lookup = $1") && first) {
        first = false;
        reached();
        await gate;
      }
      return rows as never;
    };
    const slow = tenant.newAuthenticator({ ...tenant.database, query });
    const overtaken = slow.authenticate(key);
    await arrived;
    await revokeKey(tenant, { id: record.id });
    // A request that starts after the change does not wait for the old look-up.
    expect(await refusal(slow.authenticate(key))).toBe("api_key_revoked");
    release();
    // This one began before the change; the ledger will still refuse its reservation.
    expect((await overtaken).keyId).toBe(record.id);
    expect(await refusal(slow.authenticate(key))).toBe("api_key_revoked");
    await slow.close();
  });

  it("writes last_used_at in batches, at most once a minute per key", async () => {
    const own = tenant.newAuthenticator();
    const keys = await Promise.all([1, 2, 3].map(() => tenant.newKey()));
    const lastUsed = async (index: number) => {
      const { lastUsedAt } = await getKey(tenant, { id: keys[index]!.record.id });
      return lastUsedAt?.getTime() ?? null;
    };
    const firstUse = tenant.clock.now();
    for (const { key } of keys.slice(0, 2)) await own.authenticate(key);
    await until(async () => (await lastUsed(0)) !== null);
    expect([await lastUsed(0), await lastUsed(1), await lastUsed(2)]).toEqual([
      firstUse,
      firstUse,
      null,
    ]);
    tenant.clock.advance(59_999);
    await own.authenticate(keys[0]!.key);
    await own.authenticate(keys[2]!.key);
    await until(async () => (await lastUsed(2)) !== null);
    expect(await lastUsed(0)).toBe(firstUse);
    tenant.clock.advance(1);
    await own.authenticate(keys[0]!.key);
    await own.authenticate(keys[1]!.key);
    // Closing writes the pending updates.
    await own.close();
    expect([await lastUsed(0), await lastUsed(1)]).toEqual([firstUse + 60_000, firstUse + 60_000]);
    // A use does not count as a change of the key.
    expect((await getKey(tenant, { id: keys[0]!.record.id })).updatedAt).toEqual(
      keys[0]!.record.updatedAt,
    );
  });
});

/** Temporary values of a key: what they open, what ends them, and that only the gateway can make one. */
import { randomBytes } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import {
  changeKey,
  changeWorkspace,
  createWorkspace,
  disableKey,
  enableKey,
  issueTemporary,
  revokeKey,
  rotateKey,
  type Authenticator,
} from "../../src/tenancy/index.ts";
import { deriveSecrets } from "../support/secrets.ts";
import { readTemporary, signTemporary } from "../../src/tenancy/temporary-key.ts";
import { describeDatabase } from "../support/postgres.ts";
import { createTenant, refusal, until, type Tenant } from "./support.ts";

describeDatabase("temporary values of a key", (open) => {
  let tenant: Tenant;
  let authenticator: Authenticator;
  let asked = 0;
  beforeAll(async () => {
    tenant = await createTenant(await open());
    const { database } = tenant;
    const query: Database["query"] = (sql, params, options) => {
      if (sql.includes("from api_keys k join workspaces")) asked += 1;
      return database.query(sql, params, options);
    };
    authenticator = tenant.newAuthenticator({ ...database, query });
    await until(() => database.signals.healthy());
  });

  const refused = (key: string) => refusal(authenticator.authenticate(key));
  const issue = (id: string, seconds = 900) => issueTemporary(tenant, { id }, seconds);
  /** A value that the test signs itself, with any expiry. */
  const signed = (keyId: string, leftMs: number, rotation = 0) =>
    signTemporary(tenant.secrets, { keyId, rotation, expiresAtMs: Date.now() + leftMs });

  it("has the caller of its key, is looked up once, and expires by the database's clock", async () => {
    const { record, key } = await tenant.newKey({ modelAllowlist: ["acme/talk"] });
    const own = await authenticator.authenticate(key);
    const issued = await issue(record.id);
    expect(issued.key).toMatch(/^gw_temp_key_/);
    expect(issued.key).not.toContain(key.slice(8, 20));
    // The database's clock applies, not that of the process, which is set to another day here.
    expect(Math.abs(issued.expiresAt.getTime() - Date.now() - 900_000)).toBeLessThan(30_000);
    const { expiresAt, ...caller } = await authenticator.authenticate(issued.key);
    expect({ ...caller, expiresAt: null, endOf: undefined }).toEqual(own);
    expect(expiresAt!.getTime() - tenant.clock.now()).toBeGreaterThan(850_000);
    const before = asked;
    for (let call = 0; call < 20; call += 1) await authenticator.authenticate(issued.key);
    expect(authenticator.known(issued.key)?.keyId).toBe(record.id);
    expect(asked).toBe(before);

    const short = signed(record.id, 30_000);
    await authenticator.authenticate(short);
    tenant.clock.advance(30_000);
    expect(() => authenticator.known(short)).toThrow("expired");
    tenant.clock.advance(-30_000);
    expect(await refused(signed(record.id, -1))).toBe("api_key_expired");
  });

  it("cannot be made or altered without the master key, and forged values cause no database query", async () => {
    const { record } = await tenant.newKey();
    const other = await tenant.newKey();
    const { key } = await issue(record.id, 60);
    const value = readTemporary(tenant.secrets, key)!;
    const stranger = deriveSecrets(randomBytes(32));
    const mac = key.slice(-43);
    const forged = [
      signTemporary(stranger, value),
      // The parts of a genuine one, with one field changed and its signature kept.
      key.replace(record.id, other.record.id),
      key.replace(`_${value.rotation}_`, `_${value.rotation + 1}_`),
      key.replace(`_${value.rotation}_`, `_0${value.rotation}_`),
      key.replace(String(value.expiresAtMs), String(value.expiresAtMs + 1)),
      key.replace(record.id, `${record.id}_0`),
      // The lookup value is an HMAC too, but with another secret.
      `gw_temp_${record.id}_0_${value.expiresAtMs}_${tenant.secrets.lookup(key).toString("hex").slice(0, 43)}`,
      key + mac,
      `${key} `,
      key.toUpperCase(),
      `gw_temp_${"a".repeat(480)}`,
      `gw_temp_key_${"9".repeat(400)}_${mac}`,
      ...Array.from(key, (_, length) => key.slice(0, length)),
      ...Array.from(
        key,
        (sign, at) => key.slice(0, at) + (sign === "a" ? "b" : "a") + key.slice(at + 1),
      ),
    ];
    const before = asked;
    for (const text of forged)
      expect({ text, code: await refused(text) }).toEqual({ text, code: "invalid_api_key" });
    expect(asked).toBe(before);
    expect((await authenticator.authenticate(key)).keyId).toBe(record.id);
  });

  it("KEY-11 T73: ends at once with its key or workspace, cached or not, and works again only with its key", async () => {
    const moves = [
      ["api_key_disabled", disableKey],
      ["api_key_revoked", revokeKey],
      [
        "api_key_expired",
        (_, { id }) => changeKey(tenant, { id }, { expiresAt: new Date(tenant.clock.now()) }),
      ],
      ["api_key_expired", (_, { id }) => rotateKey(tenant, { id })],
      [
        "workspace_disabled",
        (_, { workspaceId }) => changeWorkspace(tenant, workspaceId, { status: "disabled" }),
      ],
    ] as readonly [
      string,
      (context: Tenant, key: { id: string; workspaceId: string }) => Promise<unknown>,
    ][];
    for (const [code, move] of moves) {
      const { id: workspaceId } = await createWorkspace(tenant, {
        name: "One",
        organizationId: null,
      });
      const { record } = await tenant.newKey({ workspaceId });
      const [cached, fresh] = [await issue(record.id), await issue(record.id, 600)];
      await authenticator.authenticate(cached.key);
      await move(tenant, record);
      expect([await refused(cached.key), await refused(fresh.key)]).toEqual([code, code]);
    }
    const { record } = await tenant.newKey();
    const { key } = await issue(record.id);
    await disableKey(tenant, { id: record.id });
    expect(await refused(key)).toBe("api_key_disabled");
    await enableKey(tenant, { id: record.id });
    expect((await authenticator.authenticate(key)).keyId).toBe(record.id);
  });

  it("works during the grace period of a rotation, and no longer", async () => {
    const { record } = await tenant.newKey();
    const { key } = await issue(record.id);
    await rotateKey(tenant, { id: record.id }, { graceSeconds: 20 });
    expect(await authenticator.authenticate(key)).toMatchObject({
      keyRotation: 0,
      expiresAt: new Date(tenant.clock.now() + 20_000),
    });
    const second = await issue(record.id);
    expect((await authenticator.authenticate(second.key)).keyRotation).toBe(1);
    tenant.clock.advance(20_000);
    expect(await refused(key)).toBe("api_key_expired");
    // Signed by the test for a rotation that never was, or is two rotations old.
    expect(await refused(signed(record.id, 60_000, 2))).toBe("invalid_api_key");
    await rotateKey(tenant, { id: record.id }, { graceSeconds: 20 });
    expect(await refused(key)).toBe("invalid_api_key");
    expect((await authenticator.authenticate(second.key)).keyRotation).toBe(1);
    expect(await refused(signed("key_00000000000000000000000000", 60_000))).toBe("invalid_api_key");
  });

  it("is limited to 15 minutes, and is refused for a key that does not work or is in another workspace", async () => {
    const { record } = await tenant.newKey();
    const conflict = (state: string) =>
      expect(issue(record.id)).rejects.toMatchObject({
        code: "conflict",
        message: `The API key is ${state}, so no value of it can work.`,
      });
    for (const seconds of [0, -1, 901, 1.5, Number.NaN])
      expect(await refusal(issue(record.id, seconds))).toBe("invalid_value");
    const foreign = issueTemporary(tenant, { id: record.id, workspaceId: "ws_other" }, 60);
    expect(await refusal(foreign)).toBe("not_found");
    const soon = new Date(Date.now() + 60_000);
    await changeKey(tenant, { id: record.id }, { expiresAt: soon });
    expect((await issue(record.id)).expiresAt).toEqual(soon);
    await changeKey(tenant, { id: record.id }, { expiresAt: new Date(Date.now() - 1) });
    await conflict("expired");
    await changeKey(tenant, { id: record.id }, { expiresAt: null });
    await disableKey(tenant, { id: record.id });
    await conflict("disabled");
    await revokeKey(tenant, { id: record.id });
    await conflict("revoked");
  });
});

import { beforeAll, expect, it } from "vitest";
import { disableKey, enableKey, getKey, revokeKey } from "../../src/tenancy/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { createTenant, refusal, type Tenant } from "./support.ts";

const transitions = { disable: disableKey, enable: enableKey, revoke: revokeKey };

describeDatabase("states of an API key", (open) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await createTenant(await open());
  });

  /** A key in a state, reached by the real transitions. */
  async function keyIn(status: "active" | "disabled" | "revoked") {
    const created = await tenant.newKey();
    const reference = { id: created.record.id };
    if (status === "disabled") await disableKey(tenant, reference);
    if (status === "revoked") await revokeKey(tenant, reference);
    const before = await getKey(tenant, reference);
    tenant.clock.advance(1_000);
    return { key: created.key, reference, before };
  }

  /** The result of a call with the key: "works", or the refusal's code. */
  async function callWith(key: string): Promise<string> {
    const authenticator = tenant.newAuthenticator();
    const outcome = await authenticator.authenticate(key).then(
      () => "works",
      (error: { code: string; status: number }) => `${error.status} ${error.code}`,
    );
    await authenticator.close();
    return outcome;
  }

  it.each([
    ["active", "disable", "disabled", "401 api_key_disabled"],
    ["active", "revoke", "revoked", "401 api_key_revoked"],
    ["disabled", "enable", "active", "works"],
    ["disabled", "revoke", "revoked", "401 api_key_revoked"],
  ] as const)(
    "KEY-08 KEY-10: %s, then %s: the key is %s, and a call gives: %s",
    async (from, move, to, call) => {
      const { key, reference, before } = await keyIn(from);
      const after = await transitions[move](tenant, reference);
      const now = new Date(tenant.clock.now());
      const revokedAt = to === "revoked" ? now : null;
      expect(after).toEqual({ ...before, status: to, updatedAt: now, revokedAt });
      expect(await getKey(tenant, reference)).toEqual(after);
      expect(await callWith(key)).toBe(call);
    },
  );

  it.each([
    ["active", "enable", "works"],
    ["disabled", "disable", "401 api_key_disabled"],
    ["revoked", "revoke", "401 api_key_revoked"],
  ] as const)(
    "%s, then %s: nothing changes, not even a time, and a call gives: %s",
    async (from, move, call) => {
      const { key, reference, before } = await keyIn(from);
      expect(await transitions[move](tenant, reference)).toEqual(before);
      expect(await getKey(tenant, reference)).toEqual(before);
      expect(await callWith(key)).toBe(call);
    },
  );

  it.each(["enable", "disable"] as const)(
    "KEY-12: a revoked key cannot be changed by: %s",
    async (move) => {
      const { key, reference, before } = await keyIn("revoked");
      expect(await refusal(transitions[move](tenant, reference))).toBe("conflict");
      expect(await getKey(tenant, reference)).toEqual(before);
      expect(await callWith(key)).toBe("401 api_key_revoked");
    },
  );

  it("KEY-12: revoking wins over enabling at the same time", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { reference } = await keyIn("disabled");
      const enabling = [1, 2, 3].map(() => enableKey(tenant, reference).catch(() => undefined));
      await Promise.all([revokeKey(tenant, reference), ...enabling]);
      expect((await getKey(tenant, reference)).status).toBe("revoked");
    }
  });
});

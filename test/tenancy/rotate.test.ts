/** Rotation: a new value for a key, a grace period for the old one, and no gateway that trusts a stale cache. */
import { beforeAll, expect, it } from "vitest";
import { graceSecondsMax } from "../../src/base/management.ts";
import {
  changeKey,
  disableKey,
  getKey,
  revealKey,
  revokeKey,
  rotateKey,
  type Authenticator,
  type Caller,
} from "../../src/tenancy/index.ts";
import { parseKey } from "../../src/tenancy/key-format.ts";
import { OpenCalls } from "../ledger/open-calls.ts";
import { setLedgerClock } from "../ledger/support.ts";
import { describeDatabase } from "../support/postgres.ts";
import { createTenant, insertLegacyKey, refusal, until, type Tenant } from "./support.ts";
import { createLedger } from "../support/ledger.ts";

describeDatabase("rotation of an API key", (open) => {
  let tenant: Tenant;
  let authenticator: Authenticator;
  let calls: OpenCalls;
  let call = 0;
  beforeAll(async () => {
    tenant = await createTenant(await open());
    authenticator = tenant.newAuthenticator();
    const ledger = createLedger(tenant.database);
    calls = new OpenCalls(ledger);
    await advance(0);
    await ledger.credit({
      workspaceId: tenant.workspace.id,
      amountNano: 1_000_000_000n,
      reference: "start",
    });
    await until(() => tenant.database.signals.healthy());
  });

  /** The result of a call with the key: its caller's record id, or the refusal's code. */
  const outcomeOf = (key: string): Promise<string> =>
    authenticator.authenticate(key).then(
      (caller) => caller.keyId,
      (error: { code: string; status: number }) => `${error.status} ${error.code}`,
    );

  /** Moves all clocks; the ledger's earlier checks are not trusted afterwards. */
  async function advance(ms: number): Promise<void> {
    tenant.clock.advance(ms);
    await setLedgerClock(tenant.database, new Date(tenant.clock.now()).toISOString());
    await tenant.database.signals.confirmedEverywhere();
  }

  async function reserveAs(caller: Caller): Promise<string> {
    call += 1;
    return calls.begin({
      id: `call_${call}`,
      workspaceId: caller.workspaceId,
      keyId: caller.keyId,
      keyRotation: caller.keyRotation,
      amountNano: 1_000n,
    });
  }

  it("changes only the value, and revealing shows the new value", async () => {
    const made = await tenant.newKey({ spendCaps: { totalNano: 5n }, modelAllowlist: ["acme/a"] });
    await advance(1_000);
    const { record, key } = await rotateKey(tenant, { id: made.record.id });
    const hint = parseKey(key)!;
    expect(key).not.toBe(made.key);
    expect(record).toEqual({
      ...made.record,
      prefix: hint.prefix,
      last4: hint.last4,
      updatedAt: new Date(tenant.clock.now()),
    });
    expect(await getKey(tenant, { id: record.id })).toEqual(record);
    expect((await revealKey(tenant, { id: record.id })).key).toBe(key);
  });

  it("without a grace period the old value is refused on the next request, even if cached", async () => {
    const { record, key } = await tenant.newKey();
    expect(await outcomeOf(key)).toBe(record.id);
    const rotated = await rotateKey(tenant, { id: record.id });
    expect(await outcomeOf(key)).toBe("401 api_key_expired");
    expect(await outcomeOf(rotated.key)).toBe(record.id);
  });

  it("with a grace period both values work until its end, to the millisecond, cached or not", async () => {
    const { record, key } = await tenant.newKey();
    const rotated = await rotateKey(tenant, { id: record.id }, { graceSeconds: 60 });
    const old = await authenticator.authenticate(key);
    const current = await authenticator.authenticate(rotated.key);
    expect({ ...old, expiresAt: null, endOf: undefined, keyRotation: 1 }).toEqual(current);
    expect(await Promise.all([reserveAs(old), reserveAs(current)])).toEqual([
      "reserved",
      "reserved",
    ]);
    await advance(59_999);
    expect(await outcomeOf(key)).toBe(record.id);
    expect(await reserveAs(old)).toBe("reserved");
    await advance(1);
    expect(await outcomeOf(key)).toBe("401 api_key_expired");
    expect(await reserveAs(old)).toBe("key_unknown");
    expect(await outcomeOf(rotated.key)).toBe(record.id);
    expect(await reserveAs(current)).toBe("reserved");
  });

  it("the refusal of an old value says that the key was rotated, unless the key itself has expired", async () => {
    const { record, key } = await tenant.newKey();
    await rotateKey(tenant, { id: record.id });
    const refusal = () => authenticator.authenticate(key).catch(({ message }: Error) => message);
    expect(await refusal()).toMatch(
      /^The API key was rotated; this earlier value of it ended at \S+Z\. Use its current value\.$/,
    );
    await changeKey(tenant, { id: record.id }, { expiresAt: new Date(1) });
    expect(await refusal()).toMatch(/^The API key expired at 1970/);
  });

  it("both values share one record and one spend cap", async () => {
    const { record, key } = await tenant.newKey({ spendCaps: { totalNano: 1_000n } });
    const old = await authenticator.authenticate(key);
    await reserveAs(old);
    await calls.end(`call_${call}`, 1_000n);
    const rotated = await rotateKey(tenant, { id: record.id }, { graceSeconds: 60 });
    const callers = [
      await authenticator.authenticate(key),
      await authenticator.authenticate(rotated.key),
    ];
    for (const caller of callers) expect(await reserveAs(caller)).toBe("cap_reached");
  });

  it("T73: the ledger refuses a caller with a replaced value, whatever the node's cache says", async () => {
    const { record, key } = await tenant.newKey();
    const other = await tenant.newKey();
    const stale = await authenticator.authenticate(key);
    const bystander = await authenticator.authenticate(other.key);
    const rotated = await rotateKey(tenant, { id: record.id });
    const current = await authenticator.authenticate(rotated.key);
    // In one batch: the refusal of one must not affect the others.
    const outcomes = await Promise.all(
      [bystander, stale, current, stale, bystander].map((caller) => reserveAs(caller)),
    );
    expect(outcomes).toEqual(["reserved", "key_unknown", "reserved", "key_unknown", "reserved"]);
  });

  it("a second rotation ends the grace period of the first", async () => {
    const { record, key } = await tenant.newKey();
    const first = await authenticator.authenticate(key);
    const second = await rotateKey(tenant, { id: record.id }, { graceSeconds: 600 });
    expect(await outcomeOf(key)).toBe(record.id);
    const third = await rotateKey(tenant, { id: record.id }, { graceSeconds: 600 });
    expect(await outcomeOf(key)).toBe("401 invalid_api_key");
    expect(await reserveAs(first)).toBe("key_unknown");
    expect(await outcomeOf(second.key)).toBe(record.id);
    expect(await outcomeOf(third.key)).toBe(record.id);
  });

  it("an expiry date before the end of the grace period applies to both values", async () => {
    const expiresAt = new Date(tenant.clock.now() + 10_000);
    const { record, key } = await tenant.newKey({ expiresAt });
    const rotated = await rotateKey(tenant, { id: record.id }, { graceSeconds: 60 });
    await advance(10_000);
    expect(await outcomeOf(key)).toBe("401 api_key_expired");
    expect(await outcomeOf(rotated.key)).toBe("401 api_key_expired");
  });

  it("KEY-09 KEY-11: disabling and revoking stop both values, and a disabled key stays disabled", async () => {
    const { record, key } = await tenant.newKey();
    const rotated = await rotateKey(tenant, { id: record.id }, { graceSeconds: 600 });
    await disableKey(tenant, { id: record.id });
    for (const value of [key, rotated.key])
      expect(await outcomeOf(value)).toBe("401 api_key_disabled");
    const again = await rotateKey(tenant, { id: record.id }, { graceSeconds: 600 });
    expect(again.record.status).toBe("disabled");
    await revokeKey(tenant, { id: record.id });
    for (const value of [rotated.key, again.key])
      expect(await outcomeOf(value)).toBe("401 api_key_revoked");
    expect(await refusal(rotateKey(tenant, { id: record.id }))).toBe("conflict");
  });

  it("KEY-05: a legacy key can be revealed after its first rotation", async () => {
    const legacy = await insertLegacyKey(tenant);
    const { record, key } = await rotateKey(
      tenant,
      { id: "key_legacy", workspaceId: tenant.workspace.id },
      { graceSeconds: 60 },
    );
    expect(record.revealable).toBe(true);
    expect((await revealKey(tenant, { id: "key_legacy" })).key).toBe(key);
    expect(await outcomeOf(legacy)).toBe("key_legacy");
  });

  it("concurrent rotations and changes all succeed, and one value is the current one", async () => {
    const { record } = await tenant.newKey();
    const reference = { id: record.id };
    const [first, second, changed] = await Promise.all([
      rotateKey(tenant, reference, { graceSeconds: 60 }),
      rotateKey(tenant, reference, { graceSeconds: 60 }),
      changeKey(tenant, reference, { name: "renamed" }),
    ]);
    expect(changed.name).toBe("renamed");
    expect((await getKey(tenant, reference)).name).toBe("renamed");
    const revealed = await revealKey(tenant, reference);
    expect([first.key, second.key]).toContain(revealed.key);
    expect(await outcomeOf(first.key)).toBe(record.id);
    expect(await outcomeOf(second.key)).toBe(record.id);
  });

  it.each([-1, 1.5, Number.NaN, graceSecondsMax + 1])(
    "a grace period of %s is refused",
    async (grace) => {
      const { record } = await tenant.newKey();
      const rotation = rotateKey(tenant, { id: record.id }, { graceSeconds: grace });
      expect(await refusal(rotation)).toBe("invalid_value");
    },
  );

  it("a key of another workspace is not found", async () => {
    const { record } = await tenant.newKey();
    const rotation = rotateKey(tenant, { id: record.id, workspaceId: "ws_other" });
    expect(await refusal(rotation)).toBe("not_found");
  });
});

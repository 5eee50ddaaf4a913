import { inspect } from "node:util";
import { beforeAll, expect, it } from "vitest";
import {
  changeKey,
  createWorkspace,
  disableKey,
  getKey,
  listKeys,
  revealKey,
  revokeKey,
  type KeyPatch,
  type KeyRecord,
} from "../../src/tenancy/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { createTenant, insertLegacyKey, refusal, startMs, type Tenant } from "./support.ts";

const fullPatch = {
  name: "renamed",
  spendCaps: {
    totalNano: 100_000_000_000n,
    monthlyNano: 50_000_000_000n,
    weeklyNano: 20_000_000_000n,
    dailyNano: 0n,
    hard: true,
  },
  modelAllowlist: ["acme/talk", "no-longer/known"],
  routing: {
    mode: "custom",
    sort: "price",
    supplyTiers: ["official", "partner"],
    pinnedProviders: ["a", "b"],
    preferredProviders: ["b"],
  },
  allowRequestOverride: true,
  rateLimits: { requestsPerMinute: 60, tokensPerMinute: 100_000, concurrency: 9 },
  expiresAt: new Date("2027-01-01T00:00:00.000Z"),
} as const satisfies KeyPatch;

/** The fields a patch can change, as plain data. */
const settings = (record: KeyRecord) => ({
  name: record.name,
  spendCaps: record.spendCaps,
  modelAllowlist: record.modelAllowlist,
  routing: record.routing,
  allowRequestOverride: record.allowRequestOverride,
  rateLimits: record.rateLimits,
  expiresAt: record.expiresAt,
});

const plainSettings = {
  name: "test key",
  spendCaps: { totalNano: null, monthlyNano: null, weeklyNano: null, dailyNano: null, hard: false },
  modelAllowlist: [],
  routing: {
    mode: "follow",
    sort: null,
    supplyTiers: [],
    pinnedProviders: [],
    preferredProviders: [],
  },
  allowRequestOverride: false,
  rateLimits: null,
  expiresAt: null,
};

/** One row per field and kind of change: a patch to a key with everything set, and the expected result. */
const patches: [string, KeyPatch, object][] = [
  ["nothing", {}, {}],
  ["name", { name: " new " }, { name: "new" }],
  ...(["totalNano", "monthlyNano", "weeklyNano", "dailyNano"] as const).flatMap(
    (cap): [string, KeyPatch, object][] => [
      [
        `spend cap ${cap} raised`,
        { spendCaps: { [cap]: 123n } },
        { spendCaps: { ...fullPatch.spendCaps, [cap]: 123n } },
      ],
      [
        `spend cap ${cap} cleared`,
        { spendCaps: { [cap]: null } },
        { spendCaps: { ...fullPatch.spendCaps, [cap]: null } },
      ],
    ],
  ),
  ["hard", { spendCaps: { hard: false } }, { spendCaps: { ...fullPatch.spendCaps, hard: false } }],
  ["all spend caps cleared", { spendCaps: null }, { spendCaps: plainSettings.spendCaps }],
  ["allowlist replaced", { modelAllowlist: ["x/y", "x/y"] }, { modelAllowlist: ["x/y"] }],
  ["allowlist emptied", { modelAllowlist: [] }, { modelAllowlist: [] }],
  ["allowlist cleared", { modelAllowlist: null }, { modelAllowlist: [] }],
  [
    "routing mode",
    { routing: { mode: "follow" } },
    { routing: { ...fullPatch.routing, mode: "follow" } },
  ],
  [
    "sort",
    { routing: { sort: "latency" } },
    { routing: { ...fullPatch.routing, sort: "latency" } },
  ],
  ["sort cleared", { routing: { sort: null } }, { routing: { ...fullPatch.routing, sort: null } }],
  [
    "tiers",
    { routing: { supplyTiers: ["community"] } },
    { routing: { ...fullPatch.routing, supplyTiers: ["community"] } },
  ],
  [
    "pins emptied",
    { routing: { pinnedProviders: [] } },
    { routing: { ...fullPatch.routing, pinnedProviders: [] } },
  ],
  [
    "preferred",
    { routing: { preferredProviders: ["a", "c"] } },
    { routing: { ...fullPatch.routing, preferredProviders: ["a", "c"] } },
  ],
  [
    "routing mode, with what is kept",
    { routing: { ...fullPatch.routing, mode: "follow" } },
    { routing: { ...fullPatch.routing, mode: "follow" } },
  ],
  ["routing cleared", { routing: null }, { routing: plainSettings.routing }],
  ["override off", { allowRequestOverride: false }, { allowRequestOverride: false }],
  [
    "one rate limit cleared",
    { rateLimits: { tokensPerMinute: null } },
    { rateLimits: { requestsPerMinute: 60, tokensPerMinute: null, concurrency: 9 } },
  ],
  ["rate limits cleared", { rateLimits: null }, { rateLimits: null }],
  [
    "expiry",
    { expiresAt: new Date("2026-12-01T00:00:00.500Z") },
    { expiresAt: new Date("2026-12-01T00:00:00.500Z") },
  ],
  ["expiry cleared", { expiresAt: null }, { expiresAt: null }],
];

const badPatches: [string, KeyPatch][] = [
  ["spend_caps.daily", { spendCaps: { dailyNano: -1n } }],
  ["spend_caps.total", { spendCaps: { totalNano: 2n ** 63n } }],
  ["routing.sort", { routing: { sort: "cheapest" as "price" } }],
  ["routing.mode", { routing: { mode: "own" as "custom" } }],
  ["routing.supply_tiers", { routing: { supplyTiers: ["free" as "community"] } }],
  ["routing.pinned_providers", { routing: { pinnedProviders: [""] } }],
  ["model_allowlist", { modelAllowlist: "acme/talk" as unknown as string[] }],
  ["rate_limits.requests_per_minute", { rateLimits: { requestsPerMinute: 0 } }],
  ["rate_limits.tokens_per_minute", { rateLimits: { tokensPerMinute: 1.5 } }],
  ["rate_limits.concurrency", { rateLimits: { concurrency: -1 } }],
  ["expires_at", { expiresAt: new Date("never") }],
  ["name", { name: "n".repeat(201) }],
];

describeDatabase("API keys", (open) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await createTenant(await open());
  });

  it("KEY-02 KEY-03: a new key is active, belongs to its workspace only, and records its creator", async () => {
    const { record, key } = await tenant.newKey({ createdBy: "user_9" });
    expect(record).toMatchObject({
      workspaceId: tenant.workspace.id,
      createdBy: "user_9",
      status: "active",
      prefix: key.slice(0, 12),
      last4: key.slice(-4),
      revealable: true,
      lastUsedAt: null,
      revokedAt: null,
      createdAt: new Date(startMs),
    });
    expect(settings(record)).toEqual(plainSettings);
    expect(await getKey(tenant, { id: record.id })).toEqual(record);
    const foreign = await createWorkspace(tenant, { name: "Foreign", organizationId: null });
    const foreignReference = { id: record.id, workspaceId: foreign.id };
    expect(await refusal(getKey(tenant, foreignReference))).toBe("not_found");
    expect(await refusal(revealKey(tenant, foreignReference))).toBe("not_found");
    expect(await refusal(revokeKey(tenant, foreignReference))).toBe("not_found");
    expect(await refusal(changeKey(tenant, foreignReference, { name: "mine" }))).toBe("not_found");
    expect((await getKey(tenant, { id: record.id })).status).toBe("active");
    expect(await refusal(tenant.newKey({ workspaceId: "ws_none" }))).toBe("not_found");
  });

  it("KEY-04: a key can be revealed in every state, unchanged since its creation", async () => {
    const { record, key } = await tenant.newKey();
    const reference = { id: record.id };
    expect(await revealKey(tenant, reference)).toEqual({ record, key });
    await disableKey(tenant, reference);
    expect((await revealKey(tenant, reference)).key).toBe(key);
    await revokeKey(tenant, reference);
    expect((await revealKey(tenant, reference)).key).toBe(key);
  });

  it("KEY-05: a legacy key has only its prefix: it cannot be revealed, but calls work", async () => {
    const own = await createTenant(tenant.database);
    const key = await insertLegacyKey(own);
    const record = await getKey(own, { id: "key_legacy" });
    expect(record).toMatchObject({ revealable: false, createdBy: null, prefix: key.slice(0, 12) });
    expect(await refusal(revealKey(own, { id: "key_legacy" }))).toBe("conflict");
    const authenticator = own.newAuthenticator();
    expect((await authenticator.authenticate(key)).keyId).toBe("key_legacy");
    await authenticator.close();
    expect(settings(await changeKey(own, { id: "key_legacy" }, fullPatch))).toEqual(fullPatch);
  });

  it("KEY-06: a name is required at creation, and cannot be emptied later", async () => {
    for (const name of ["", "  ", undefined as unknown as string, null as unknown as string]) {
      expect(await refusal(tenant.newKey({ name }))).toBe("missing_required_parameter");
    }
    const { record } = await tenant.newKey();
    const emptied = changeKey(tenant, { id: record.id }, { name: " " });
    expect(await refusal(emptied)).toBe("missing_required_parameter");
  });

  it.each(["\u200b\u200b", "\u202e", "\u2060 \ufe0f", "\u3164", "\u00ad", "\ue000", "\u0007"])(
    "KEY-06: an invisible name is refused as missing: %j",
    async (name) => {
      expect(await refusal(tenant.newKey({ name }))).toBe("missing_required_parameter");
    },
  );

  it.each(["\u05d0\u05d1", "\u200fa", "\ud83d\udc68\u200d\ud83d\udd2c", "\u00e9", "-", "\u540d"])(
    "a visible name is kept: %j",
    async (name) => {
      expect((await tenant.newKey({ name })).record.name).toBe(name);
    },
  );

  it("a new key's expiry must be in the future; a change may end a key at once", async () => {
    for (const past of [0, startMs - 1, startMs])
      expect(await refusal(tenant.newKey({ expiresAt: new Date(past) }))).toBe("invalid_value");
    const soon = new Date(startMs + 1);
    const { record } = await tenant.newKey({ expiresAt: soon });
    expect(record.expiresAt).toEqual(soon);
    const ended = await changeKey(tenant, { id: record.id }, { expiresAt: new Date(startMs) });
    expect(ended.expiresAt).toEqual(new Date(startMs));
  });

  it("every setting may be given at creation", async () => {
    const { record } = await tenant.newKey(fullPatch);
    expect(settings(record)).toEqual(fullPatch);
    expect(settings(await getKey(tenant, { id: record.id }))).toEqual(fullPatch);
  });

  it.each(patches)(
    "KEY-07 T71 T78: a change of %s keeps all other settings",
    async (_name, patch, expected) => {
      const { record: before } = await tenant.newKey(fullPatch);
      tenant.clock.advance(1_000);
      const returned = await changeKey(tenant, { id: before.id }, patch);
      expect(settings(returned)).toEqual({ ...fullPatch, ...expected });
      expect(await getKey(tenant, { id: before.id })).toEqual(returned);
      const untouched = ["id", "status", "createdBy", "createdAt", "prefix", "revealable"] as const;
      for (const field of untouched) expect(returned[field]).toEqual(before[field]);
      expect(returned.updatedAt.getTime()).toBe(tenant.clock.now());
    },
  );

  it.each(badPatches)("a bad %s is refused and changes nothing", async (param, patch) => {
    const { record } = await tenant.newKey(fullPatch);
    const change = changeKey(tenant, { id: record.id }, { name: "other", ...patch });
    await expect(change).rejects.toMatchObject({ code: "invalid_value", param });
    expect(await getKey(tenant, { id: record.id })).toEqual(record);
    await expect(tenant.newKey(patch)).rejects.toMatchObject({ code: "invalid_value", param });
  });

  it("T78: concurrent changes of different fields are all kept", async () => {
    const { record } = await tenant.newKey();
    const reference = { id: record.id };
    await Promise.all([
      changeKey(tenant, reference, { spendCaps: { dailyNano: 1n } }),
      changeKey(tenant, reference, { spendCaps: { totalNano: 2n } }),
      changeKey(tenant, reference, { modelAllowlist: ["x/y"] }),
      changeKey(tenant, reference, { routing: { sort: "price" } }),
      changeKey(tenant, reference, { routing: { preferredProviders: ["a"] } }),
      changeKey(tenant, reference, { allowRequestOverride: true }),
    ]);
    expect(settings(await getKey(tenant, reference))).toEqual({
      ...plainSettings,
      spendCaps: { ...plainSettings.spendCaps, dailyNano: 1n, totalNano: 2n },
      modelAllowlist: ["x/y"],
      routing: {
        ...plainSettings.routing,
        mode: "custom",
        sort: "price",
        preferredProviders: ["a"],
      },
      allowRequestOverride: true,
    });
  });

  it("keys are listed newest first, in pages, each once, and filtered by owner and status", async () => {
    const own = await createTenant(tenant.database);
    await insertLegacyKey(own);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      own.clock.advance(1);
      const owner = index % 2 === 0 ? "user_even" : "user_odd";
      ids.unshift((await own.newKey({ createdBy: owner })).record.id);
    }
    await disableKey(own, { id: ids[0]! });
    const workspaceId = own.workspace.id;
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listKeys(own, { workspaceId, limit: 2, cursor });
      expect(page.records.length).toBeLessThanOrEqual(2);
      seen.push(...page.records.map((record) => record.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen.filter((id) => id !== "key_legacy")).toEqual(ids);
    expect(seen).toHaveLength(6);
    const idsOf = async (filter: object) =>
      (await listKeys(own, { workspaceId, ...filter })).records.map((record) => record.id);
    expect(await idsOf({ createdBy: "user_even" })).toEqual([ids[0], ids[2], ids[4]]);
    expect(await idsOf({ status: "disabled" })).toEqual([ids[0]]);
    expect(await idsOf({ workspaceId: "ws_none" })).toEqual([]);
    expect(await refusal(listKeys(own, { limit: 0 }))).toBe("invalid_value");
    expect(await refusal(listKeys(own, { limit: 101 }))).toBe("invalid_value");
  });

  it("records, their JSON and the table do not contain a plain key", async () => {
    const { record, key } = await tenant.newKey();
    const everything = [
      inspect(record, { depth: 9 }),
      inspect(await getKey(tenant, { id: record.id }), { depth: 9 }),
      inspect(await listKeys(tenant, { workspaceId: tenant.workspace.id }), { depth: 9 }),
      JSON.stringify(await tenant.database.query("select k::text from api_keys k")),
      Buffer.concat(
        (
          await tenant.database.query<{ bytes: Buffer }>(
            "select lookup || ciphertext as bytes from api_keys where ciphertext is not null",
          )
        ).map((row) => row.bytes),
      ).toString("latin1"),
    ];
    for (const text of everything) expect(text).not.toContain(key.slice(13, -4));
  });
});

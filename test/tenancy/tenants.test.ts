/** Organizations, workspaces, members and users as rows: creating, changing and listing them. */
import { beforeAll, expect, it } from "vitest";
import {
  addMember,
  changeMember,
  changeOrganization,
  changeUser,
  changeWorkspace,
  createOrganization,
  createUser,
  findLogins,
  createWorkspace,
  getMember,
  getOrganization,
  getUser,
  getWorkspace,
  firstPassword,
  invitationDays,
  invite,
  listMembers,
  listOrganizations,
  hashFor,
  setPassword,
  listWorkspaces,
  useInvitation,
  verifyPassword,
} from "../../src/tenancy/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { createTenant, refusal, type Tenant } from "./support.ts";

const caps = { totalNano: 1n, monthlyNano: 2n, weeklyNano: 3n, dailyNano: 4n, hard: true };
const routing = {
  mode: "custom",
  sort: "balanced",
  supplyTiers: ["official"],
  pinnedProviders: ["p"],
  preferredProviders: ["q"],
} as const;

describeDatabase("tenants", (open) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await createTenant(await open());
  });

  it("T78: a change of an organization keeps the fields that it does not name", async () => {
    const created = await createOrganization(tenant, {
      name: "One",
      modelAllowlist: ["a/b"],
      routing,
    });
    const { id } = created;
    expect(await getOrganization(tenant, id)).toEqual(created);
    expect(created).toMatchObject({ name: "One", modelAllowlist: ["a/b"], routing });
    tenant.clock.advance(1_000);
    const patches = [
      [{ name: "Two" }, { name: "Two" }],
      [{ routing: { sort: null } }, { routing: { ...routing, sort: null } }],
      [{ modelAllowlist: null }, { modelAllowlist: [] }],
    ] as const;
    let expected: object = { ...created, updatedAt: new Date(tenant.clock.now()) };
    for (const [patch, change] of patches) {
      expected = { ...expected, ...change };
      expect(await changeOrganization(tenant, id, patch)).toEqual(expected);
      expect(await getOrganization(tenant, id)).toEqual(expected);
    }
    expect(await refusal(changeOrganization(tenant, "org_none", {}))).toBe("not_found");
    expect(await refusal(createOrganization(tenant, { name: " " }))).toBe(
      "missing_required_parameter",
    );
  });

  it("T71 T78: a change of a workspace keeps the fields that it does not name", async () => {
    const created = await createWorkspace(tenant, {
      name: "W",
      organizationId: tenant.organization.id,
      spendCaps: caps,
      modelAllowlist: ["a/b"],
      routing,
    });
    const { id } = created;
    expect(created).toMatchObject({ spendCaps: caps, modelAllowlist: ["a/b"], routing });
    expect(await getWorkspace(tenant, id)).toEqual(created);
    tenant.clock.advance(1_000);
    let expected: object = { ...created, updatedAt: new Date(tenant.clock.now()) };
    const patches = [
      [{}, {}],
      [{ spendCaps: { weeklyNano: null } }, { spendCaps: { ...caps, weeklyNano: null } }],
      [{ status: "disabled" }, { status: "disabled" }],
      [
        { routing: { preferredProviders: [] } },
        { routing: { ...routing, preferredProviders: [] } },
      ],
      [{ modelAllowlist: ["c/d"] }, { modelAllowlist: ["c/d"] }],
      [{ name: "V" }, { name: "V" }],
    ] as const;
    for (const [patch, change] of patches) {
      expected = { ...expected, ...change };
      expect(await changeWorkspace(tenant, id, patch)).toEqual(expected);
      expect(await getWorkspace(tenant, id)).toEqual(expected);
    }
    const wrong = changeWorkspace(tenant, id, { status: "gone" as "active" });
    expect(await refusal(wrong)).toBe("invalid_value");
    expect(await refusal(changeWorkspace(tenant, "ws_none", {}))).toBe("not_found");
    const orphan = createWorkspace(tenant, { name: "W", organizationId: "org_none" });
    expect(await refusal(orphan)).toBe("not_found");
  });

  it("members are added once, with caps, to existing workspaces, and a change keeps the other fields", async () => {
    const user = await createUser(tenant, { email: "m@example.com", name: "M", role: "user" });
    const reference = { workspaceId: tenant.workspace.id, userId: user.id };
    const member = await addMember(tenant, { ...reference, role: "member", spendCaps: caps });
    expect(member).toMatchObject({ ...reference, role: "member", spendCaps: caps });
    expect(await refusal(addMember(tenant, { ...reference, role: "admin" }))).toBe("conflict");
    const strangers = [
      { ...reference, userId: "user_none" },
      { ...reference, workspaceId: "ws_none" },
    ];
    for (const stranger of strangers) {
      expect(await refusal(addMember(tenant, { ...stranger, role: "member" }))).toBe("not_found");
      expect(await refusal(getMember(tenant, stranger))).toBe("not_found");
      expect(await refusal(changeMember(tenant, stranger, {}))).toBe("not_found");
    }
    const tighter = { ...caps, dailyNano: 0n };
    expect(await changeMember(tenant, reference, { spendCaps: { dailyNano: 0n } })).toMatchObject({
      role: "member",
      spendCaps: tighter,
    });
    expect(await changeMember(tenant, reference, { role: "admin" })).toMatchObject({
      role: "admin",
      spendCaps: tighter,
    });
    expect(await listMembers(tenant, { workspaceId: tenant.workspace.id })).toEqual({
      records: [await getMember(tenant, reference)],
      nextCursor: null,
    });
  });

  it("e-mail addresses ignore case and may belong to several users, and no user shows its password hash", async () => {
    const user = await createUser(tenant, {
      email: " Ann@Example.com ",
      name: "Ann",
      role: "user",
      hash: await hashFor(tenant, "ann@example.com", "secret one"),
    });
    expect(user.email).toBe("ann@example.com");
    const twin = await createUser(tenant, {
      email: "ANN@example.com",
      name: "Twin",
      role: "user",
      hash: await hashFor(tenant, "ann@example.com", "secret of the twin"),
    });
    expect(twin).toMatchObject({ email: "ann@example.com" });
    expect(twin.id).not.toBe(user.id);
    const opens = async (password: string) =>
      (await findLogins(tenant, { email: "Ann@example.com", password })).map(
        ({ userId }) => userId,
      );
    expect(await opens("secret one")).toEqual([user.id]);
    expect(await opens("secret of the twin")).toEqual([twin.id]);
    expect(await opens("secret two")).toEqual([]);
    const wrong = createUser(tenant, { email: "nobody", name: "N", role: "user" });
    expect(await refusal(wrong)).toBe("invalid_value");
    const hashOf = async () => {
      const [row] = await tenant.database.query<{ password_hash: string }>(
        "select password as password_hash from auth_accounts where user_id = $1",
        [user.id],
      );
      return row!.password_hash;
    };
    const before = await hashOf();
    expect(await changeUser(tenant, user.id, { name: "Anna" })).toMatchObject({
      name: "Anna",
      role: "user",
      email: "ann@example.com",
    });
    expect(await hashOf()).toBe(before);
    await changeUser(tenant, user.id, { role: "admin" });
    const hash = await hashFor(tenant, user.email, "secret two");
    await setPassword(tenant, user.id, { hash, oneTime: false });
    expect(await verifyPassword("secret two", await hashOf())).toBe(true);
    expect(await getUser(tenant, user.id)).toMatchObject({ name: "Anna", role: "admin" });
    expect(JSON.stringify(await getUser(tenant, user.id))).not.toContain(await hashOf());
    expect(await refusal(getUser(tenant, "user_none"))).toBe("not_found");
    expect(await refusal(changeUser(tenant, "user_none", {}))).toBe("not_found");
  });

  it("an expired or replaced invitation cannot be used", async () => {
    const { id: workspaceId } = await createWorkspace(tenant, {
      name: "joined in time",
      organizationId: tenant.organization.id,
    });
    const email = "in-time@example.com";
    const asked = { workspaceId, email, name: undefined, role: "member", spendCaps: null } as const;
    const invited = async () => {
      const password = await firstPassword(tenant, {
        email,
        password: undefined,
        byOperator: false,
      });
      return (await invite(tenant, { ...asked, password })).member;
    };
    const first = await invited();
    const second = await invited();
    expect(await refusal(useInvitation(tenant, first))).toBe("not_found");
    const weekMs = invitationDays * 24 * 60 * 60 * 1_000;
    tenant.clock.advance(weekMs);
    expect(await refusal(useInvitation(tenant, second))).toBe("not_found");
    tenant.clock.advance(-1);
    expect(await useInvitation(tenant, second)).toMatchObject({ status: "active" });
    expect(await refusal(useInvitation(tenant, second))).toBe("not_found");
  });

  it("lists are paged, newest first", async () => {
    const ids: string[] = [];
    const { id: organizationId } = await createOrganization(tenant, { name: "Listed" });
    for (const name of ["a", "b", "c"]) {
      tenant.clock.advance(1);
      ids.unshift((await createWorkspace(tenant, { name, organizationId })).id);
    }
    const first = await listWorkspaces(tenant, { organizationId, limit: 2 });
    expect(first.records.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const cursor = first.nextCursor!;
    const second = await listWorkspaces(tenant, { organizationId, limit: 2, cursor });
    expect(second.records.map(({ id }) => id)).toEqual(ids.slice(2));
    expect(second.nextCursor).toBeNull();
    const newest = await listOrganizations(tenant, { limit: 1 });
    expect(newest.records.map(({ id }) => id)).toEqual([organizationId]);
    const rest = await listOrganizations(tenant, { cursor: newest.nextCursor! });
    expect(rest.records.map(({ id }) => id)).not.toContain(organizationId);
    expect(rest.records.map(({ id }) => id)).toContain(tenant.organization.id);
  });

  it("members are paged too, newest first, each once", async () => {
    const { id: workspaceId } = await createWorkspace(tenant, { name: "P", organizationId: null });
    const ids: string[] = [];
    for (const email of ["p1@example.com", "p2@example.com", "p3@example.com"]) {
      tenant.clock.advance(1);
      const user = await createUser(tenant, { email, name: "P", role: "user" });
      ids.unshift(user.id);
      await addMember(tenant, { workspaceId, userId: user.id, role: "member" });
    }
    const first = await listMembers(tenant, { workspaceId, limit: 2 });
    const second = await listMembers(tenant, { workspaceId, limit: 2, cursor: first.nextCursor! });
    const listed = [...first.records, ...second.records];
    expect(listed.map(({ userId }) => userId)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
  });

  it("a workspace begins with the given credit line, or with none", async () => {
    const made = async (line: object) =>
      (await createWorkspace(tenant, { name: "C", organizationId: null, ...line })).creditLineNano;
    expect([await made({}), await made({ creditLineNano: 5n })]).toEqual([0n, 5n]);
    expect(await made({ creditLineNano: null })).toBeNull();
  });
});

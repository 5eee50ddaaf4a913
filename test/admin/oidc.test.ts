/** Signing in with the operator's identity provider. docs/architecture.md. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  signInConfig,
  signInThere,
  startIdentityProvider,
  type Claims,
  type Manner,
} from "./identity-provider.ts";
import { newMember, password, signIn as passwordSignIn } from "./people.ts";
import { call, startAdminGateway, type AdminGateway } from "./support.ts";

const client = { id: "tollgate", secret: "the client's secret" };
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let gateway: AdminGateway;

const configOf = ({ issuer }: { issuer: string }): string => signInConfig(issuer, client);

beforeAll(async () => {
  provider = await startIdentityProvider(client);
  gateway = await startAdminGateway({ config: configOf(provider) });
  const body = { email: "ann@example.com", role: "member" };
  await gateway.admin("POST", `/workspaces/${gateway.workspaceId}/members`, body);
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const signIn = (
  who: Claims,
  {
    at = gateway,
    with: other = provider,
    ...how
  }: Manner & { state?: string; at?: { url: string }; with?: typeof provider } = {},
) => signInThere(who, { provider: other, base: at.url, ...how });

const me = (cookie: string) => call(gateway.url, "GET", "/me", { headers: { cookie } });

const ann: Claims = {
  sub: "idp-1",
  email: "ann@example.com",
  email_verified: true,
  name: "Ann",
};

it("a member signs in with the identity provider in their role, and the next time as the same user", async () => {
  const first = await signIn(ann);
  expect(first.location).toMatch(/\/$/);
  const known = await me(first.cookie);
  expect(known.json).toMatchObject({
    kind: "session",
    name: "ann@example.com",
    organization_admin: false,
    memberships: [{ workspace_id: gateway.workspaceId, role: "member" }],
  });
  const second = await signIn(ann);
  expect((await me(second.cookie)).json.user_id).toBe(known.json.user_id);
});

it.each([
  [["client_secret_basic"]],
  [["private_key_jwt", "client_secret_basic"]],
  [["client_secret_post", "client_secret_basic"]],
  [["client_secret_post"]],
])(
  "the client authenticates with a method that the provider's discovery document names: %j",
  async (methods) => {
    const other = await startIdentityProvider(client, { methods });
    const there = await startAdminGateway({ config: configOf(other) });
    try {
      const body = { email: ann.email, role: "member" };
      await there.admin("POST", `/workspaces/${there.workspaceId}/members`, body);
      const { cookie } = await signIn(ann, { at: there, with: other });
      const known = await call(there.url, "GET", "/me", { headers: { cookie } });
      expect(known.json).toMatchObject({ name: "ann@example.com" });
    } finally {
      await there.close();
      await other.close();
    }
  },
);

it("while the identity provider does not answer, passwords still work and its own sign-in answers 404", async () => {
  const gone = await startIdentityProvider(client);
  await gone.close();
  const there = await startAdminGateway({ config: configOf(gone) });
  try {
    const member = { email: "max@example.com", role: "member" } as const;
    await newMember(there, there.workspaceId, member);
    expect((await passwordSignIn(there, member.email, password)).status).toBe(200);
    const begun = await fetch(`${there.url}/auth/sign-in/social`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ provider: "oidc" }),
    });
    expect(begun.status).toBe(404);
  } finally {
    await there.close();
  }
});

it("an address from the userinfo endpoint counts like one in the token, if it is verified", async () => {
  const { cookie } = await signIn(ann, { bare: true });
  expect((await me(cookie)).json).toMatchObject({ name: "ann@example.com" });
  const eve = { ...ann, sub: "idp-eve", email: "ann@example.com", email_verified: false };
  expect((await me((await signIn(eve, { bare: true })).cookie)).status).toBe(401);
});

it("several first sign-ins at once, in different tabs, succeed as the same user", async () => {
  for (const name of ["una", "ugo", "uli"]) {
    const body = { email: `${name}@example.com`, role: "member" } as const;
    const { userId } = await newMember(gateway, gateway.workspaceId, body);
    const who = { ...ann, sub: `idp-${name}`, email: body.email, name };
    const tabs = await Promise.all([1, 2, 3, 4].map(() => signIn(who)));
    const seen = await Promise.all(tabs.map(async ({ cookie }) => (await me(cookie)).json.user_id));
    expect(seen).toEqual([userId, userId, userId, userId]);
  }
});

it("the first sign-in with the identity provider ends an earlier password with its sessions and tokens", async () => {
  const body = { email: "joe@example.com", role: "member" } as const;
  const planted = await newMember(gateway, gateway.workspaceId, body);
  const withPassword = () => passwordSignIn(gateway, body.email, password);
  expect((await withPassword()).status).toBe(200);
  const joe = { ...ann, sub: "idp-3", email: "joe@example.com", name: "Joe" };
  const first = await signIn(joe);
  expect((await me(first.cookie)).json).toMatchObject({
    name: "joe@example.com",
    user_id: planted.userId,
  });
  expect((await withPassword()).status).toBe(401);
  expect((await me(planted.cookie)).status).toBe(401);
  expect((await planted.call("GET", "/me")).status).toBe(401);
  const ended = `/audit?action=password.end&subject_id=${planted.userId}`;
  const [entry] = (await gateway.admin("GET", ended)).json.data;
  expect(entry).toMatchObject({
    actor: { kind: "session", id: planted.userId, name: "joe@example.com" },
    after: { revoked_tokens: [expect.stringMatching(/^token_/) as string] },
  });
  // Later sign-ins end no sessions.
  await signIn(joe);
  expect((await me(first.cookie)).status).toBe(200);
  expect((await gateway.admin("GET", ended)).json.data).toHaveLength(1);
});

it("a verified address accepts its open invitations of every organization; an unverified address accepts none", async () => {
  const { id: far } = (await gateway.admin("POST", "/workspaces", { name: "far" })).json;
  const invite = (workspaceId: string) =>
    gateway.admin("POST", `/workspaces/${workspaceId}/members`, {
      email: "pia@example.com",
      role: "member",
    });
  const near = await invite(gateway.workspaceId);
  expect((await invite(far)).status).toBe(201);
  const pia = { ...ann, sub: "idp-4", email: "pia@example.com", name: "Pia" };
  const unverified = await signIn({ ...pia, email_verified: false });
  expect(unverified.location).toContain("error");
  expect((await me(unverified.cookie)).status).toBe(401);
  const { cookie } = await signIn(pia);
  const { memberships } = (await me(cookie)).json;
  expect(new Set(memberships.map((one: { workspace_id: string }) => one.workspace_id))).toEqual(
    new Set([far, gateway.workspaceId]),
  );
  // The links are used up, and so are the one-time passwords.
  const token = near.json.invitation.url.split("#").at(-1);
  const used = await call(gateway.url, "POST", "/auth/invitations/read", { body: { token } });
  expect(used.status).toBe(404);
  const oneTime = await passwordSignIn(gateway, pia.email, near.json.one_time_password);
  expect(oneTime.status).toBe(401);
  // The next sign-in accepts a later invitation, as the same user.
  const { id: later } = (await gateway.admin("POST", "/workspaces", { name: "later" })).json;
  const third = await invite(later);
  const again = (await me((await signIn(pia)).cookie)).json;
  expect(again.memberships).toHaveLength(3);
  const path = `/workspaces/${later}/members/${third.json.user_id}`;
  expect((await gateway.admin("GET", path)).json).toMatchObject({
    user_id: again.user_id,
    status: "active",
  });
});

it("a user who was not added as a member cannot sign in, whatever the provider says", async () => {
  const { location, cookie } = await signIn({ ...ann, sub: "idp-2", email: "eve@example.com" });
  expect(location).toContain("error=");
  expect((await me(cookie)).status).toBe(401);
  const rows = await gateway.database.query("select 1 from users where email = 'eve@example.com'");
  expect(rows).toEqual([]);
});

it("a user who was removed or let the invitation expire before their first sign-in with the provider cannot sign in", async () => {
  const members = `/workspaces/${gateway.workspaceId}/members`;
  const email = "kim@example.com";
  const { userId } = await newMember(gateway, gateway.workspaceId, { email, role: "admin" });
  expect((await gateway.admin("DELETE", `${members}/${userId}`)).status).toBe(200);
  const late = "lea@example.com";
  expect((await gateway.admin("POST", members, { email: late, role: "admin" })).status).toBe(201);
  await gateway.database.query(
    `update members m set invitation_expires_at = now() from users u where u.id = m.user_id and u.email = $1`,
    [late],
  );
  for (const [sub, address] of [
    ["idp-5", email],
    ["idp-6", late],
  ] as const) {
    const { location, cookie } = await signIn({ ...ann, sub, email: address });
    expect(location).toContain("error=");
    expect((await me(cookie)).status).toBe(401);
  }
});

it("a token that the provider did not sign, and the callback of another browser's sign-in, are refused", async () => {
  const forged = await signIn(ann, { forged: true });
  expect(forged.location).toContain("error");
  expect((await me(forged.cookie)).status).toBe(401);
  const stolen = await signIn(ann, { state: "none" });
  expect(stolen.location).toContain("error");
  expect((await me(stolen.cookie)).status).toBe(401);
});

it("starting a sign-in without finishing it writes nothing to the database", async () => {
  await signIn(ann, { state: "none" });
  expect(await gateway.database.query("select 1 from auth_verifications")).toEqual([]);
});

it("the same id at another identity provider is another user, and existing users keep their accounts", async () => {
  const known = (await me((await signIn(ann)).cookie)).json;
  // As stored before issuers were.
  await gateway.database.query(
    "update auth_accounts set account_id = $1 where provider_id = 'oidc' and user_id = $2",
    [ann.sub, known.user_id],
  );
  const other = await startIdentityProvider(client);
  const { connectionString } = gateway.database.pool.options;
  const shared = { databaseUrl: connectionString!, dataDir: join(gateway.directory, "data") };
  const same = await startAdminGateway({ config: configOf(provider), ...shared });
  const moved = await startAdminGateway({ config: configOf(other), ...shared });
  try {
    const again = await signIn(ann, { at: same });
    expect((await me(again.cookie)).json.user_id).toBe(known.user_id);
    for (const email_verified of [true, false]) {
      const mallory = { ...ann, email: "mallory@example.com", name: "Mallory", email_verified };
      const taken = await signIn(mallory, { at: moved, with: other });
      expect(taken.location).toContain("error=");
      expect((await me(taken.cookie)).status).toBe(401);
    }
    // The new provider verifies the address, so the user is recognised by it.
    const home = await signIn({ ...ann, sub: "idp-1-new" }, { at: moved, with: other });
    expect((await me(home.cookie)).json.user_id).toBe(known.user_id);
  } finally {
    await moved.close();
    await same.close();
    await other.close();
  }
});

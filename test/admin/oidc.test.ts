/** Signing in with the operator's identity provider. design.md section 2, "console login". */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startIdentityProvider, type Claims } from "./identity-provider.ts";
import { call, startAdminGateway, type AdminGateway } from "./support.ts";

const client = { id: "tollgate", secret: "the client's secret" };
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let gateway: AdminGateway;

beforeAll(async () => {
  provider = await startIdentityProvider(client);
  gateway = await startAdminGateway({
    config: `
providers: []
models: []
console:
  oidc:
    issuer: ${provider.issuer}
    client_id: ${client.id}
    client_secret: "${client.secret}"
`,
  });
  const body = { email: "ann@example.com", role: "member" };
  await gateway.admin("POST", `/workspaces/${gateway.workspaceId}/members`, body);
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const cookies = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0]!)
    .join("; ");

/** Everything a browser does, until it is back in the console. */
async function signIn(who: Claims, options: { forged?: boolean; state?: string } = {}) {
  provider.signsIn(who, options);
  const begun = await fetch(`${gateway.url}/auth/sign-in/social`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ provider: "oidc" }),
  });
  expect(begun.status).toBe(200);
  const { url } = (await begun.json()) as { url: string };
  const authorized = await fetch(url, { redirect: "manual" });
  const back = new URL(authorized.headers.get("location")!);
  expect(back.href).toContain(`${gateway.url}/auth/callback/oidc?`);
  const cookie = options.state ?? cookies(begun);
  const done = await fetch(back, { redirect: "manual", headers: { cookie } });
  const location = done.headers.get("location") ?? "";
  return { location, cookie: cookies(done) };
}

const me = (cookie: string) => call(gateway.url, "GET", "/me", { headers: { cookie } });

const ann: Claims = {
  sub: "idp-1",
  email: "ann@example.com",
  email_verified: true,
  name: "Ann",
};

it("a member signs in with the identity provider, and has their role; again, as the same user", async () => {
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

it("the first sign-in with the identity provider ends the password that somebody else set, and what came of it", async () => {
  const password = "known to the admin";
  const body = { email: "joe@example.com", role: "member", password };
  await gateway.admin("POST", `/workspaces/${gateway.workspaceId}/members`, body);
  const withPassword = () =>
    call(gateway.url, "POST", "/auth/sign-in/email", {
      body: { email: "joe@example.com", password },
    });
  const planted = await withPassword();
  expect(planted.status).toBe(200);
  const cookie = planted.headers.getSetCookie()[0]!.split(";")[0]!;
  const made = await call(gateway.url, "POST", "/tokens", {
    body: { name: "t" },
    headers: { cookie },
  });
  const joe = { ...ann, sub: "idp-3", email: "joe@example.com", name: "Joe" };
  const first = await signIn(joe);
  expect((await me(first.cookie)).json.name).toBe("joe@example.com");
  expect((await withPassword()).status).toBe(401);
  expect((await me(cookie)).status).toBe(401);
  expect((await call(gateway.url, "GET", "/me", { token: made.json.token })).status).toBe(401);
  // Later ones end nothing.
  await signIn(joe);
  expect((await me(first.cookie)).status).toBe(200);
});

it("whoever was not added as a member is nobody here, whatever the provider says", async () => {
  const { location, cookie } = await signIn({ ...ann, sub: "idp-2", email: "eve@example.com" });
  expect(location).toContain("error=");
  expect((await me(cookie)).status).toBe(401);
  const rows = await gateway.database.query("select 1 from users where email = 'eve@example.com'");
  expect(rows).toEqual([]);
});

it("a token that the provider did not sign, and a callback of somebody else's sign-in, are refused", async () => {
  const forged = await signIn(ann, { forged: true });
  expect(forged.location).toContain("error");
  expect((await me(forged.cookie)).status).toBe(401);
  const stolen = await signIn(ann, { state: "none" });
  expect(stolen.location).toContain("error");
  expect((await me(stolen.cookie)).status).toBe(401);
});

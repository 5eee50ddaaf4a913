/** An identity provider that lies or is silent: it lets no user in, keeps no other user out, and its grants do not last. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSessions } from "../../src/admin/index.ts";
import { silentLog } from "../../src/base/log.ts";
import {
  signInConfig,
  signInThere,
  startIdentityProvider,
  type Claims,
  type Manner,
} from "../admin/identity-provider.ts";
import { newMember } from "../admin/people.ts";
import { call, startAdminGateway, type AdminGateway } from "../admin/support.ts";

const client = { id: "tollgate", secret: "the client's secret" };
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let gateway: AdminGateway;

const kate: Claims = {
  sub: "idp-1",
  email: "kate@example.com",
  email_verified: true,
  name: "Kate",
};
const mallory: Claims = { ...kate, sub: "idp-2", email: "mallory@example.com", name: "Mallory" };

beforeAll(async () => {
  provider = await startIdentityProvider(client);
  gateway = await startAdminGateway({ config: signInConfig(provider.issuer, client) });
  const { workspaceId } = gateway;
  await newMember(gateway, workspaceId, { email: kate.email, role: "admin" });
  await newMember(gateway, workspaceId, { email: mallory.email, role: "member" });
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const signIn = (who: Claims, how: Manner = {}) =>
  signInThere(who, { provider, base: gateway.url, ...how });
const me = (cookie: string) => call(gateway.url, "GET", "/me", { headers: { cookie } });

const falseAnswers: readonly (readonly [what: string, how: () => Manner])[] = [
  ["an unsigned token", () => ({ header: { alg: "none" }, signedBy: "nobody" })],
  [
    "a token signed with the public key as a secret",
    () => ({ header: { alg: "HS256" }, signedBy: "public key" }),
  ],
  ["a token for another client", () => ({ body: { aud: "another" } })],
  ["a token of another issuer", () => ({ body: { iss: "https://evil.example" } })],
  [
    "a token for several clients that another one asked for",
    () => ({ body: { aud: [client.id, "another"], azp: "another" } }),
  ],
  [
    "a token that is not yet valid",
    () => ({ body: { nbf: Math.floor(Date.now() / 1000) + 3_600 } }),
  ],
  ["a token without an expiry", () => ({ body: { exp: undefined } })],
  ["a token without an issuer", () => ({ body: { iss: undefined } })],
  ["a token without an audience", () => ({ body: { aud: undefined } })],
  ["a token without a nonce", () => ({ body: { nonce: undefined } })],
  ["a token without a subject", () => ({ body: { sub: undefined } })],
  ["a token with a subject that is not a string", () => ({ body: { sub: ["idp-1"] } })],
  ["an expired token", () => ({ body: { exp: 1_700_000_000 } })],
  ["a token with the nonce of another sign-in", () => ({ body: { nonce: "another" } })],
  [
    "a token that carries its own key",
    () => ({ forged: true, header: { jwk: provider.publicKey } }),
  ],
  ["a token with a path as its key id", () => ({ header: { kid: "../../../../etc/passwd" } })],
  ["no token", () => ({ tokenless: true })],
  ["a profile of another user than the token's", () => ({ bare: true, userinfo: kate })],
];

describe("an identity provider that lies", () => {
  it.each(falseAnswers)("signs no user in with a false answer: %s", async (_what, how) => {
    const { location, cookie } = await signIn(mallory, how());
    expect(location).toContain("error=");
    expect((await me(cookie)).status).toBe(401);
  });

  it("cannot take over an address that only becomes equal when lowercased", async () => {
    // The Kelvin sign; its lower case is a k.
    const { cookie } = await signIn({ ...mallory, sub: "idp-3", email: "\u212Aate@example.com" });
    expect((await me(cookie)).status).toBe(401);
  });

  it("signs in its own user, and its tokens are not stored", async () => {
    await signIn(kate);
    const { cookie } = await signIn(kate);
    expect((await me(cookie)).status).toBe(200);
    const rows = await gateway.database.query(
      "select * from auth_accounts where provider_id = 'oidc'",
    );
    expect(rows).not.toHaveLength(0);
    const kept = JSON.stringify(rows);
    expect(provider.tokens.filter((token) => kept.includes(token))).toEqual([]);
  });
});

describe("an identity provider that does not answer", () => {
  let silent: Server;
  let issuer: string;
  let asked = 0;

  beforeAll(async () => {
    silent = createServer(() => (asked += 1)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    issuer = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    silent.closeAllConnections();
    silent.close();
  });

  it("does not affect users with a password or a session", async () => {
    const waiting = await startAdminGateway({ config: signInConfig(issuer, client) });
    const { adminEmail: email, adminPassword: password } = waiting.first!;
    const body = { email, password };
    try {
      const signedIn = await call(waiting.url, "POST", "/auth/sign-in/email", { body });
      expect(signedIn.status).toBe(200);
      const cookie = signedIn.headers
        .getSetCookie()
        .map((one) => one.split(";")[0])
        .join("; ");
      const { status } = await call(waiting.url, "GET", "/me", { headers: { cookie } });
      expect(status).toBe(200);
      expect(asked).toBe(0);
    } finally {
      await waiting.close();
    }
  });

  it("is waited for with a limit, and asked once for all waiting sign-ins", async () => {
    const before = asked;
    const sessions = createSessions({
      ...(await gateway.internals()),
      oidc: { issuer, clientId: client.id, clientSecret: client.secret },
      publicUrl: () => gateway.url,
      log: silentLog,
      providerMs: 100,
    });
    const begin = () =>
      sessions.signIn(
        new Request(`${gateway.url}/auth/sign-in/social`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ provider: "oidc" }),
        }),
      );
    const outcomes = await Promise.allSettled([begin(), begin(), begin()]);
    expect(outcomes).toEqual(
      Array.from({ length: 3 }, () => ({
        status: "rejected",
        reason: expect.objectContaining({ code: "upstream_timeout" }) as unknown,
      })),
    );
    expect(asked - before).toBe(1);
  });
});

/** Signing in to the console, personal tokens, and which credential opens what. docs/management.md. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSessions } from "../../src/admin/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { rememberDerivations } from "../support/derivations.ts";
import { manualClock } from "../support/manual-clock.ts";
import { adminToken, call, startAdminGateway, type AdminGateway, type Answer } from "./support.ts";

rememberDerivations();

const cookieOf = (answer: Answer): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.slice(0, cookie.indexOf(";")))
    .join("; ");

describe("console sessions", () => {
  let gateway: AdminGateway;
  let email: string;
  let password: string;
  const clock = manualClock(Date.now());

  beforeAll(async () => {
    gateway = await startAdminGateway({ clock });
    email = gateway.first!.adminEmail;
    password = gateway.first!.adminPassword;
  });
  afterAll(() => gateway.close());

  const signIn = (address: string, secret: string, headers = {}) =>
    call(gateway.url, "POST", "/auth/sign-in/email", {
      body: { email: address, password: secret },
      headers,
    });
  const withCookie = (cookie: string, method: string, path: string, ...rest: [unknown?, object?]) =>
    call(gateway.url, method, path, { body: rest[0], headers: { cookie, ...rest[1] } });

  it("the first administrator signs in with the one-time password, and the cookie opens the management API", async () => {
    const signedIn = await signIn(email, password);
    expect(signedIn.status).toBe(200);
    const [setCookie] = signedIn.headers.getSetCookie();
    expect(setCookie).toMatch(/HttpOnly/i);
    expect(setCookie).toMatch(/SameSite=Lax/i);
    const cookie = cookieOf(signedIn);
    const keys = await withCookie(cookie, "GET", "/keys");
    expect(keys.status).toBe(200);
    expect(keys.json.data).toHaveLength(1);
    const out = await withCookie(cookie, "POST", "/auth/sign-out", {});
    expect(out.status).toBe(200);
    const after = await withCookie(cookie, "GET", "/keys");
    expect(after.status).toBe(401);
    expect(after.json.error.code).toBe("invalid_credential");
  });

  it("the cookie is marked Secure if the gateway's own address is HTTPS", async () => {
    const [user] = await gateway.database.query<{ id: string }>("select id from users");
    const opening = { userId: user!.id, passwordChangeRequired: false, remember: true };
    const cookieAt = async (publicUrl: string): Promise<string> => {
      const internals = await gateway.internals();
      const rest = { oidc: undefined, publicUrl: () => publicUrl, log: silentLog };
      const opened = await createSessions({ ...internals, ...rest }).open(opening, new Headers());
      return opened.headers.getSetCookie().join();
    };
    expect(await cookieAt("https://gateway.example")).toMatch(/^__Secure-.*; Secure/i);
    expect(await cookieAt("http://gateway.example")).not.toMatch(/Secure/i);
  });

  it("the ways to sign in are public and never cached", async () => {
    const options = await call(gateway.url, "GET", "/auth/options");
    expect([options.status, options.json]).toEqual([200, { password: true, oidc: null }]);
    expect(options.headers.get("cache-control")).toBe("no-store");
  });

  it("a wrong password and an unknown address get the same answer", async () => {
    const wrong = await signIn(email, "not the password");
    const unknown = await signIn("nobody@example.com", "not the password");
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.text).toBe(unknown.text);
  });

  it("a cookie is refused for pages of another origin; a program that sends no origin may use it", async () => {
    const cookie = cookieOf(await signIn(email, password));
    const body = { workspace_id: gateway.workspaceId, name: "from a page" };
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ]) {
      const refused = await withCookie(cookie, "POST", "/keys", body, headers);
      expect(refused.json.error.code).toBe("cross_origin_request");
      expect(refused.status).toBe(403);
      expect((await signIn(email, password, headers)).status).toBe(403);
    }
    const own = await withCookie(cookie, "POST", "/keys", body, {
      origin: gateway.url,
      "sec-fetch-site": "same-origin",
    });
    expect(own.status).toBe(201);
    expect((await withCookie(cookie, "POST", "/keys", body)).status).toBe(201);
  });

  it("the Basic credential of a proxy does not shut out a session; a bearer token takes precedence over the cookie", async () => {
    const cookie = cookieOf(await signIn(email, password));
    const basic = `Basic ${Buffer.from("proxy:secret").toString("base64")}`;
    const asked = async (headers: Record<string, string>) => {
      const { status, json } = await call(gateway.url, "GET", "/me", { headers });
      return status === 200 ? json.kind : json.error.code;
    };
    expect(await asked({ cookie, authorization: basic })).toBe("session");
    expect(await asked({ authorization: basic })).toBe("invalid_credential");
    expect(await asked({ cookie, authorization: "Bearer wrong" })).toBe("invalid_credential");
    expect(await asked({ cookie, authorization: "Bearer" })).toBe("invalid_credential");
    expect(await asked({ cookie, authorization: `Bearer ${adminToken}` })).toBe("admin_token");
  });

  it("a personal token has its owner's role, ends when it expires or is revoked, and cannot make tokens", async () => {
    const cookie = cookieOf(await signIn(email, password));
    const made = await withCookie(cookie, "POST", "/tokens", {
      name: "ci",
      expires_at: new Date(clock.now() + 60_000).toISOString(),
    });
    expect(made.status).toBe(201);
    const { id, token } = made.json;
    const asToken = (method: string, path: string, body?: unknown) =>
      call(gateway.url, method, path, { token, body });
    expect((await asToken("GET", "/keys")).status).toBe(200);
    expect((await asToken("POST", "/tokens", { name: "child" })).status).toBe(403);
    const listed = await asToken("GET", "/tokens");
    expect(listed.json.data[0]).toMatchObject({ id, name: "ci", revoked_at: null });
    expect(listed.text).not.toContain(token);
    const rows = await gateway.database.query<{ text: string }>(
      "select t::text as text from admin_tokens t",
    );
    expect(JSON.stringify(rows)).not.toContain(token.slice(7));
    clock.advance(60_001);
    expect((await asToken("GET", "/keys")).json.error).toMatchObject({
      code: "invalid_credential",
      message: "The token has expired.",
    });
    const other = await withCookie(cookie, "POST", "/tokens", { name: "second" });
    expect((await call(gateway.url, "GET", "/keys", { token: other.json.token })).status).toBe(200);
    const revoke = (ifMatch: string) =>
      withCookie(cookie, "DELETE", `/tokens/${other.json.id}`, undefined, { "if-match": ifMatch });
    expect((await revoke(made.headers.get("etag") ?? "")).status).toBe(412);
    const revoked = await revoke(other.headers.get("etag") ?? "");
    expect(revoked.status).toBe(200);
    expect(revoked.headers.get("etag")).not.toBe(other.headers.get("etag"));
    expect((await call(gateway.url, "GET", "/keys", { token: other.json.token })).status).toBe(401);
  });

  it("KEY-01 KEY-15: no management credential opens the API, and no API key or signing secret opens the management API", async () => {
    const cookie = cookieOf(await signIn(email, password));
    const { token } = (await withCookie(cookie, "POST", "/tokens", { name: "t" })).json;
    const body = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }] };
    for (const authorization of [`Bearer ${token}`, `Bearer ${adminToken}`]) {
      const refused = await gateway.post("/v1/chat/completions", body, { authorization });
      expect(refused.status).toBe(401);
      expect((await gateway.get("/v1/tasks", { authorization })).status).toBe(401);
    }
    const withSession = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", cookie },
      body: JSON.stringify(body),
    });
    expect(withSession.status).toBe(401);
    for (const bad of [gateway.key, "whsec_abc", "gw_pat_" + "a".repeat(43), adminToken + "x"]) {
      const refused = await call(gateway.url, "GET", "/keys", { token: bad });
      expect(refused.status).toBe(401);
      expect(refused.json.error.code).toBe("invalid_credential");
      expect(refused.text).not.toContain(bad);
    }
    expect((await call(gateway.url, "GET", "/keys")).json.error.code).toBe("missing_credential");
  });

  it("changing the password signs out all other sessions", async () => {
    const mine = cookieOf(await signIn(email, password));
    const others = cookieOf(await signIn(email, password));
    const isFirst = async (cookie: string) =>
      (await withCookie(cookie, "GET", "/me")).json.has_first_password as unknown;
    expect(await isFirst(mine)).toBe(true);
    const changed = await withCookie(mine, "POST", "/auth/change-password", {
      currentPassword: password,
      newPassword: "a much better password",
    });
    expect(changed.status).toBe(200);
    expect((await withCookie(others, "GET", "/keys")).status).toBe(401);
    expect((await signIn(email, password)).status).toBe(401);
    password = "a much better password";
    expect(await isFirst(cookieOf(await signIn(email, password)))).toBe(false);
  });

  it("only one of two simultaneous password changes succeeds", async () => {
    const cookie = cookieOf(await signIn(email, password));
    const wanted = ["the first of two at once", "the second of two at once"];
    const answers = await Promise.all(
      wanted.map((newPassword) =>
        withCookie(cookie, "POST", "/auth/change-password", {
          currentPassword: password,
          newPassword,
        }),
      ),
    );
    const done = answers.map(({ status }) => status === 200);
    expect(done.filter((one) => one)).toHaveLength(1);
    password = wanted[done.indexOf(true)]!;
    expect((await signIn(email, password)).status).toBe(200);
    expect((await signIn(email, wanted[done.indexOf(false)]!)).status).toBe(401);
  });

  it("changing the password ends personal tokens unless `keep_tokens` is set, and is in the audit log", async () => {
    const newToken = async (cookie: string) =>
      (await withCookie(cookie, "POST", "/tokens", { name: "kept?" })).json.token as string;
    const change = async (keep?: boolean) => {
      const cookie = cookieOf(await signIn(email, password));
      const token = await newToken(cookie);
      const next = `${password}.`;
      const changed = await withCookie(cookie, "POST", "/auth/change-password", {
        currentPassword: password,
        newPassword: next,
        ...(keep !== undefined && { keep_tokens: keep }),
      });
      expect(changed.status).toBe(200);
      password = next;
      // The answer opens a new session that replaces the old one.
      expect((await withCookie(cookie, "GET", "/keys")).status).toBe(401);
      expect((await withCookie(cookieOf(changed), "GET", "/keys")).status).toBe(200);
      return (await call(gateway.url, "GET", "/keys", { token })).status;
    };
    expect(await change()).toBe(401);
    expect(await change(false)).toBe(401);
    expect(await change(true)).toBe(200);
    const { data } = (await gateway.admin("GET", "/audit?action=password.change")).json;
    expect(data.length).toBeGreaterThanOrEqual(3);
    expect(data[0].actor.name).toBe(email);
  });

  it("ten wrong current passwords block password changes but not sign-ins, and a stranger changes nothing", async () => {
    clock.advance(5 * 60_000 + 1);
    const cookie = cookieOf(await signIn(email, password));
    const change = (currentPassword: string, newPassword = "another password") =>
      withCookie(cookie, "POST", "/auth/change-password", { currentPassword, newPassword });
    expect((await change(password, "short")).json.error).toMatchObject({
      code: "invalid_value",
      param: "newPassword",
    });
    const guesses = await Promise.all(Array.from({ length: 12 }, (_, at) => change(`guess ${at}`)));
    const statuses = guesses.map(({ status }) => status).sort((one, other) => one - other);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
    expect((await change(password)).status).toBe(429);
    expect((await signIn(email, password)).status).toBe(200);
    const body = { currentPassword: password, newPassword: "another password" };
    const stranger = await call(gateway.url, "POST", "/auth/change-password", { body });
    expect([stranger.status, stranger.json.error.code]).toEqual([401, "missing_credential"]);
  });

  it("after ten failures an account is blocked for a while, even with the right password; other accounts are not", async () => {
    const failures = await Promise.all(
      Array.from({ length: 12 }, () => signIn("victim@example.com", "guess")),
    );
    const statuses = failures.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    const refused = failures.find(({ status }) => status === 429)!;
    expect(refused.json.error.code).toBe("too_many_attempts");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await signIn(email, password)).status).toBe(200);
    clock.advance(5 * 60_000 + 1);
    expect((await signIn("victim@example.com", "guess")).status).toBe(401);
  });
});

/** A user's own account: their sessions, and a new password by a link. docs/management.md. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rememberDerivations } from "../support/derivations.ts";
import { manualClock } from "../support/manual-clock.ts";
import { inviting } from "./inviting.ts";
import {
  cookieOf,
  newMember,
  password,
  signIn,
  startWorld,
  type Person,
  type World,
} from "./people.ts";
import { call, type Answer } from "./support.ts";

rememberDerivations();

const dayMs = 24 * 60 * 60 * 1000;
const codeOf = (answer: Answer) => [answer.status, answer.json.error?.code];
const notFound = [404, "not_found"];
const ascending = (one: number, other: number) => one - other;
const refused = [403, "insufficient_permissions"];

let world: World;
const clock = manualClock(Date.now());
beforeAll(async () => {
  world = await startWorld({ clock });
});
afterAll(() => world.gateway.close());

const { invited, accept, post, withCookie, auditOf } = inviting(() => world, clock);

let count = 0;
/** A new user in `home`, with the password that all test users have. */
async function guest(role: "admin" | "member" = "member"): Promise<Person> {
  const email = `own${(count += 1)}@example.com`;
  return newMember(world.gateway, world.home.id, { email, role });
}

describe("the sessions of a user", () => {
  interface Session {
    id: string;
    current: boolean;
    ip: string;
    user_agent: string;
  }
  const listed = async (cookie: string): Promise<Session[]> =>
    world.must(await withCookie(cookie, "/sessions")).data;
  const end = (cookie: string, path: string, headers: Record<string, string> = {}) =>
    call(world.gateway.url, "DELETE", path, { headers: { cookie, ...headers } });
  const opened = async (email: string) => {
    const answer = await call(world.gateway.url, "POST", "/auth/sign-in/email", {
      body: { email, password },
      headers: { "user-agent": `Browser ${"x".repeat(400)}` },
    });
    world.must(answer);
    return cookieOf(answer);
  };

  it("are listed with address and browser, and end one by one or all but the current one", async () => {
    const me = await guest();
    const [phone, desk] = [await opened(me.email), await opened(me.email)];
    const sessions = await listed(desk);
    expect(sessions).toHaveLength(3);
    expect(sessions.map(({ current }) => current)).toEqual([true, false, false]);
    expect(sessions[0]).toMatchObject({ object: "session", ip: "127.0.0.1" });
    expect(sessions[0]!.user_agent).toMatch(/^Browser x{192}$/);
    // No answer contains the cookie's token.
    const [{ token }] = (await world.gateway.database.query<{ token: string }>(
      "select token from auth_sessions where id = $1",
      [sessions[0]!.id],
    )) as [{ token: string }];
    expect(JSON.stringify(sessions)).not.toContain(token);
    world.must(await end(desk, `/sessions/${sessions[1]!.id}`));
    expect((await withCookie(phone, "/me")).status).toBe(401);
    expect(codeOf(await end(desk, `/sessions/${sessions[1]!.id}`))).toEqual(notFound);
    await opened(me.email);
    expect(world.must(await end(desk, "/sessions"))).toEqual({ object: "sessions", deleted: 2 });
    expect((await withCookie(me.cookie, "/me")).status).toBe(401);
    expect((await listed(desk)).map(({ current }) => current)).toEqual([true]);
    // A personal token is not a session.
    expect((await me.call("GET", "/sessions")).json.data).toMatchObject([{ current: false }]);
    expect(world.must(await me.call("DELETE", "/sessions")).deleted).toBe(1);
    expect((await withCookie(desk, "/me")).status).toBe(401);
    const { data } = world.must(await world.root.call("GET", `/audit?subject_id=${me.userId}`));
    const ended = (data as { action: string; after: { ended_sessions?: number } }[])
      .filter(({ action }) => action === "session.end")
      .map(({ after }) => after.ended_sessions);
    expect(new Set(ended)).toEqual(new Set([1, 2]));
  });

  it("are hidden from every other user and cannot be ended by them, not even by an organization admin", async () => {
    const me = await guest();
    const [{ id }] = (await listed(me.cookie)) as [Session];
    for (const other of [world.root, world.ann, world.bob, world.mel]) {
      const seen = (await other.call("GET", "/sessions?limit=100")).json.data as Session[];
      expect(seen.some((one) => one.id === id)).toBe(false);
      const answer = await other.call("DELETE", `/sessions/${id}`);
      const none = await other.call("DELETE", "/sessions/session_00000000000000000000000000");
      expect([codeOf(answer), answer.text]).toEqual([notFound, none.text]);
    }
    expect(codeOf(await world.gateway.admin("GET", "/sessions"))).toEqual(refused);
    expect(codeOf(await world.gateway.admin("DELETE", "/sessions"))).toEqual(refused);
    // Nor can a page of another origin, with the reader's own cookie.
    const far = { origin: "https://evil.example" };
    for (const path of ["/sessions", `/sessions/${id}`])
      expect(codeOf(await end(me.cookie, path, far))).toEqual([403, "cross_origin_request"]);
    expect((await withCookie(me.cookie, "/me")).status).toBe(200);
  });
});

describe("a link that sets a new password", () => {
  const chosen = "a password that I chose";
  const pathOf = (place: { id: string }, userId: string) =>
    `/workspaces/${place.id}/members/${userId}/reset_password`;
  const ask = (by: Person, userId: string, place = world.home) =>
    by.call("POST", pathOf(place, userId));
  const tokenOf = (answer: Answer): string => new URL(world.must(answer).url).hash.slice(1);
  const read = (token: string) => post("/auth/password-resets/read", { token });
  const use = (token: string, secret = chosen) =>
    post("/auth/password-resets/use", { token, password: secret });

  it("is made by an admin, works once within a day, and ends the user's sessions and tokens", async () => {
    const me = await guest();
    const made = await ask(world.ann, me.userId);
    expect(made.status).toBe(201);
    const url = new URL(made.json.url);
    // The console's page; the token is after the `#`, which browsers do not send.
    expect([url.origin, url.pathname]).toEqual([world.gateway.url, "/reset"]);
    expect(Date.parse(made.json.expires_at)).toBe(clock.now() + dayMs);
    const token = tokenOf(made);
    // Until it is used nothing changes.
    expect((await withCookie(me.cookie, "/me")).status).toBe(200);
    expect((await read(token)).json).toMatchObject({ object: "password_reset", email: me.email });
    expect(codeOf(await use(token, "short"))).toEqual([400, "invalid_value"]);
    const done = await use(token);
    expect(done.status).toBe(200);
    expect((await withCookie(cookieOf(done), "/me")).json.user_id).toBe(me.userId);
    expect((await withCookie(me.cookie, "/me")).status).toBe(401);
    expect((await me.call("GET", "/me")).status).toBe(401);
    expect((await signIn(world.gateway, me.email, password)).status).toBe(401);
    expect((await signIn(world.gateway, me.email, chosen)).json.password_change_required).toBe(
      false,
    );
    expect(codeOf(await use(token, "another one of mine"))).toEqual(notFound);
    expect(await auditOf(me.userId)).toContainEqual(["member.reset_password", "ann@example.com"]);
    expect(await auditOf(me.userId)).toContainEqual(["password.reset", me.email]);
    const rows = await world.gateway.database.query(
      "select 1 from audit_entries where coalesce(before::text, '') || coalesce(after::text, '') like '%gw_pwr_%'",
    );
    expect(rows).toEqual([]);
  });

  it("serves one of many simultaneous uses; replaced, expired, guessed and used links get the same answer", async () => {
    const me = await guest();
    const first = tokenOf(await ask(world.ann, me.userId));
    const token = tokenOf(await ask(world.ann, me.userId));
    const race = await Promise.all(
      Array.from({ length: 5 }, (_, at) => use(token, `my own ${at} choice`)),
    );
    expect(race.map(({ status }) => status).toSorted(ascending)).toEqual([200, 404, 404, 404, 404]);
    const winner = race.findIndex(({ status }) => status === 200);
    expect((await signIn(world.gateway, me.email, `my own ${winner} choice`)).status).toBe(200);
    const late = tokenOf(await ask(world.ann, (await guest()).userId));
    clock.advance(dayMs + 1);
    const texts = new Set<string>();
    const guesses = [`gw_pwr_${"a".repeat(43)}`, "gw_pwr_", "x", ""];
    for (const one of [first, token, late, ...guesses]) {
      for (const answer of [await read(one), await use(one)]) {
        expect(codeOf(answer)).toEqual(notFound);
        texts.add(answer.json.error.message);
      }
    }
    expect(texts.size).toBe(1);
    // An invitation's token is not a reset token, and the reverse.
    const { token: invitation } = await invited("guest-of-reset@example.com");
    expect(codeOf(await use(invitation))).toEqual(notFound);
    const fresh = tokenOf(await ask(world.ann, me.userId));
    expect(codeOf(await accept({ token: fresh, password: chosen }))).toEqual(notFound);
    const stored = await world.gateway.database.query("select * from password_resets");
    expect(JSON.stringify(stored)).not.toContain(fresh.slice(7));
  });

  it("is refused for a member of a workspace that its maker does not administer", async () => {
    const me = await guest();
    const early = tokenOf(await ask(world.ann, me.userId));
    const { token } = await invited("joins-away@example.com", {}, "bob");
    world.must(await accept({ token }, me.cookie));
    // The link was made earlier, and would now open the other workspace too.
    expect(codeOf(await read(early))).toEqual(notFound);
    expect(codeOf(await use(early))).toEqual(notFound);
    expect(codeOf(await ask(world.ann, me.userId))).toEqual(refused);
    expect(codeOf(await ask(world.bob, me.userId, world.away))).toEqual(refused);
    expect((await signIn(world.gateway, me.email, password)).status).toBe(200);
    // An organization admin may, by token and as a user.
    world.must(await ask(world.root, me.userId));
    const made = await world.gateway.admin("POST", pathOf(world.home, me.userId));
    expect((await use(tokenOf(made))).status).toBe(200);
  });

  it("is refused for another organization's member, an organization admin, its maker and an invited user", async () => {
    expect(codeOf(await ask(world.ann, world.bob.userId, world.away))).toEqual(notFound);
    expect(codeOf(await ask(world.ann, world.bob.userId))).toEqual(notFound);
    expect(codeOf(await ask(world.mem, world.mel.userId))).toEqual(notFound);
    expect(codeOf(await ask(world.mem, world.mem.userId))).toEqual(refused);
    expect(codeOf(await ask(world.ann, world.ann.userId))).toEqual(refused);
    const joining = await invited("root-joins@example.com");
    world.must(await accept({ token: joining.token }, world.root.cookie));
    expect(codeOf(await ask(world.ann, world.root.userId))).toEqual(refused);
    // Nor if it is their only workspace.
    const admin = await guest();
    const raise = "update users set role = 'admin' where id = $1";
    await world.gateway.database.query(raise, [admin.userId]);
    expect(codeOf(await ask(world.ann, admin.userId))).toEqual(refused);
    const { userId } = await invited("not-yet@example.com");
    expect(codeOf(await ask(world.ann, userId))).toEqual([409, "conflict"]);
  });

  it("ends when its maker or the member leaves, when its maker loses the role, and when the password is changed", async () => {
    const admin = await guest("admin");
    const link = async (by: Person, of: Person) => tokenOf(await ask(by, of.userId));
    const memberOf = (one: Person) => `/workspaces/${world.home.id}/members/${one.userId}`;
    const me = await guest();
    const demoted = await link(admin, me);
    world.must(await world.ann.call("PATCH", memberOf(admin), { role: "member" }));
    expect(codeOf(await use(demoted))).toEqual(notFound);
    world.must(await world.ann.call("PATCH", memberOf(admin), { role: "admin" }));
    const left = await link(admin, me);
    world.must(await world.ann.call("DELETE", memberOf(admin)));
    expect(codeOf(await use(left))).toEqual(notFound);
    const changed = await link(world.ann, me);
    const body = {
      currentPassword: password,
      newPassword: "mine, and known to me",
      keep_tokens: true,
    };
    world.must(await post("/auth/change-password", body, me.cookie));
    expect(codeOf(await use(changed))).toEqual(notFound);
    const removed = await link(world.ann, me);
    world.must(await world.ann.call("DELETE", memberOf(me)));
    expect(codeOf(await use(removed))).toEqual(notFound);
    expect((await signIn(world.gateway, me.email, "mine, and known to me")).status).toBe(200);
  });

  it("is made only by an organization admin for a user of the identity provider", async () => {
    const me = await guest();
    await world.gateway.database.query(
      `insert into auth_accounts (id, user_id, provider_id, account_id, created_at, updated_at)
       values ('account_of_provider', $1, 'oidc', 'idp-of-guest', now(), now())`,
      [me.userId],
    );
    expect(codeOf(await ask(world.ann, me.userId))).toEqual(refused);
    world.must(await ask(world.root, me.userId));
  });

  it("is not used by a page of another origin, and no path of the API contains a token", async () => {
    const me = await guest();
    const token = tokenOf(await ask(world.ann, me.userId));
    const answer = await call(world.gateway.url, "POST", "/auth/password-resets/use", {
      body: { token, password: chosen },
      headers: { origin: "https://evil.example" },
    });
    expect(codeOf(answer)).toEqual([403, "cross_origin_request"]);
    const document = await (await fetch(`${world.gateway.url}/openapi.json`)).json();
    const paths = Object.keys((document as { paths: object }).paths);
    expect(paths.filter((path) => path.startsWith("/auth") && path.includes("{"))).toEqual([]);
  });
});

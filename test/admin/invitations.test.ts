/** Joining by invitation; another person's address, password or link gives no access. docs/management.md "How people join". */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { processorMs } from "../support/cost.ts";
import { rememberDerivations } from "../support/derivations.ts";
import { inviting } from "./inviting.ts";
import { cookieOf, newMember, password, signIn, startWorld, type World } from "./people.ts";
import type { Answer } from "./support.ts";

const dayMs = 24 * 60 * 60 * 1000;
const codeOf = (answer: Answer) => [answer.status, answer.json.error?.code];
const ascending = (one: number, other: number) => one - other;
const notFound = [404, "not_found"];

let world: World;
const clock = manualClock(Date.now());
beforeAll(async () => {
  world = await startWorld({ clock });
});
afterAll(() => world.gateway.close());

const { freshEmail, invited, read, accept, withCookie, workspacesOf, auditOf } = inviting(
  () => world,
  clock,
);

/** Answers and their times: each password is hashed. */
it("an invitation gets the same answer in the same time for a known address and for an unknown one", async () => {
  const known = freshEmail();
  await newMember(world.gateway, world.away.id, { email: known, role: "admin" });
  const shape = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shape(one)]))
      : typeof value;
  const one = await invited(known);
  const other = await invited(freshEmail());
  expect(shape(one.answer.json)).toEqual(shape(other.answer.json));
  expect([...one.answer.headers.keys()]).toEqual([...other.answer.headers.keys()]);
  // A user id contains its creation time: now, for both.
  expect(one.userId.slice(0, 10)).toBe(other.userId.slice(0, 10));
  const spent: Record<string, number[]> = {
    known: [],
    unknown: [],
    signKnown: [],
    signNot: [],
  };
  const timed = async (name: string, work: () => Promise<unknown>) => {
    spent[name]!.push(await processorMs(work));
  };
  for (let round = 0; round < 5; round += 1) {
    const fresh = freshEmail();
    const taken = freshEmail();
    await newMember(world.gateway, world.away.id, { email: taken, role: "member" });
    await timed("known", () => invited(taken));
    await timed("unknown", () => invited(fresh));
    // Two users share this address, and one user has the other: the time for a wrong password does not reveal which.
    await timed("signKnown", () => signIn(world.gateway, taken, "wrong"));
    await timed("signNot", () => signIn(world.gateway, freshEmail(), "wrong"));
  }
  // The least value: other work of the process, such as garbage collection, only adds time.
  const least = (name: string) => Math.min(...spent[name]!);
  for (const [a, b] of [
    ["known", "unknown"],
    ["signKnown", "signNot"],
  ] as const) {
    // One derivation of a password takes about 50 ms: one more of them would show.
    expect(Math.abs(least(a) - least(b))).toBeLessThan(Math.max(least(b) * 0.4, 20));
  }
});

describe("an invited user", () => {
  rememberDerivations();

  it("does not share access with an account that another organization created earlier for the same address", async () => {
    const victim = freshEmail();
    // The admin of one organization knows the password of a user with another person's address ...
    const planted = await newMember(world.gateway, world.away.id, {
      email: victim,
      role: "member",
    });
    // ... and another organization adds the address, and makes a key for its member.
    const real = await invited(victim);
    for (const cookie of [
      planted.cookie,
      cookieOf(await signIn(world.gateway, victim, password)),
    ]) {
      expect(await workspacesOf(cookie)).toEqual([world.away.id]);
    }
    expect((await planted.call("GET", `/workspaces/${world.home.id}`)).status).toBe(404);
    const early = await world.ann.call("POST", "/keys", {
      workspace_id: world.home.id,
      name: "early",
      user_id: real.userId,
    });
    expect(codeOf(early)).toEqual([400, "invalid_value"]);
    // The person with the link joins with a password that differs from the planted account's.
    const own = "the person's own password";
    const joined = await accept({ token: real.token, password: own });
    expect(joined.json).toMatchObject({ user_id: real.userId, status: "active", role: "member" });
    expect(await workspacesOf(cookieOf(joined))).toEqual([world.home.id]);
    const { id } = world.must(
      await world.ann.call("POST", "/keys", {
        workspace_id: world.home.id,
        name: "for the person",
        user_id: real.userId,
      }),
    );
    expect((await planted.call("POST", `/keys/${id}/reveal`)).status).toBe(404);
    const stolen = cookieOf(await signIn(world.gateway, victim, password));
    expect(await workspacesOf(stolen)).toEqual([world.away.id]);
    const mine = cookieOf(await signIn(world.gateway, victim, own));
    const { data } = (await withCookie(mine, "/keys")).json;
    expect(data.map((key: { id: string }) => key.id)).toEqual([id]);
  });

  it("joins with the short password of their account, which an operator set; a new password of that length is refused", async () => {
    const email = freshEmail();
    const body = { email, role: "member", password: "8 chars." };
    world.must(await world.gateway.admin("POST", `/workspaces/${world.away.id}/members`, body));
    expect((await signIn(world.gateway, email, body.password)).status).toBe(200);
    const { token } = await invited(email);
    const short = await accept({ token, password: "another" });
    expect(codeOf(short)).toEqual([400, "invalid_value"]);
    expect(short.json.error.param).toBe("password");
    const joined = await accept({ token, password: body.password });
    expect(joined.status).toBe(200);
    expect((await workspacesOf(cookieOf(joined))).sort()).toEqual(
      [world.home.id, world.away.id].sort(),
    );
  });

  it("joins with a link that works once; used, guessed and expired links get the same answer", async () => {
    const email = freshEmail();
    const { token, userId } = await invited(email);
    const race = await Promise.all(
      Array.from({ length: 6 }, (_, at) => accept({ token, password: `the password no ${at}` })),
    );
    expect(race.map(({ status }) => status).sort(ascending)).toEqual([
      200, 404, 404, 404, 404, 404,
    ]);
    const winner = race.findIndex(({ status }) => status === 200);
    // Each of them counted as a guess. After 10 minutes the next guesses are checked again, whichever request won.
    clock.advance(10 * 60_000);
    for (const [at] of race.entries()) {
      const { status } = await signIn(world.gateway, email, `the password no ${at}`);
      expect([at, status]).toEqual([at, at === winner ? 200 : 401]);
      clock.advance(60_000);
    }
    const late = await invited(freshEmail());
    clock.advance(7 * dayMs + 1);
    const ways = [token, late.token, "gw_inv_" + "a".repeat(43), "gw_inv_", "x"];
    const texts = new Set<string>();
    for (const one of ways) {
      const answers = [
        await accept({ token: one, password: "a long password" }),
        await accept({ token: one }, world.mel.cookie),
        await read(one),
      ];
      for (const answer of answers) {
        expect(codeOf(answer)).toEqual(notFound);
        texts.add(answer.json.error.message);
      }
    }
    expect(texts.size).toBe(1);
    expect((await signIn(world.gateway, late.answer.json.email, late.oneTime)).status).toBe(401);
    // Back to a time at which all sessions are valid: each minute the gateway deletes expired rows.
    clock.advance(-(7 * dayMs + 1));
    const member = world.must(
      await world.ann.call("GET", `/workspaces/${world.home.id}/members/${userId}`),
    );
    expect(member).toMatchObject({ status: "active", invitation: null, email });
  });

  it("joins with the account that they are signed in to, and the user id of the invitation stays valid", async () => {
    const { token, userId, invitation } = await invited(freshEmail(), {
      role: "admin",
      spend_caps: { daily: "3" },
    });
    const shown = await read(token);
    expect(shown.json).toEqual({ object: "invitation", organization: "home", workspace: "home" });
    const joined = await accept({ token }, world.bob.cookie);
    expect(joined.json).toMatchObject({ user_id: world.bob.userId, role: "admin" });
    expect(joined.headers.getSetCookie()).toEqual([]);
    expect((await workspacesOf(world.bob.cookie)).sort()).toEqual(
      [world.away.id, world.home.id].sort(),
    );
    const path = `/workspaces/${world.home.id}/members/${userId}`;
    expect(world.must(await world.ann.call("GET", path))).toMatchObject({
      user_id: world.bob.userId,
      email: "bob@example.com",
      spend_caps: { daily: "3" },
    });
    expect(await auditOf(invitation.id)).toEqual([
      ["invitation.accept", "bob@example.com"],
      ["invitation.create", "ann@example.com"],
    ]);
    // A member cannot use up a second invitation.
    const second = await invited(freshEmail());
    expect(codeOf(await accept({ token: second.token }, world.bob.cookie))).toEqual([
      409,
      "conflict",
    ]);
    expect((await accept({ token: second.token, password: "a long password" })).status).toBe(200);
    expect((await world.ann.call("DELETE", path)).json).toMatchObject({
      user_id: world.bob.userId,
      deleted: true,
    });
    expect(await workspacesOf(world.bob.cookie)).toEqual([world.away.id]);
    // The removal can also be undone by a restore.
    const restored = await world.ann.call("POST", `${path}/restore`, {});
    expect([restored.status, restored.json.user_id]).toEqual([201, world.bob.userId]);
    world.must(await world.ann.call("DELETE", path));
    expect(codeOf(await accept({ token }, world.bob.cookie))).toEqual(notFound);
  });

  it("is a member only once: restoring a removed member ends an invitation sent in the meantime", async () => {
    const email = freshEmail();
    const { token, userId } = await invited(email);
    expect((await accept({ token, password: "a long password" })).status).toBe(200);
    const path = `/workspaces/${world.home.id}/members`;
    world.must(await world.ann.call("DELETE", `${path}/${userId}`));
    const again = await invited(email);
    const restored = await world.ann.call("POST", `${path}/${userId}/restore`, {});
    expect([restored.status, restored.json.user_id]).toEqual([201, userId]);
    const { data } = world.must(await world.ann.call("GET", `${path}?limit=100`));
    const listed = data.filter((one: { email: string }) => one.email === email);
    expect(listed).toMatchObject([{ status: "active", user_id: userId }]);
    expect(codeOf(await accept({ token: again.token, password: "a long password" }))).toEqual(
      notFound,
    );
    expect(await auditOf(again.invitation.id)).toEqual([
      ["invitation.revoke", "ann@example.com"],
      ["invitation.create", "ann@example.com"],
    ]);
  });

  it("is a member only once: a removed member is not restored beside the account with which they came back", async () => {
    const email = freshEmail();
    const path = `/workspaces/${world.home.id}/members`;
    const first = await invited(email);
    const joined = await accept({ token: first.token, password: "a long password" });
    expect(joined.json.user_id).toBe(first.userId);
    world.must(await world.ann.call("DELETE", `${path}/${first.userId}`));
    const again = await invited(email);
    const back = await accept({ token: again.token, password: "another password" });
    expect(back.json).toMatchObject({ user_id: again.userId, status: "active" });
    const restore = () => world.ann.call("POST", `${path}/${first.userId}/restore`, {});
    const refused = await restore();
    expect([refused.status, refused.json.error.message]).toEqual([
      409,
      "A member has their address already: they came back with another account. Remove that member first.",
    ]);
    world.must(await world.ann.call("DELETE", `${path}/${again.userId}`));
    expect((await restore()).json).toMatchObject({ user_id: first.userId, status: "active" });
  });

  it("gets a new link and password when invited again, under the same id; revoking the invitation ends both", async () => {
    const email = freshEmail();
    const first = await invited(email);
    const second = await invited(email, { role: "admin", name: "Guest" });
    expect(second.userId).toBe(first.userId);
    expect(codeOf(await accept({ token: first.token, password: "a long password" }))).toEqual(
      notFound,
    );
    expect((await signIn(world.gateway, email, first.oneTime)).status).toBe(401);
    const path = `/workspaces/${world.home.id}`;
    const { data } = world.must(await world.ann.call("GET", `${path}/members?limit=100`));
    const listed = data.filter((one: { email: string }) => one.email === email);
    expect(listed).toMatchObject([
      { status: "invited", role: "admin", name: "Guest", invitation: { id: second.invitation.id } },
    ]);
    expect(JSON.stringify(data)).not.toContain(second.token);
    const byId = `${path}/invitations/${second.invitation.id}`;
    expect(codeOf(await world.mem.call("DELETE", byId))).toEqual(notFound);
    expect(codeOf(await world.bob.call("DELETE", byId))).toEqual(notFound);
    expect((await world.ann.call("DELETE", byId)).json).toMatchObject({ deleted: true });
    expect(codeOf(await accept({ token: second.token, password: "a long password" }))).toEqual(
      notFound,
    );
    expect((await signIn(world.gateway, email, second.oneTime)).status).toBe(401);
    expect(await auditOf(second.invitation.id)).toEqual([
      ["invitation.revoke", "ann@example.com"],
      ["invitation.create", "ann@example.com"],
    ]);
    const { data: entries } = world.must(
      await world.ann.call("GET", `/audit?subject_id=${second.invitation.id}`),
    );
    expect(entries).toMatchObject([
      { before: { status: "invited" }, after: null },
      { before: null, after: { status: "invited" } },
    ]);
    expect((await auditOf(first.invitation.id))[0]).toEqual([
      "invitation.revoke",
      "ann@example.com",
    ]);
    const third = await invited(email);
    const removed = await world.ann.call("DELETE", `${path}/members/${third.userId}`);
    expect(removed.json).toMatchObject({ deleted: true, disabled_keys: [] });
    expect(codeOf(await accept({ token: third.token }, world.mel.cookie))).toEqual(notFound);
    const rows = await world.gateway.database.query("select 1 from users where email = $1", [
      email,
    ]);
    expect(rows).toEqual([]);
    const [twice] = await Promise.all([invited(email), invited(email)]);
    expect(twice.userId).toBeTruthy();
    const both = world.must(await world.ann.call("GET", `${path}/members?limit=100`)).data;
    expect(both.filter((one: { email: string }) => one.email === email)).toHaveLength(1);
  });

  it("has neither token nor password stored in clear text", async () => {
    const { token, oneTime } = await invited(freshEmail());
    for (const table of ["members", "users", "auth_accounts", "audit_entries"]) {
      const rows = await world.gateway.database.query<{ text: string }>(
        `select t::text as text from ${table} t`,
      );
      const text = JSON.stringify(rows);
      expect(text).not.toContain(token.slice(7));
      expect(text).not.toContain(oneTime);
    }
  });

  it("gets a link to the console's page with the token behind the #; older links redirect there and to no other site", async () => {
    const { invitation, token } = await invited(freshEmail());
    const { pathname, hash } = new URL(invitation.url);
    expect([pathname, hash]).toEqual(["/join", `#${token}`]);
    const old = `/invitations/${token}`;
    const follow = (path: string, method = "GET") =>
      fetch(world.gateway.url + path, { method, redirect: "manual" });
    const link = await follow(old);
    expect([link.status, link.headers.get("location")]).toEqual([302, `/join#${token}`]);
    expect(link.headers.get("referrer-policy")).toBe("no-referrer");
    expect(link.headers.get("cache-control")).toBe("no-store");
    const odd = await follow("/invitations/x%0d%0aset-cookie:%20a=b%2F%2Fevil.example");
    expect(odd.headers.get("set-cookie")).toBeNull();
    expect(odd.headers.get("location") ?? "/join#").toMatch(/^\/join#/);
    expect((await follow(old, "POST")).status).toBe(405);
    expect((await accept({ token, password: "a long password" })).status).toBe(200);
  });

  it("is invited by admins only, and only into workspaces that they see", async () => {
    const body = { email: freshEmail(), role: "admin" };
    const path = `/workspaces/${world.home.id}/members`;
    expect(codeOf(await world.mem.call("POST", path, body))).toEqual([
      403,
      "insufficient_permissions",
    ]);
    const away = `/workspaces/${world.away.id}/members`;
    expect(codeOf(await world.ann.call("POST", away, body))).toEqual(notFound);
    const again = await world.ann.call("POST", path, { email: world.mem.email, role: "admin" });
    expect(codeOf(again)).toEqual([409, "conflict"]);
  });
});

/** Passwords set by another person, and guesses at others' passwords. docs/management.md "How people join". */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rememberDerivations } from "../support/derivations.ts";
import { manualClock } from "../support/manual-clock.ts";
import { inviting } from "./inviting.ts";
import { cookieOf, newMember, password, signIn, startWorld, type World } from "./people.ts";
import { call, type Answer } from "./support.ts";

rememberDerivations();

const codeOf = (answer: Answer) => [answer.status, answer.json.error?.code];
const ascending = (one: number, other: number) => one - other;

describe("passwords and invitations", () => {
  let world: World;
  const clock = manualClock(Date.now());
  beforeAll(async () => {
    world = await startWorld({ clock });
  });
  afterAll(() => world.gateway.close());

  const { freshEmail, invited, post, read, accept, withCookie, workspacesOf, auditOf } = inviting(
    () => world,
    clock,
  );

  it("an invitation is accepted with the password of an account with its address, and guesses at that password are counted", async () => {
    const email = freshEmail();
    const before = await newMember(world.gateway, world.away.id, { email, role: "member" });
    const { token } = await invited(email);
    const joined = await accept({ token, password });
    expect(joined.json.user_id).toBe(before.userId);
    expect((await workspacesOf(before.cookie)).sort()).toEqual(
      [world.away.id, world.home.id].sort(),
    );
    const target = freshEmail();
    await newMember(world.gateway, world.away.id, { email: target, role: "member" });
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) {
      const { token } = await invited(target);
      const { status } = await accept({ token, password: `guess number ${guess}` });
      statuses.push(status);
      const members = `/workspaces/${world.home.id}/members`;
      const { data } = world.must(await world.ann.call("GET", `${members}?limit=100`));
      const [mine] = data.filter((one: { email: string }) => one.email === target);
      world.must(await world.ann.call("DELETE", `${members}/${mine.user_id}`));
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
    clock.advance(10 * 60_000);
  });

  it("signing in as one user of an address does not reset the count of guesses at another user", async () => {
    const email = freshEmail();
    await newMember(world.gateway, world.home.id, { email, role: "member" });
    const own = await invited(email, {}, "bob");
    expect((await accept({ token: own.token, password: "the attacker's own" })).status).toBe(200);
    clock.advance(10 * 60_000);
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) {
      statuses.push((await signIn(world.gateway, email, `guess ${guess}`)).status);
      await signIn(world.gateway, email, "the attacker's own");
    }
    expect(statuses.slice(-2)).toEqual([429, 429]);
    clock.advance(10 * 60_000);
  });

  it("a password that another person set works once, and its session may only change it", async () => {
    const email = freshEmail();
    const { oneTime, userId, invitation } = await invited(email);
    const both = await Promise.all([1, 2, 3].map(() => signIn(world.gateway, email, oneTime)));
    expect(both.map(({ status }) => status).sort(ascending)).toEqual([200, 401, 401]);
    const first = both.find(({ status }) => status === 200)!;
    expect(first.json).toMatchObject({ password_change_required: true, user: { email } });
    const cookie = cookieOf(first);
    const { token: other } = await invited(freshEmail());
    const calls = [
      await withCookie(cookie, "/me"),
      await withCookie(cookie, "/keys"),
      await withCookie(cookie, "/auth/get-session"),
      await post("/tokens", { name: "t" }, cookie),
      await post("/keys", { workspace_id: world.home.id, name: "k" }, cookie),
      await accept({ token: other }, cookie),
    ];
    for (const answer of calls) expect(codeOf(answer)).toEqual([403, "password_change_required"]);
    const change = (currentPassword: string, newPassword: string) =>
      post("/auth/change-password", { currentPassword, newPassword }, cookie);
    expect((await change(oneTime, oneTime)).json.error).toMatchObject({ param: "newPassword" });
    expect((await change("something else", "my own password")).json.error).toMatchObject({
      code: "invalid_value",
      param: "currentPassword",
    });
    const changed = await change(oneTime, "my own password");
    expect(changed.json).toMatchObject({ password_change_required: false });
    expect((await withCookie(cookie, "/me")).status).toBe(401);
    expect(await workspacesOf(cookieOf(changed))).toEqual([world.home.id]);
    expect((await signIn(world.gateway, email, oneTime)).status).toBe(401);
    expect((await signIn(world.gateway, email, "my own password")).json).toMatchObject({
      password_change_required: false,
      user: { id: userId },
    });
    expect((await auditOf(invitation.id))[0]).toEqual(["invitation.accept", email]);
    const [entry] = (await world.gateway.admin("GET", `/audit?subject_id=${userId}`)).json.data;
    expect(entry).toMatchObject({ action: "password.change", actor: { name: email } });
  });

  it("a password that the admin token set is the member's own: signing in accepts the invitation, and may make tokens", async () => {
    const members = `/workspaces/${world.home.id}/members`;
    const add = (email: string, more: object) =>
      world.gateway.admin("POST", members, { email, role: "member", ...more });
    const email = freshEmail();
    const added = await add(email, { password });
    expect(added.json).toMatchObject({ status: "invited" });
    expect(added.json).not.toHaveProperty("one_time_password");
    const { user_id: userId, invitation } = added.json;
    clock.advance(1);
    const both = await Promise.all([1, 2].map(() => signIn(world.gateway, email, password)));
    for (const { status, json } of both)
      expect([status, json]).toMatchObject([
        200,
        { password_change_required: false, user: { id: userId } },
      ]);
    const cookie = cookieOf(both[0]!);
    expect(await workspacesOf(cookie)).toEqual([world.home.id]);
    expect(await auditOf(invitation.id)).toEqual([
      ["invitation.accept", email],
      ["invitation.create", "admin token"],
    ]);
    const made = await post("/tokens", { name: "t" }, cookie);
    expect(made).toMatchObject({ status: 201, json: { token: expect.any(String) } });
    const { token } = made.json;
    const own = await call(world.gateway.url, "POST", "/keys", {
      token,
      body: { workspace_id: world.home.id, name: "own" },
    });
    expect(own).toMatchObject({ status: 201, json: { created_by: userId } });
    expect((await signIn(world.gateway, email, password)).status).toBe(200);
    // Without a password in the request, the admin token gets a one-time password, as other callers do. A workspace admin cannot
    // choose one for others.
    const other = freshEmail();
    const { one_time_password: oneTime } = (await add(other, {})).json;
    expect((await signIn(world.gateway, other, oneTime)).json).toMatchObject({
      password_change_required: true,
    });
    const theirs = freshEmail();
    await invited(theirs, { password });
    expect((await signIn(world.gateway, theirs, password)).json).toMatchObject({
      password_change_required: true,
    });
  });

  it("the same password, set by the admin token in several workspaces, signs in to all of them as one user", async () => {
    const add = async (email: string, place: { readonly id: string }) => {
      const path = `/workspaces/${place.id}/members`;
      const { json } = await world.gateway.admin("POST", path, { email, role: "member", password });
      clock.advance(1);
      return json;
    };
    const opened = async (email: string) => {
      const answer = await signIn(world.gateway, email, password);
      const cookie = cookieOf(answer);
      const workspaces = (await workspacesOf(cookie)).sort();
      return { userId: answer.json.user.id as string, workspaces };
    };
    const both = [world.away.id, world.home.id].sort();
    const email = freshEmail();
    const first = await add(email, world.home);
    const second = await add(email, world.away);
    expect(await opened(email)).toEqual({ userId: second.user_id, workspaces: both });
    // The id in the first answer stays valid.
    const member = await world.gateway.admin(
      "GET",
      `/workspaces/${world.home.id}/members/${first.user_id}`,
    );
    expect(member.json).toMatchObject({ user_id: second.user_id, status: "active" });
    expect((await auditOf(first.invitation.id))[0]).toEqual(["invitation.accept", email]);

    const later = freshEmail();
    const { user_id: userId } = await add(later, world.home);
    expect(await opened(later)).toEqual({ userId, workspaces: [world.home.id] });
    await add(later, world.away);
    expect(await opened(later)).toEqual({ userId, workspaces: both });
    expect(await opened(later)).toEqual({ userId, workspaces: both });

    // A user who came into a workspace by another invitation can still sign in.
    const last = freshEmail();
    const { user_id: lastId } = await add(last, world.home);
    const cookie = cookieOf(await signIn(world.gateway, last, password));
    await add(last, world.away);
    const { token } = await invited(freshEmail(), {}, "bob");
    expect((await accept({ token }, cookie)).json).toMatchObject({ user_id: lastId });
    expect(await opened(last)).toEqual({ userId: lastId, workspaces: both });
  });

  it("a password that the admin token set stops working once its invitation expires or is revoked", async () => {
    const members = `/workspaces/${world.home.id}/members`;
    const email = freshEmail();
    const { invitation } = (
      await world.gateway.admin("POST", members, { email, role: "admin", password })
    ).json;
    clock.advance(7 * 24 * 60 * 60_000 + 1);
    expect((await signIn(world.gateway, email, password)).status).toBe(401);
    const again = await world.gateway.admin("POST", members, { email, role: "member", password });
    expect(again.json.invitation.id).not.toBe(invitation.id);
    const back = `/workspaces/${world.home.id}/invitations/${again.json.invitation.id}`;
    expect((await world.gateway.admin("DELETE", back)).status).toBeLessThan(300);
    expect((await signIn(world.gateway, email, password)).status).toBe(401);
  });

  it("a session opened with the one-time password ends when the invitation is accepted by its link", async () => {
    const email = freshEmail();
    const { token, oneTime } = await invited(email);
    const planted = cookieOf(await signIn(world.gateway, email, oneTime));
    expect((await accept({ token, password: "the person's own" })).status).toBe(200);
    expect((await withCookie(planted, "/me")).status).toBe(401);
    const changed = await post(
      "/auth/change-password",
      { currentPassword: oneTime, newPassword: "the admin's choice" },
      planted,
    );
    expect(changed.status).toBe(401);
    expect((await signIn(world.gateway, email, "the person's own")).status).toBe(200);
  });

  it("a one-time password of another invitation, chosen as the user's own, does not join that invitation's user", async () => {
    const email = freshEmail();
    const home = await invited(email);
    const away = await invited(email, {}, "bob");
    const joined = await accept({ token: home.token, password: away.oneTime });
    expect(joined.json).toMatchObject({ user_id: home.userId, status: "active" });
    expect(await workspacesOf(cookieOf(joined))).toEqual([world.home.id]);
    expect((await read(away.token)).status).toBe(200);
  });

  it("a user who signed in with a one-time password, but after the invitation expired, gets no workspace", async () => {
    const email = freshEmail();
    const { oneTime } = await invited(email, { role: "admin" });
    const weekMs = 7 * 24 * 60 * 60_000;
    clock.advance(weekMs - 60_000);
    const cookie = cookieOf(await signIn(world.gateway, email, oneTime));
    clock.advance(120_000);
    const changed = await post(
      "/auth/change-password",
      { currentPassword: oneTime, newPassword: "late, and my own" },
      cookie,
    );
    expect(changed.status).toBe(200);
    const late = cookieOf(changed);
    expect(await workspacesOf(late)).toEqual([]);
    expect(codeOf(await withCookie(late, `/workspaces/${world.home.id}`))).toEqual([
      404,
      "not_found",
    ]);
  });
});

/** One person with several users of one address, who chooses the same password for them. docs/management.md "How people join". */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUser, hashFor } from "../../src/tenancy/index.ts";
import { rememberDerivations } from "../support/derivations.ts";
import { manualClock } from "../support/manual-clock.ts";
import { inviting } from "./inviting.ts";
import { cookieOf, newMember, password, signIn, startWorld, type World } from "./people.ts";

rememberDerivations();

describe("a password that another account with the address has", () => {
  let world: World;
  const clock = manualClock(Date.now());
  beforeAll(async () => {
    world = await startWorld({ clock });
  });
  afterAll(() => world.gateway.close());

  const { freshEmail, invited, post, accept, workspacesOf, auditOf } = inviting(() => world, clock);
  const both = () => [world.away.id, world.home.id].sort();
  const opened = async (email: string, secret: string) => {
    const answer = await signIn(world.gateway, email, secret);
    const workspaces = await workspacesOf(cookieOf(answer));
    return { userId: answer.json.user.id as string, workspaces: workspaces.sort() };
  };
  const change = (cookie: string, currentPassword: string, newPassword: string) =>
    post("/auth/change-password", { currentPassword, newPassword }, cookie);
  /** Signs in with a one-time password, and changes it. */
  const changeOneTime = async (email: string, oneTime: string, newPassword: string) =>
    change(cookieOf(await signIn(world.gateway, email, oneTime)), oneTime, newPassword);
  const refused = { code: "invalid_value", param: "newPassword" };

  it("joins with that account, if a one-time password is changed to it", async () => {
    const email = freshEmail();
    const { userId } = await newMember(world.gateway, world.away.id, { email, role: "member" });
    const { oneTime, invitation } = await invited(email);
    const changed = await changeOneTime(email, oneTime, password);
    expect(changed.json).toMatchObject({ password_change_required: false, user: { id: userId } });
    expect((await workspacesOf(cookieOf(changed))).sort()).toEqual(both());
    expect(await opened(email, password)).toEqual({ userId, workspaces: both() });
    expect((await auditOf(invitation.id))[0]).toEqual(["invitation.accept", email]);
  });

  it("joins with that account if it administers the gateway, although it is in no workspace", async () => {
    const email = freshEmail();
    const internals = await world.gateway.internals();
    const hash = await hashFor(internals, email, password);
    const { id: userId } = await createUser(internals, {
      email,
      name: "root",
      role: "admin",
      hash,
    });
    const { oneTime } = await invited(email);
    const changed = await changeOneTime(email, oneTime, password);
    expect(changed.json).toMatchObject({ user: { id: userId } });
    // By a password of the admin token, too.
    const members = `/workspaces/${world.away.id}/members`;
    const { status } = await world.gateway.admin("POST", members, {
      email,
      role: "member",
      password,
    });
    expect(status).toBe(201);
    expect(await opened(email, password)).toEqual({ userId, workspaces: both() });
  });

  it("is refused for an account that has joined, so that a sign-in never hides the other one's workspaces", async () => {
    const email = freshEmail();
    await newMember(world.gateway, world.away.id, { email, role: "member" });
    const { oneTime, userId } = await invited(email);
    const own = "my second password";
    const cookie = cookieOf(await changeOneTime(email, oneTime, own));
    expect((await change(cookie, own, password)).json.error).toMatchObject(refused);
    const reset = `/workspaces/${world.home.id}/members/${userId}/reset_password`;
    const { url } = world.must(await world.ann.call("POST", reset));
    const token = (url as string).split("#").at(-1)!;
    const use = (secret: string) => post("/auth/password-resets/use", { token, password: secret });
    expect((await use(password)).json.error).toMatchObject({ ...refused, param: "password" });
    expect(await opened(email, own)).toMatchObject({ workspaces: [world.home.id] });
    expect(await opened(email, password)).toMatchObject({ workspaces: [world.away.id] });
    expect((await use("my third password")).status).toBe(200);
  });

  it("joins the account that has joined before, if an invitation's link is accepted with it", async () => {
    const email = freshEmail();
    const { userId } = await newMember(world.gateway, world.away.id, { email, role: "member" });
    // Another user with this password, who has not joined yet.
    const members = `/workspaces/${world.gateway.workspaceId}/members`;
    const body = { email, role: "member", password };
    expect((await world.gateway.admin("POST", members, body)).status).toBe(201);
    clock.advance(1);
    const { token } = await invited(email);
    expect((await accept({ token, password })).json).toMatchObject({ user_id: userId });
  });

  it("is no longer told from others after ten guesses in five minutes", async () => {
    const email = freshEmail();
    await newMember(world.gateway, world.away.id, { email, role: "member" });
    const joins = async (guess: string) => {
      const { oneTime, userId } = await invited(email);
      const changed = await changeOneTime(email, oneTime, guess);
      const members = `/workspaces/${world.home.id}/members`;
      const { data } = world.must(await world.ann.call("GET", `${members}?limit=100`));
      const [mine] = data.filter((one: { email: string }) => one.email === email);
      world.must(await world.ann.call("DELETE", `${members}/${mine.user_id}`));
      return changed.json.user.id !== userId;
    };
    for (let guess = 0; guess < 10; guess += 1)
      expect(await joins(`guess number ${guess}`)).toBe(false);
    expect(await joins(password)).toBe(false);
    clock.advance(10 * 60_000);
    expect(await joins(password)).toBe(true);
  });
});

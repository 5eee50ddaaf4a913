/**
 * Users whose invitation expired before they joined: which data is theirs, and which data is no one's. docs/management.md "How
 * people join".
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rememberDerivations } from "../support/derivations.ts";
import { manualClock } from "../support/manual-clock.ts";
import { inviting } from "./inviting.ts";
import { cookieOf, signIn, startWorld, type World } from "./people.ts";
import { eventually } from "../support/patience.ts";
import { call } from "./support.ts";

rememberDerivations();

const weekMs = 7 * 24 * 60 * 60_000;

describe("an expired invitation", () => {
  let world: World;
  // Sessions expire by the system's clock.
  const clock = manualClock(Date.now() - 10 * weekMs);
  beforeAll(async () => {
    world = await startWorld({ clock });
  });
  afterAll(() => world.gateway.close());

  const { freshEmail, invited, post, accept, withCookie, workspacesOf } = inviting(
    () => world,
    clock,
  );

  /** A user who chose a password a minute too late: they have a session, and no rights. */
  async function lateGuest() {
    const email = freshEmail();
    const { oneTime, userId, invitation } = await invited(email);
    clock.advance(weekMs - 60_000);
    const first = cookieOf(await signIn(world.gateway, email, oneTime));
    clock.advance(120_000);
    const choice = { currentPassword: oneTime, newPassword: "late, and my own" };
    const changed = await post("/auth/change-password", choice, first);
    expect(changed.status).toBe(200);
    return { email, userId, invitation, cookie: cookieOf(changed) };
  }

  /** The same user, who has since joined another workspace by a link. */
  async function lateGuestElsewhere() {
    const guest = await lateGuest();
    const { token } = await invited(freshEmail(), {}, "bob");
    expect((await accept({ token }, guest.cookie)).json.user_id).toBe(guest.userId);
    return guest;
  }

  it("loses the personal tokens that its late guest made, once it is replaced", async () => {
    const { email, userId, cookie } = await lateGuest();
    const made = await post("/tokens", { name: "late" }, cookie);
    const me = () => call(world.gateway.url, "GET", "/me", { token: made.json.token });
    expect((await me()).status).toBe(200);
    const { token } = await invited(email);
    const joined = await accept({ token, password: "the person's own" });
    expect(joined.json).toMatchObject({ user_id: userId, status: "active" });
    expect((await me()).status).toBe(401);
  });

  it("sets no new password for a guest who has since joined another workspace, when they are invited again", async () => {
    const { email, userId, cookie } = await lateGuestElsewhere();
    const again = await invited(email, { password: "what the admin knows" });
    expect(again.userId).not.toBe(userId);
    expect(await workspacesOf(cookie)).toEqual([world.away.id]);
    const own = await signIn(world.gateway, email, "late, and my own");
    expect(await workspacesOf(cookieOf(own))).toEqual([world.away.id]);
    expect((await accept({ token: again.token, password: "their second" })).json).toMatchObject({
      user_id: again.userId,
      workspace_id: world.home.id,
    });
    expect((await withCookie(cookie, `/workspaces/${world.home.id}`)).status).toBe(404);
  });

  it("sets no new password for a guest who joins another workspace while they are invited again", async () => {
    const { email, userId, cookie } = await lateGuest();
    const { token, invitation } = await invited(freshEmail(), {}, "bob");
    const both = await world.gateway.database.transaction(async (tx) => {
      const waiting = (count: number) =>
        eventually(async () => {
          const rows = await tx.query(
            "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          );
          return rows.length >= count || undefined;
        }, `${count} statements that wait`);
      const row = "select 1 from members where invitation_id = $1 for update";
      await tx.query(row, [invitation.id]);
      const joins = accept({ token }, cookie);
      await waiting(1);
      const invites = invited(email, { password: "what the admin knows" });
      await waiting(2);
      return [joins, invites] as const;
    });
    const [joined, again] = await Promise.all(both);
    expect(joined.json).toMatchObject({ user_id: userId, status: "active" });
    expect(again.userId).not.toBe(userId);
    expect(await workspacesOf(cookie)).toEqual([world.away.id]);
  });

  it("can be revoked without removing its guest from another workspace that they joined since", async () => {
    const { invitation, cookie } = await lateGuestElsewhere();
    const path = `/workspaces/${world.home.id}/invitations/${invitation.id}`;
    expect((await world.ann.call("DELETE", path)).status).toBeLessThan(300);
    expect(await workspacesOf(cookie)).toEqual([world.away.id]);
  });
});

/** Helpers that make and accept invitations. */
import { expect } from "vitest";
import type { manualClock } from "../support/manual-clock.ts";
import type { World } from "./people.ts";
import { call } from "./support.ts";

export function inviting(world: () => World, clock: ReturnType<typeof manualClock>) {
  let count = 0;
  const freshEmail = () => `guest${(count += 1)}@example.com`;

  /** Invites a member as the admin of a workspace; returns the admin's answer. */
  async function invited(email: string, more: object = {}, by: "ann" | "bob" = "ann") {
    const place = by === "ann" ? world().home : world().away;
    const body = { email, role: "member", ...more };
    const answer = await world()[by].call("POST", `/workspaces/${place.id}/members`, body);
    expect(answer.status).toBe(201);
    const { invitation, user_id, one_time_password } = answer.json;
    const token = (invitation.url as string).split("#").at(-1)!;
    // Entries of the audit log are ordered by time.
    clock.advance(1);
    return {
      answer,
      token,
      userId: user_id as string,
      oneTime: one_time_password as string,
      invitation,
    };
  }

  const post = (path: string, body: object, cookie = "") =>
    call(world().gateway.url, "POST", path, { body, headers: cookie === "" ? {} : { cookie } });
  const accept = (body: object, cookie = "") => post("/auth/invitations/accept", body, cookie);
  const read = (token: string) => post("/auth/invitations/read", { token });
  const withCookie = (cookie: string, path: string) =>
    call(world().gateway.url, "GET", path, { headers: { cookie } });
  const workspacesOf = async (cookie: string): Promise<string[]> =>
    (await withCookie(cookie, "/me")).json.memberships.map(
      (one: { workspace_id: string }) => one.workspace_id,
    );
  const auditOf = async (id: string): Promise<unknown[]> => {
    const { data } = world().must(await world().ann.call("GET", `/audit?subject_id=${id}`));
    return data.map((one: { action: string; actor: { name: string } }) => [
      one.action,
      one.actor.name,
    ]);
  };

  return { freshEmail, invited, post, read, accept, withCookie, workspacesOf, auditOf };
}

/**
 * Attacks by a person whose password ends while they sign in with it. The sign-in has checked the password, and its session is not
 * there yet when all sessions are ended.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { linkIdentity } from "../../src/admin/identity.ts";
import { newErasedToken } from "../../src/base/erased.ts";
import type { Queryable } from "../../src/storage/index.ts";
import {
  erasePersonRows,
  findLogins,
  hashFor,
  setPassword,
  useOneTimePassword,
  type ChangeContext,
} from "../../src/tenancy/index.ts";
import { newMember, password, signIn, startWorld, type World } from "../admin/people.ts";
import { call, type Answer } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => world?.gateway.close());

const waitingSql = "select 1 from pg_locks where not granted and locktype = 'transactionid'";

/** Begins a request within an open transaction. Resolves when the answer is there, or waits for the transaction. */
async function requestWithin(tx: Queryable, begin: () => Promise<Answer>) {
  const answered = begin();
  let isAnswered = false;
  answered.then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  );
  await eventually(
    async () => isAnswered || (await tx.query(waitingSql, [])).length > 0,
    "the request is answered or waits",
  );
  return { answered };
}

const signInWithin = (tx: Queryable, email: string) =>
  requestWithin(tx, () => signIn(world.gateway, email, password));

async function sessionsOf(userId: string): Promise<number> {
  const sql = "select count(*)::integer as n from auth_sessions where user_id = $1";
  const [row] = await world.gateway.database.query<{ n: number }>(sql, [userId]);
  return row!.n;
}

async function member(email: string): Promise<string> {
  const { userId } = await newMember(world.gateway, world.home.id, { email, role: "member" });
  return userId;
}

it("a sign-in under way while its password is changed opens no session", async () => {
  const { gateway } = world;
  const email = "changed@example.com";
  const userId = await member(email);
  const internals = await gateway.internals();
  const hash = await hashFor(internals, email, "chosen in the meantime");
  const { answered } = await gateway.database.transaction(async (tx) => {
    await setPassword({ ...internals, database: tx }, userId, { hash, oneTime: false });
    return signInWithin(tx, email);
  });
  const { status, json } = await answered;
  expect([status, json.error?.code]).toEqual([401, "invalid_credential"]);
  expect(await sessionsOf(userId)).toBe(0);
  expect((await signIn(gateway, email, "chosen in the meantime")).status).toBe(200);
});

it("a sign-in under way while its person is erased leaves no session", async () => {
  const { gateway } = world;
  const email = "forgotten@example.com";
  const userId = await member(email);
  const internals = await gateway.internals();
  const person = { userIds: [userId], emails: [email], names: [email] };
  const { answered } = await gateway.database.transaction(async (tx) => {
    let signing: Awaited<ReturnType<typeof signInWithin>> | undefined;
    const query = async (...asked: Parameters<Queryable["query"]>) => {
      const rows = await tx.query(...asked);
      if (asked[0].includes("auth_sessions")) signing = await signInWithin(tx, email);
      return rows;
    };
    const within = { ...internals, database: { query } as Queryable };
    await erasePersonRows(within, person, { token: newErasedToken(), dryRun: false });
    return signing!;
  });
  expect((await answered).status).toBe(401);
  expect(await sessionsOf(userId)).toBe(0);
});

it("a sign-in with an earlier one-time password does not use up the one that replaced it", async () => {
  const { gateway } = world;
  const email = "twice@example.com";
  const userId = await member(email);
  const internals = await gateway.internals();
  const later = new Date(Date.now() + 60_000);
  await gateway.database.query(
    `update members set status = 'invited', invitation_id = 'inv_twice', invitation_hash = '\\x00', invitation_expires_at = $2
     where user_id = $1`,
    [userId, later],
  );
  const set = async (secret: string) => {
    const hash = await hashFor(internals, email, secret);
    await setPassword(internals, userId, { hash, oneTime: true });
  };
  const found = async (secret: string) =>
    (await findLogins(internals, { email, password: secret }))[0]!;
  await set("the first one-time");
  const first = await found("the first one-time");
  await set("the second one-time");
  expect(await useOneTimePassword(internals, first)).toBe(false);
  expect(await useOneTimePassword(internals, await found("the second one-time"))).toBe(true);
});

it("a password link of a workspace's admin that is used while the identity provider confirms its member sets no password", async () => {
  const { gateway, home, ann } = world;
  const email = "confirmed@example.com";
  const userId = await member(email);
  const made = await ann.call("POST", `/workspaces/${home.id}/members/${userId}/reset_password`);
  const body = { token: made.json.url.split("#")[1], password: "the admin's own choice" };
  const internals = await gateway.internals();
  const { answered } = await gateway.database.transaction(async (tx) => {
    const database: ChangeContext["database"] = {
      query: (...asked) => tx.query(...asked),
      transaction: (inner) => inner(tx),
      signals: gateway.database.signals,
    };
    await linkIdentity({ ...internals, database }, { subject: "https://idp.example 1", email });
    return requestWithin(tx, () =>
      call(gateway.url, "POST", "/auth/password-resets/use", { body }),
    );
  });
  expect((await answered).status).toBe(404);
  expect(await sessionsOf(userId)).toBe(0);
  expect((await signIn(gateway, email, body.password)).status).toBe(401);
});

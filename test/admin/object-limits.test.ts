/**
 * Limits on the objects that users can make in any number: keys, tokens, invitations, test events, sessions. Organization
 * administrators have no limit. docs/management.md.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { rememberDerivations } from "../support/derivations.ts";
import { manualClock } from "../support/manual-clock.ts";
import { newMember, password, signIn, startWorld, type Person, type World } from "./people.ts";
import { call, type Answer } from "./support.ts";

rememberDerivations();

const clock = manualClock(Date.now());
const dayMs = 24 * 3_600_000;
let world: World;
let mo: Person;
beforeAll(async () => {
  world = await startWorld({ clock });
  mo = await newMember(world.gateway, world.home.id, { email: "mo@example.com", role: "member" });
});
afterAll(() => world.gateway.close());

const sql = (text: string, params: readonly unknown[]) =>
  world.gateway.database.query(text, params);
const makeKey = (by: Person, more: object = {}) =>
  by.call("POST", "/keys", { workspace_id: world.home.id, name: "one more", ...more });
const outcomeOf = ({ status, json }: Answer): unknown =>
  status < 300 ? status : [status, json.error.code, json.error.message];

/** Makes `count` more keys like an existing one. */
const flood = (id: string, count: number) =>
  sql(
    `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, created_by, created_at, updated_at, revoked_at)
     select workspace_id, id || i, name, sha256((id || i)::bytea), key_prefix, key_last4, created_by, created_at, created_at, null
     from api_keys, generate_series(1, $2::integer) i where id = $1`,
    [id, count],
  );

it("a member has at most 1000 keys in a workspace; other members and organization administrators can still make keys", async () => {
  const first = await makeKey(mo);
  await flood(first.json.id as string, 998);
  expect(outcomeOf(await makeKey(mo))).toBe(201);
  expect(outcomeOf(await makeKey(mo))).toEqual([
    409,
    "conflict",
    "There are 1000 API keys of this member in the workspace, with those of the last day that were revoked or expired, and no room for more. Revoke what is not used, or ask an organization administrator.",
  ]);
  expect((await makeKey(world.ann, { user_id: mo.userId })).status).toBe(409);
  expect((await makeKey(world.ann)).status).toBe(201);
  const body = { workspace_id: world.home.id, name: "by the operator", user_id: mo.userId };
  expect((await world.gateway.admin("POST", "/keys", body)).status).toBe(201);
});

it("revoked keys count towards the limit until a day after they were made", async () => {
  await sql("update api_keys set status = 'revoked', revoked_at = now() where created_by = $1", [
    mo.userId,
  ]);
  expect((await makeKey(mo)).status).toBe(409);
  clock.advance(dayMs + 1);
  expect((await makeKey(mo)).status).toBe(201);
});

it("expired keys count towards the limit until a day after they expired", async () => {
  const nia = await newMember(world.gateway, world.home.id, {
    email: "nia@example.com",
    role: "member",
  });
  const first = await makeKey(nia);
  await flood(first.json.id as string, 999);
  clock.advance(dayMs + 1);
  const endOf = (ms: number) =>
    sql("update api_keys set expires_at = $2 where created_by = $1", [nia.userId, new Date(ms)]);
  await endOf(clock.now() - dayMs + 1_000);
  expect((await makeKey(nia)).status).toBe(409);
  clock.advance(1_001);
  expect((await makeKey(nia)).status).toBe(201);
});

it("a user has at most 100 personal tokens", async () => {
  const make = () => call(world.gateway.url, "POST", "/tokens", { body: { name: "ci" }, headers });
  const headers = { cookie: mo.cookie };
  await sql(
    `insert into admin_tokens (id, user_id, name, lookup)
     select id || i, user_id, name, sha256((id || i)::bytea) from admin_tokens, generate_series(1, 98) i where user_id = $1`,
    [mo.userId],
  );
  expect(outcomeOf(await make())).toBe(201);
  expect(outcomeOf(await make())).toMatchObject([
    409,
    "conflict",
    expect.stringMatching(/^There are 100 personal tokens/),
  ]);
});

it("an expired personal token no longer counts towards the limit, by the gateway's clock", async () => {
  const oz = await newMember(world.gateway, world.home.id, {
    email: "oz@example.com",
    role: "member",
  });
  const headers = { cookie: oz.cookie };
  const make = () => call(world.gateway.url, "POST", "/tokens", { body: { name: "ci" }, headers });
  await sql(
    `insert into admin_tokens (id, user_id, name, lookup, created_at, expires_at)
     select 'token_oz' || i, $1, 'ci', sha256(('oz' || i)::bytea), $2, $3 from generate_series(1, 100) i`,
    [oz.userId, new Date(clock.now() - 2 * dayMs), new Date(clock.now() + 1_000)],
  );
  expect((await make()).status).toBe(409);
  clock.advance(1_001);
  expect((await make()).status).toBe(201);
});

it("workspace administrators have at most 1000 members and invitations a day, including removed ones", async () => {
  const invite = (email: string, by?: Pick<World["gateway"], "admin">) => {
    const body = { email, role: "member" };
    const path = `/workspaces/${world.away.id}/members`;
    return by === undefined ? world.bob.call("POST", path, body) : by.admin("POST", path, body);
  };
  const { user_id } = (await invite("first@example.com")).json;
  await world.bob.call("DELETE", `/workspaces/${world.away.id}/members/${user_id}`);
  await sql(
    `insert into audit_entries (workspace_id, id, created_at, actor_kind, actor_name, action, object_type, object_id)
     select workspace_id, id || i, created_at, actor_kind, actor_name, action, object_type, object_id
     from audit_entries, generate_series(1, 998) i where workspace_id = $1 and object_id = $2 and action = 'member.create'`,
    [world.away.id, user_id],
  );
  expect(outcomeOf(await invite("second@example.com"))).toBe(201);
  expect(outcomeOf(await invite("third@example.com"))).toMatchObject([
    409,
    "conflict",
    expect.stringMatching(/^There are 1000 members of this/),
  ]);
  expect((await invite("third@example.com", world.gateway)).status).toBe(201);
  clock.advance(dayMs + 1);
  expect((await invite("fourth@example.com")).status).toBe(201);
  await sql(
    `insert into members (workspace_id, user_id, status, invitation_id, invitation_hash, invitation_expires_at, created_at)
     select workspace_id, user_id || i, status, invitation_id, sha256(i::text::bytea), invitation_expires_at, $2
     from members, generate_series(1, 998) i where workspace_id = $1 and status = 'invited' limit 998`,
    [world.away.id, new Date(clock.now() - 2 * dayMs)],
  );
  expect((await invite("fifth@example.com")).status).toBe(409);
});

it("a workspace sends at most 100 test events an hour", async () => {
  const test = () =>
    world.ann.call("POST", `/workspaces/${world.home.id}/webhook_test`, {
      url: "https://receiver.invalid/hook",
    });
  const { id } = (await test()).json;
  await sql(
    `insert into webhook_deliveries (workspace_id, id, type, url, body, created_at, updated_at, status)
     select workspace_id, id || i, type, url, body, created_at, created_at, 'failed'
     from webhook_deliveries, generate_series(1, 98) i where id = $1`,
    [id],
  );
  expect(outcomeOf(await test())).toBe(202);
  expect(outcomeOf(await test())).toMatchObject([
    409,
    "conflict",
    expect.stringMatching(/^There are 100 test events/),
  ]);
  clock.advance(3_600_001);
  expect((await test()).status).toBe(202);
});

it("a user keeps the newest 100 sessions", async () => {
  const { email, userId } = world.ann;
  await sql(
    `insert into auth_sessions (id, user_id, token, expires_at, created_at)
     select 'session_' || i, $1, 'token ' || i, now() + interval '1 day', now() - interval '1 hour' * i from generate_series(1, 150) i`,
    [userId],
  );
  expect((await signIn(world.gateway, email, password)).status).toBe(200);
  const rows = await sql("select id from auth_sessions where user_id = $1", [userId]);
  expect(rows).toHaveLength(100);
  expect(rows).toContainEqual({ id: "session_98" });
  expect(rows).not.toContainEqual({ id: "session_100" });
});

/**
 * Attacks by a user whose rights just ended: with a request that began before, and with many at the same moment. Also attacks by
 * strangers who sign in: guesses under many spellings, and rows that no sweep removes.
 */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { sweepSignIns } from "../../src/admin/index.ts";
import type { Queryable } from "../../src/storage/index.ts";
import { newMember, password, signIn, startWorld, type World } from "../admin/people.ts";
import { call } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";
import { closeAll, openRaw, type RawClient } from "./raw-clients.ts";

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => world?.gateway.close());

const clients: RawClient[] = [];
afterAll(() => closeAll(clients));

/**
 * Sends a request without the last byte of its body, and waits until the gateway has looked up the sender. Returns a function
 * that sends this byte and resolves with the status of the answer.
 */
async function lateBody(path: string, credential: Record<string, string>, body: object) {
  const { database, url } = world.gateway;
  const text = JSON.stringify(body);
  const query = vi.spyOn(database, "query");
  const isKnown = (): boolean => {
    const at = query.mock.calls.findIndex(([sql]) => sql.includes("u.role, w.id as workspace_id"));
    return query.mock.settledResults[at]?.type === "fulfilled";
  };
  const headers = { ...credential, "content-length": `${text.length}` };
  const client = openRaw(url, { path: `/admin/v1${path}`, headers, body: text.slice(0, -1) });
  clients.push(client);
  await eventually(isKnown, "the sender is looked up");
  query.mockRestore();
  return async (): Promise<number> => {
    client.socket.write(text.slice(-1));
    return eventually(() => client.status(), "an answer");
  };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const activeKeys = async (userId: string): Promise<number> => {
  const [row] = await world.gateway.database.query<{ n: number }>(
    "select count(*)::integer as n from api_keys where created_by = $1 and status = 'active'",
    [userId],
  );
  return row!.n;
};

const waitingSql = "select 1 from pg_locks where not granted and locktype = 'transactionid'";

/** Resolves when another transaction waits for an open one. */
const blockedStatement = (tx: Queryable): Promise<unknown> =>
  eventually(async () => (await tx.query(waitingSql, [])).length > 0, "somebody waits");

it("a member who is removed while their request body arrives makes no key and enables none", async () => {
  const { gateway, home, ann } = world;
  const leaver = await newMember(gateway, home.id, { email: "leaver@example.com", role: "member" });
  const body = { workspace_id: home.id, name: "kept for later" };
  const own = await leaver.call("POST", "/keys", body);
  expect(own.status).toBe(201);
  const making = await lateBody("/keys", bearer(leaver.token), body);
  const enabling = await lateBody(`/keys/${own.json.id}/enable`, bearer(leaver.token), {});
  const gone = await ann.call("DELETE", `/workspaces/${home.id}/members/${leaver.userId}`);
  expect(gone.status).toBe(200);
  expect(await making()).toBe(404);
  expect(await enabling()).toBe(404);
  expect(await activeKeys(leaver.userId)).toBe(0);
});

it("an admin who loses the role while their request body arrives adds no member", async () => {
  const { gateway, home, ann } = world;
  const sunk = await newMember(gateway, home.id, { email: "sunk@example.com", role: "admin" });
  const path = `/workspaces/${home.id}/members`;
  const body = { email: "friend@example.com", role: "admin" };
  const adding = await lateBody(path, bearer(sunk.token), body);
  const changed = await ann.call("PATCH", `${path}/${sunk.userId}`, { role: "member" });
  expect(changed.status).toBe(200);
  expect(await adding()).toBe(403);
});

it("a session that ended by a new password makes no personal token with a request that it began before", async () => {
  const { gateway, home } = world;
  const owner = await newMember(gateway, home.id, { email: "owner@example.com", role: "member" });
  const stolen = { cookie: owner.cookie };
  const making = await lateBody("/tokens", stolen, { name: "a thief's" });
  const changed = await call(gateway.url, "POST", "/auth/change-password", {
    headers: stolen,
    body: { currentPassword: password, newPassword: `${password}!` },
  });
  expect(changed.status).toBe(200);
  expect(await making()).toBe(401);
  const rows = await gateway.database.query(
    "select 1 from admin_tokens where user_id = $1 and revoked_at is null",
    [owner.userId],
  );
  expect(rows).toEqual([]);
});

it("a session whose deletion is not yet committed makes no personal token", async () => {
  const { gateway, home } = world;
  const owner = await newMember(gateway, home.id, { email: "slow@example.com", role: "member" });
  const make = () =>
    call(gateway.url, "POST", "/tokens", {
      headers: { cookie: owner.cookie },
      body: { name: "a thief's" },
    });
  expect((await make()).status).toBe(201);
  const making = await gateway.database.transaction(async (tx) => {
    // The statement of a new password, in a transaction that is still open.
    await tx.query("delete from auth_sessions where user_id = $1", [owner.userId]);
    const made = make();
    await blockedStatement(tx);
    return { made };
  });
  expect((await making.made).status).toBe(401);
});

it("keys made at the moment of the member's removal are not left active", async () => {
  const { gateway, home, ann } = world;
  const hasty = await newMember(gateway, home.id, { email: "hasty@example.com", role: "member" });
  const over = new AbortController();
  const statuses = new Set<number>();
  const loops = Array.from({ length: 6 }, async () => {
    while (!over.signal.aborted) {
      const body = { workspace_id: home.id, name: "one more" };
      statuses.add((await hasty.call("POST", "/keys", body)).status);
    }
  });
  await eventually(async () => (await activeKeys(hasty.userId)) > 5, "some keys are made");
  const gone = await ann.call("DELETE", `/workspaces/${home.id}/members/${hasty.userId}`);
  expect(gone.status).toBe(200);
  await eventually(() => statuses.has(404), "one who is gone is refused");
  over.abort();
  await Promise.all(loops);
  expect(statuses).toEqual(new Set([201, 404]));
  expect(await activeKeys(hasty.userId)).toBe(0);
});

it("a member cannot enable their own key at the moment of their removal", async () => {
  const { gateway, home } = world;
  const hasty = await newMember(gateway, home.id, { email: "quick@example.com", role: "member" });
  const own = await hasty.call("POST", "/keys", { workspace_id: home.id, name: "put aside" });
  const move = (name: string) => hasty.call("POST", `/keys/${own.json.id}/${name}`, {});
  expect((await move("disable")).status).toBe(200);
  expect((await move("enable")).status).toBe(200);
  expect((await move("disable")).status).toBe(200);
  const enabling = await gateway.database.transaction(async (tx) => {
    // The statement of a removal, in a transaction that is still open.
    const person = [home.id, hasty.userId];
    await tx.query("delete from members where workspace_id = $1 and user_id = $2", person);
    const enabled = move("enable");
    await blockedStatement(tx);
    return { enabled };
  });
  expect((await enabling.enabled).status).toBe(404);
  expect(await activeKeys(hasty.userId)).toBe(0);
});

it("wrong passwords of an account are counted together, for all spellings of its address", async () => {
  const { gateway, mel } = world;
  const spellings = Array.from({ length: 10 }, (_, at) => {
    const typed = at % 2 === 0 ? mel.email : mel.email.toUpperCase();
    return `${" ".repeat(at % 4)}${typed}${"\t\u00a0\ufeff".slice(0, at % 3)}${" ".repeat(at)}`;
  });
  for (const email of spellings)
    expect((await signIn(gateway, email, "not the password")).status).toBe(401);
  expect((await signIn(gateway, ` ${mel.email}`, password)).status).toBe(429);
});

it("expired attempts and sessions of strangers are removed, without a successful sign-in", async () => {
  const { database } = world.gateway;
  const nowMs = Date.now();
  await database.query(
    `insert into auth_attempts (name, count, started_at)
     select 'account:' || n, 1, $1 from generate_series(1, 2500) n`,
    [new Date(nowMs - 6 * 60_000)],
  );
  await signIn(world.gateway, "somebody@example.com", "a guess");
  const count = async (table: string) =>
    (await database.query<{ n: number }>(`select count(*)::integer as n from ${table}`))[0]!.n;
  const sessions = await count("auth_sessions");
  await database.query(
    `insert into auth_sessions (id, user_id, token, expires_at)
     values ('session_old', $1, 'old', $2)`,
    [world.mel.userId, new Date(nowMs - 1)],
  );
  let steps = 0;
  while ((await sweepSignIns(database, nowMs)) > 0) steps += 1;
  expect(steps).toBe(3);
  expect(await count("auth_sessions")).toBe(sessions);
  // An open window goes on counting.
  expect(await count("auth_attempts")).toBeGreaterThan(0);
});

it("a flood of sign-ins leaves threads for calls, and is refused with 503 beyond the queue's limit", async () => {
  const { gateway } = world;
  const statuses: number[] = [];
  const waits: (string | null)[] = [];
  const many = Array.from({ length: 50 }, async (_, at) => {
    const { status, headers } = await signIn(gateway, `nobody${at}@example.com`, "a guess");
    statuses.push(status);
    if (status === 503) waits.push(headers.get("retry-after"));
  });
  // From here on as many sign-ins wait as may.
  await eventually(() => statuses.length > 0, "the first is answered");
  const body = gzipSync(
    JSON.stringify({
      model: "sandbox/chat",
      max_tokens: 5,
      messages: [{ role: "user", content: "Hello" }],
    }),
  );
  const called = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    body,
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
    },
  });
  await Promise.all(many);
  // A thread of the same pool decompressed its body.
  expect(called.status).toBe(200);
  expect(new Set(statuses)).toEqual(new Set([401, 503]));
  expect(new Set(waits)).toEqual(new Set([expect.stringMatching(/^\d+$/)]));
});

it("a person without any role, such as a removed member, sees neither models nor providers", async () => {
  const { gateway, home, ann } = world;
  const left = await newMember(gateway, home.id, { email: "left@example.com", role: "member" });
  const paths = ["/models", "/providers", "/providers/sandbox-one"] as const;
  const statuses = () =>
    Promise.all(paths.map(async (path) => (await left.call("GET", path)).status));
  const found = async () => (await left.call("GET", "/search?q=sandbox")).json.models.length;
  expect(await statuses()).toEqual([200, 200, 404]);
  expect(await found()).toBeGreaterThan(0);
  const gone = await ann.call("DELETE", `/workspaces/${home.id}/members/${left.userId}`);
  expect(gone.status).toBe(200);
  expect(await statuses()).toEqual([403, 403, 403]);
  expect(await found()).toBe(0);
  const { rights } = (await left.call("GET", "/me")).json;
  expect([rights.everywhere, rights.workspaces]).toEqual([[], {}]);
  expect(rights.own).toContain("token.create");
});

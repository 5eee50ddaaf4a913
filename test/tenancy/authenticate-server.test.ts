/** Cases that need a PostgreSQL server: several processes, a lost listener, a server that becomes unreachable. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { createAuthenticator, disableKey, enableKey, revokeKey } from "../../src/tenancy/index.ts";
import { silentLog, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTenant, refusal, until, type Tenant } from "./support.ts";

let server: TestPostgres;
let url: string;
let tenant: Tenant;
const opened: Database[] = [];

async function openNode(): Promise<Database> {
  const database = await openDatabase({ url, log: silentLog });
  opened.push(database);
  return database;
}

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  const database = await openNode();
  await migrate(database);
  tenant = await createTenant(database);
});
afterAll(async () => {
  await Promise.all(opened.map((database) => database.close()));
  await server.stop();
});

it("KEY-11 T73: a change on one node reaches the caches of all other nodes", async () => {
  const nodes = await Promise.all([1, 2, 3, 4].map(openNode));
  const authenticators = nodes.map((node) => tenant.newAuthenticator(node));
  await until(() => nodes.every((node) => node.signals.healthy()));
  for (let round = 0; round < 3; round += 1) {
    const { record, key } = await tenant.newKey();
    for (const authenticator of authenticators) await authenticator.authenticate(key);
    const refused = (code: string) => async () => {
      const calls = authenticators.map((one) => one.authenticate(key).catch((error) => error.code));
      return (await Promise.all(calls)).every((outcome) => outcome === code);
    };
    // From another node each time, so that only the signal can update the caches.
    const changer = { ...tenant, database: nodes[round]! };
    await disableKey(changer, { id: record.id });
    await until(refused("api_key_disabled"));
    await enableKey(changer, { id: record.id });
    for (const authenticator of authenticators) await authenticator.authenticate(key);
    await revokeKey(changer, { id: record.id });
    await until(refused("api_key_revoked"));
  }
  await Promise.all(authenticators.map((authenticator) => authenticator.close()));
});

it("T73: the result of a lookup that began before a revocation and ended after it is not cached", async () => {
  const other = await openNode();
  const authenticator = tenant.newAuthenticator(other);
  await until(() => other.signals.healthy());
  const { record, key } = await tenant.newKey();
  // The look-up now waits for a lock in the middle of its statement, with its snapshot already taken.
  const { database } = tenant;
  await database.query(`alter table workspaces rename to workspaces_real`);
  await database.query(
    `create view workspaces as select * from workspaces_real where pg_advisory_xact_lock_shared(73) is not null`,
  );
  let seen = 0;
  other.signals.subscribe("keys", () => (seen += 1));
  const overtaken = await database.transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock(73)");
    const call = authenticator.authenticate(key);
    const waits = "select 1 from pg_locks where locktype = 'advisory' and not granted";
    await until(async () => (await database.query(waits)).length === 1);
    await revokeKey(tenant, { id: record.id });
    await until(() => seen > 0);
    return { call };
  });
  // It read the row from before the revocation: the race is real.
  expect((await overtaken.call).keyId).toBe(record.id);
  expect(await refusal(authenticator.authenticate(key))).toBe("api_key_revoked");
  await database.query("drop view workspaces");
  await database.query("alter table workspaces_real rename to workspaces");
  await authenticator.close();
});

it("T73: while signals may be missed, cached keys are not trusted, and the cache starts empty afterwards", async () => {
  const node = await openNode();
  const authenticator = tenant.newAuthenticator(node);
  await until(() => node.signals.healthy());
  const [one, two] = await Promise.all([tenant.newKey(), tenant.newKey()]);
  for (const { key } of [one, two]) await authenticator.authenticate(key);

  const name = new URL(url).pathname.slice(1);
  const admin = await openDatabase({ url: server.url, log: silentLog });
  await admin.query(`alter database ${name} allow_connections false`);
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tollgate signals' and datname = $1",
    [name],
  );
  await until(() => !node.signals.healthy());
  await revokeKey(tenant, { id: one.record.id });
  expect(await refusal(authenticator.authenticate(one.key))).toBe("api_key_revoked");
  await revokeKey(tenant, { id: two.record.id });
  await admin.query(`alter database ${name} allow_connections true`);
  await admin.close();
  await until(() => node.signals.healthy());
  expect(await refusal(authenticator.authenticate(two.key))).toBe("api_key_revoked");
  await authenticator.close();
});

it("last_used_at neither waits for a locked key nor deadlocks with other nodes", async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => tenant.newKey()));
  const nodes = await Promise.all([openNode(), openNode()]);
  const [forth, back] = nodes.map((node) => tenant.newAuthenticator(node));
  await tenant.database.transaction(async (tx) => {
    await tx.query("select 1 from api_keys where id = $1 for update", [keys[0]!.record.id]);
    for (const { key } of keys) await forth!.authenticate(key);
    for (const { key } of keys.toReversed()) await back!.authenticate(key);
    // Closing waits for the write: it must end although this transaction locks one key.
    await Promise.all([forth!.close(), back!.close()]);
  });
  const rows = await tenant.database.query<{ id: string }>(
    "select id from api_keys where id = any($1::text[]) and last_used_at is null",
    [keys.map(({ record }) => record.id)],
  );
  expect(rows).toEqual([{ id: keys[0]!.record.id }]);
});

it("without the database an uncached key gets 503 database_unavailable, and no log line contains a key", async () => {
  const node = await openNode();
  const lines: string[] = [];
  const log = {
    warn: (fields: object, text: string) => void lines.push(JSON.stringify(fields) + text),
  };
  const authenticator = createAuthenticator({ ...tenant, database: node, log });
  await until(() => node.signals.healthy());
  const { key } = await tenant.newKey();
  await authenticator.authenticate(key);
  const outage = await server.outage("immediate");
  await until(() => !node.signals.healthy());
  const error: unknown = await authenticator.authenticate(key).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "database_unavailable", status: 503, retryAfterSeconds: 1 });
  expect((error as Error).message).not.toContain(key);
  await authenticator.close();
  await outage.back();
  expect(lines.join()).toContain("last_used_at was not written");
  expect(lines.join()).not.toContain(key);
  const after = tenant.newAuthenticator(node);
  expect((await after.authenticate(key)).workspaceId).toBe(tenant.workspace.id);
  await after.close();
});

import { scryptSync } from "node:crypto";
import { expect, it } from "vitest";
import { assert } from "../../src/base/assert.ts";
import { parseUsd } from "../../src/base/money.ts";
import { firstStart } from "../../src/cli/first-start.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { manualClock } from "../support/manual-clock.ts";
import {
  bootstrap,
  getKey,
  getMember,
  getOrganization,
  getUser,
  getWorkspace,
  revealKey,
  verifyPassword,
} from "../../src/tenancy/index.ts";
import { hashPassword } from "../../src/tenancy/passwords.ts";
import { deriveSecrets } from "../support/secrets.ts";
import { describeDatabase } from "../support/postgres.ts";
import { createTenant, startMs } from "./support.ts";

const secrets = deriveSecrets(Buffer.alloc(32, 1));
const clock = manualClock(startMs);

it("a password is stored in the format of the console's login library: salt:hash, scrypt 16384/16/1, 64 bytes", async () => {
  const stored = await hashPassword("pa\u0301sswört");
  const [salt, hash] = stored.split(":");
  expect(stored).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/);
  // The salt is used as its hexadecimal text; the password in its composed form.
  const options = { N: 16384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 };
  expect(scryptSync("pásswört".normalize("NFKC"), salt!, 64, options).toString("hex")).toBe(hash);
  expect(await verifyPassword("pásswört", stored)).toBe(true);
  expect(await verifyPassword("passwort", stored)).toBe(false);
  expect(await hashPassword("pásswört")).not.toBe(stored);
  for (const broken of ["", "x", "salt:", ":00", "salt:zz"]) {
    expect(await verifyPassword("", broken)).toBe(false);
  }
});

describeDatabase("the first start", (open) => {
  it("creates everything needed to call and to log in, and returns it once", async () => {
    const database = await open();
    const context = { database, secrets, clock };
    const first = await bootstrap(context);
    assert(first !== null, "nothing was created");
    expect(await getOrganization(context, first.organizationId)).toMatchObject({ name: "Default" });
    expect(await getWorkspace(context, first.workspaceId)).toMatchObject({
      name: "Default",
      organizationId: first.organizationId,
      status: "active",
    });
    const user = await getUser(context, first.userId);
    expect(user).toMatchObject({ email: first.email, role: "admin" });
    const membership = { workspaceId: first.workspaceId, userId: first.userId };
    expect(await getMember(context, membership)).toMatchObject({ role: "admin" });
    expect(await getKey(context, { id: first.keyId })).toMatchObject({
      name: "first key",
      workspaceId: first.workspaceId,
      createdBy: first.userId,
    });
    expect((await revealKey(context, { id: first.keyId })).key).toBe(first.key);
    const [row] = await database.query<{ password_hash: string }>(
      "select password as password_hash from auth_accounts where user_id = $1",
      [first.userId],
    );
    expect(await verifyPassword(first.oneTimePassword, row!.password_hash)).toBe(true);
    expect(first.oneTimePassword).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(JSON.stringify(user)).not.toContain(row!.password_hash);
    expect(await bootstrap(context)).toBeNull();
  });

  it("processes that start together create one set", async () => {
    const database = await open();
    const context = { database, secrets, clock };
    const starts = await Promise.all([1, 2, 3, 4].map(() => bootstrap(context)));
    expect(starts.filter((start) => start !== null)).toHaveLength(1);
    const [counts] = await database.query(
      `select (select count(*)::int from organizations) as organizations, (select count(*)::int from workspaces) as workspaces,
         (select count(*)::int from users) as users, (select count(*)::int from api_keys) as keys`,
    );
    expect(counts).toEqual({ organizations: 1, workspaces: 1, users: 1, keys: 1 });
  });

  it("a first start that fails halfway leaves nothing, and the next one creates everything", async () => {
    const tenant = await createTenant(await open());
    const context = { database: tenant.database, secrets, clock };
    const failing = { ...secrets, seal: () => expect.fail("the disk is full") };
    await expect(bootstrap({ ...context, secrets: failing })).rejects.toThrow("the disk is full");
    const users = "select count(*)::int as count from users";
    expect(await tenant.database.query(users)).toEqual([{ count: 0 }]);
    expect(await bootstrap(context)).toMatchObject({ email: "admin@tollgate.localhost" });
  });

  it("a first start whose credit fails leaves nothing, and the next one shows the key and has the credit", async () => {
    const database = await open();
    const failing = <Of extends Queryable>(queryable: Of): Of => ({
      ...queryable,
      query: (sql: string, ...rest: []) =>
        sql.includes("ledger_credit(")
          ? Promise.reject(new Error("the connection was lost"))
          : queryable.query(sql, ...rest),
    });
    const broken: Database = {
      ...failing(database),
      transaction: (work, options) => database.transaction((tx) => work(failing(tx)), options),
    };
    const options = { secrets, clock, creditNano: parseUsd("25") };
    await expect(firstStart({ ...options, database: broken })).rejects.toThrow("was lost");
    const first = await firstStart({ ...options, database });
    expect(first).toMatchObject({ apiKey: expect.any(String), credit: "25" });
    const credits = await database.query("select credits_nano from ledger_accounts");
    expect(credits).toEqual([{ credits_nano: parseUsd("25") }]);
  });
});

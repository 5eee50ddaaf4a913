/** Replacing the master key in the rows: races, interruptions, wrong keys. Tests with gateways are in test/operation. */
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Database } from "../../src/storage/index.ts";
import {
  answerSealName,
  createKey,
  createOrganization,
  createWorkspace,
  MasterKeyError,
  type OpenSecrets,
  openSecrets,
  readSigningSecret,
  revealKey,
  rotateKey,
  rotateMasterKey,
  rotateSigningSecret,
} from "../../src/tenancy/index.ts";
import { masterKeyProgress } from "../../src/tenancy/rotate-master-key.ts";
import { sealedColumns } from "../../src/tenancy/sealed-values.ts";
import { describeDatabase } from "../support/postgres.ts";
import { until } from "./support.ts";

const newMasterKey = (): string => randomBytes(32).toString("base64");
const dataDir = "/nonexistent";
const [old, fresh, third] = [newMasterKey(), newMasterKey(), newMasterKey()];
const both = { masterKey: fresh, previousMasterKey: old, dataDir };

const open = (database: Database, keys: object): Promise<OpenSecrets> =>
  openSecrets({ database, dataDir, ...keys });

/** An installation under the old key, with some keys and two workspaces. */
async function installation(database: Database, keys = 3) {
  const secrets = await open(database, { masterKey: old });
  const context = { database, clock: systemClock, secrets };
  const { id: organizationId } = await createOrganization(context, { name: "Acme" });
  const workspace = await createWorkspace(context, { name: "Team", organizationId });
  const createdKeys = [];
  for (let at = 0; at < keys; at += 1)
    createdKeys.push(
      await createKey(context, { workspaceId: workspace.id, name: `k${at}`, createdBy: null }),
    );
  return { context, workspace, createdKeys, organizationId };
}

describeDatabase("the replacement of the master key", (openDatabase) => {
  it("API keys and signing secrets stay readable before, during and after two replacements", async () => {
    const database = await openDatabase();
    const { context, workspace, createdKeys, organizationId } = await installation(database);
    await rotateSigningSecret(context, workspace.id);
    const signing = await readSigningSecret(context, workspace.id);
    expect(signing.previous).not.toBeNull();
    const running = await open(database, both);
    expect(running.masterKeys().sealing).toBe(context.secrets.masterKeys().sealing);
    expect(await masterKeyProgress({ ...both, database })).toEqual({
      isPending: true,
      left: 3,
      isPreviousGiven: true,
    });
    const end = await rotateMasterKey({ ...both, database });
    expect(end.resealed).toMatchObject({ "api_keys.ciphertext": 3 });
    await running.refresh();
    const later = await open(database, { masterKey: fresh });
    expect(running.masterKeys().sealing).toBe(later.masterKeys().sealing);
    for (const secrets of [running, later]) {
      const at = { ...context, secrets };
      for (const { record, key } of createdKeys) {
        expect((await revealKey(at, { id: record.id })).key).toBe(key);
        expect(secrets.lookup(key)).toEqual(context.secrets.lookup(key));
      }
      expect(await readSigningSecret(at, workspace.id)).toEqual(signing);
      expect(secrets.sessionSecret()).toBe(context.secrets.sessionSecret());
    }
    // Everything that derives from the master key is new: tokens, temporary values, the secrets of new workspaces.
    expect(later.adminToken()).not.toBe(context.secrets.adminToken());
    expect(running.adminTokens()).toContain(context.secrets.adminToken());
    expect(later.temporarySignatures("x")).not.toContainEqual(
      context.secrets.temporarySignature("x"),
    );
    const second = await createWorkspace(context, { name: "Next", organizationId });
    const next = await readSigningSecret({ ...context, secrets: later }, second.id);
    expect(next.secret).not.toBe(context.secrets.signingSecret(second.id, 1));
    const rotated = await rotateSigningSecret({ ...context, secrets: later }, workspace.id);
    expect(rotated.previous?.secret).toBe(signing.secret);
    expect(rotated.secret).not.toBe(context.secrets.signingSecret(workspace.id, 3));

    await rotateMasterKey({ database, dataDir, masterKey: third, previousMasterKey: fresh });
    const last = { ...context, secrets: await open(database, { masterKey: third }) };
    expect((await revealKey(last, { id: createdKeys[0]!.record.id })).key).toBe(
      createdKeys[0]!.key,
    );
    expect(last.secrets.lookup("a")).toEqual(context.secrets.lookup("a"));
    expect((await readSigningSecret(last, second.id)).secret).toBe(next.secret);
    expect(await readSigningSecret(last, workspace.id)).toEqual(rotated);
    await expect(open(database, { masterKey: fresh })).rejects.toThrow(/was replaced/);
    await expect(open(database, { masterKey: old })).rejects.toThrow(/was replaced/);
  });

  it("KEY-04: a replacement can be reversed by one run, and a run reports the previous key", async () => {
    const database = await openDatabase();
    const { context, createdKeys } = await installation(database);
    const id = (secrets: OpenSecrets): string => secrets.masterKeys().sealing;
    const oldId = id(context.secrets);
    await rotateMasterKey({ ...both, database });
    const freshId = id(await open(database, { masterKey: fresh }));
    const back = { database, dataDir, masterKey: old, previousMasterKey: fresh };
    expect(await rotateMasterKey(back)).toMatchObject({
      from: freshId,
      to: oldId,
      resealed: { "api_keys.ciphertext": 3 },
    });
    const again = { ...context, secrets: await open(database, { masterKey: old }) };
    for (const { record, key } of createdKeys)
      expect((await revealKey(again, { id: record.id })).key).toBe(key);
    // A second run reports the same, and has nothing to do.
    expect(await rotateMasterKey(back)).toMatchObject({ from: freshId, to: oldId });
    const next = { database, dataDir, masterKey: third, previousMasterKey: old };
    expect(await rotateMasterKey(next)).toMatchObject({ from: oldId });
  });

  it("an interrupted run is completed by the next; until then a gateway needs both keys", async () => {
    const database = await openDatabase();
    const { context, createdKeys } = await installation(database, 1_100);
    await expect(
      rotateMasterKey({
        ...both,
        database,
        progress() {
          throw new Error("broken off");
        },
      }),
    ).rejects.toThrow("broken off");
    const state = await masterKeyProgress({ ...both, database });
    expect(state).toMatchObject({ isPending: true, left: 600 });
    await expect(open(database, { masterKey: fresh })).rejects.toThrow(
      /600 values in the database are still sealed .* TOLLGATE_MASTER_KEY_PREVIOUS/,
    );
    await expect(open(database, { masterKey: old })).rejects.toThrow(MasterKeyError);
    await expect(open(database, { masterKey: fresh, previousMasterKey: third })).rejects.toThrow(
      /600 values/,
    );
    // Values under either key can be read meanwhile.
    const meanwhile = { ...context, secrets: await open(database, both) };
    for (const { record, key } of [createdKeys[0]!, createdKeys.at(-1)!])
      expect((await revealKey(meanwhile, { id: record.id })).key).toBe(key);
    // Another pair of keys cannot begin in the middle.
    await expect(
      rotateMasterKey({ database, dataDir, masterKey: third, previousMasterKey: fresh }),
    ).rejects.toThrow(/has not ended/);
    expect((await rotateMasterKey({ ...both, database })).resealed).toMatchObject({
      "api_keys.ciphertext": 600,
    });
    const after = { ...context, secrets: await open(database, { masterKey: fresh }) };
    for (const { record, key } of createdKeys)
      expect((await revealKey(after, { id: record.id })).key).toBe(key);
  });

  it("T71: keys that are created and rotated during two concurrent runs are never lost", async () => {
    const database = await openDatabase();
    const { context, createdKeys, workspace } = await installation(database, 600);
    const secrets = await open(database, both);
    const at = { ...context, secrets };
    const current = new Map(createdKeys.map(({ record, key }) => [record.id, key]));
    const stopChanges = new AbortController();
    const changing = async (): Promise<void> => {
      for (let turn = 0; !stopChanges.signal.aborted; turn += 1) {
        const { id } = createdKeys[(turn * 7) % createdKeys.length]!.record;
        current.set(id, (await rotateKey(at, { id })).key);
        const input = { workspaceId: workspace.id, name: "late", createdBy: null };
        const { record, key } = await createKey(at, input);
        current.set(record.id, key);
        if (turn % 5 === 0) await secrets.refresh();
      }
    };
    // Handled from its start: it may be rejected while the test still waits for the runs.
    const changes = Promise.allSettled([changing()]);
    const runs = [rotateMasterKey({ ...both, database }), rotateMasterKey({ ...both, database })];
    // A gateway that has not checked yet may seal under the old key until the very end; then the database refuses it.
    const ends = await Promise.allSettled(runs);
    stopChanges.abort();
    const refusals = [...ends, ...(await changes)].flatMap((end) =>
      end.status === "rejected" ? [String(end.reason)] : [],
    );
    const expected = /master key was replaced|run it again/;
    expect(refusals.filter((reason) => !expected.test(reason))).toEqual([]);
    await rotateMasterKey({ ...both, database });
    const after = { ...context, secrets: await open(database, { masterKey: fresh }) };
    for (const [id, key] of current) {
      const shown = await revealKey(after, { id });
      expect(shown.key).toBe(key);
      const found = await database.query("select 1 from api_keys where id = $1 and lookup = $2", [
        id,
        after.secrets.lookup(key),
      ]);
      expect(found).toHaveLength(1);
    }
    expect(current.size).toBeGreaterThan(600);
  });

  it("a process that missed the replacement cannot store values under the old key", async () => {
    const database = await openDatabase();
    const { context, workspace, createdKeys } = await installation(database);
    await rotateMasterKey({ ...both, database });
    const input = { workspaceId: workspace.id, name: "asleep", createdBy: null };
    await expect(createKey(context, input)).rejects.toThrow(/the master key was replaced/);
    await expect(rotateKey(context, { id: createdKeys[0]!.record.id })).rejects.toThrow(
      /was replaced/,
    );
    await expect(readSigningSecret(context, workspace.id)).rejects.toThrow(/is not held here/);
    const { n } = (
      await database.query<{ n: number }>("select count(*)::int as n from api_keys")
    )[0]!;
    expect(n).toBe(3);
  });

  it("a wrong previous key changes nothing, and the same key given twice counts as one", async () => {
    const database = await openDatabase();
    await installation(database);
    const wrong = { masterKey: fresh, previousMasterKey: third, dataDir, database };
    await expect(rotateMasterKey(wrong)).rejects.toThrow(/not the one this database was set up/);
    const same = { masterKey: old, previousMasterKey: old, dataDir, database };
    expect(await rotateMasterKey(same)).toMatchObject({ from: null });
    expect((await open(database, { masterKey: old })).masterKeys().held).toHaveLength(1);
  });

  it("a run is refused while a gateway lacks the new key, and waits for gateways that do not yet seal with it", async () => {
    const database = await openDatabase();
    await installation(database);
    const report = (id: string, keys: readonly string[], sealing: string | null) =>
      database.query(
        `insert into gateways (id, version, started_at, last_seen_at, in_flight, event_loop_p99_ms, memory_bytes, master_keys, sealing_key)
         values ($1, '9.9.9', now(), now(), 0, 0, 0, $2, $3)
         on conflict (id) do update set master_keys = $2, sealing_key = $3, last_seen_at = now()`,
        [id, keys, sealing],
      );
    const { held } = (await open(database, both)).masterKeys();
    await report("gw_old", [held[1]!], held[1]!);
    await expect(rotateMasterKey({ ...both, database })).rejects.toThrow(
      /1 running gateway does not hold the new master key: gw_old \(version 9\.9\.9\)/,
    );
    expect((await open(database, { masterKey: old })).masterKeys().held).toHaveLength(1);
    await report("gw_old", held, held[1]!);
    await expect(rotateMasterKey({ ...both, database, gatewaysMsMax: 0 })).rejects.toThrow(
      /1 running gateway does not seal under the new master key yet: gw_old/,
    );
    const run = rotateMasterKey({ ...both, database });
    let ended = false;
    void run.then(() => (ended = true));
    await report("gw_old", held, held[0]!);
    await until(() => ended);
  });

  it("a cached answer that no key opens does not stop a run, but one under a missing key does", async () => {
    const database = await openDatabase();
    const { context, workspace } = await installation(database);
    const names = ["a", "b"].map((digest) => ({ workspaceId: workspace.id, digest }));
    const keep = async (name: (typeof names)[number], sealed: Buffer): Promise<void> => {
      await database.query(
        `insert into cached_answers (workspace_id, digest, expires_at, bytes, sealed)
         values ($1, $2, now() + interval '1 hour', $3, $4)`,
        [name.workspaceId, name.digest, sealed.length, sealed],
      );
    };
    const seal = (secrets: OpenSecrets, name: (typeof names)[number]): Buffer =>
      secrets.sealBytes(answerSealName(name), Buffer.from("an answer"));
    await keep(names[0]!, seal(context.secrets, names[0]!));
    const broken = rotateMasterKey({
      ...both,
      database,
      progress() {
        throw new Error("broken off");
      },
    });
    await expect(broken).rejects.toThrow("broken off");
    await expect(
      rotateMasterKey({ database, dataDir, masterKey: fresh, previousMasterKey: third }),
    ).rejects.toThrow(/sealed of cached_answers, row .* is opened by none/);
    // A process that was suspended throughout writes under the old key afterwards.
    const end = await rotateMasterKey({ ...both, database });
    expect(end.resealed).toMatchObject({ "cached_answers.sealed": 1 });
    await keep(names[1]!, seal(context.secrets, names[1]!));
    await rotateMasterKey({ database, dataDir, masterKey: third, previousMasterKey: fresh });
    const last = await open(database, { masterKey: third });
    const rows = await database.query<{ digest: string; sealed: Buffer }>(
      "select digest, sealed from cached_answers order by digest",
    );
    const opened = (at: number): string =>
      last.unsealBytes(answerSealName(names[at]!), rows[at]!.sealed).toString();
    expect(opened(0)).toBe("an answer");
    expect(() => opened(1)).toThrow(/unable to authenticate/);
  });

  it("every column of sealed bytes is sealed again by a run", async () => {
    const database = await openDatabase();
    const rows = await database.query<{ place: string }>(
      `select c.relname || '.' || a.attname as place from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and a.attnum > 0
         and a.atttypid = 'bytea'::regtype and not a.attisdropped`,
    );
    // Hashes and HMACs: of look-up values, of requests, of tokens, of texts that rows share.
    const hashes = /lookup$|hash$|digest$|_mark$/;
    const sealed = rows.map(({ place }) => place).filter((place) => !hashes.test(place));
    const known = sealedColumns.map(({ table, column }) => `${table}.${column}`);
    expect(sealed.sort()).toEqual([...known].sort());
  });
});

import { createHmac, randomBytes } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, it } from "vitest";
import {
  createWorkspace,
  MasterKeyError,
  openSecrets,
  readSigningSecret,
  rotateMasterKey,
  rotateSigningSecret,
  signingOverlapMs,
} from "../../src/tenancy/index.ts";
import { signedHeaders } from "../../src/base/signature.ts";
import { generateKey } from "../../src/tenancy/key-format.ts";
import { deriveSecrets } from "../support/secrets.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";
import { createTenant, refusal } from "./support.ts";

const masterKey = randomBytes(32);
/** The error of the cipher, or of the format. */
const unusable = /unable to authenticate data|not sealed/;

it("a sealed key can be opened only with its record's id and master key, and only if unaltered", () => {
  const secrets = deriveSecrets(masterKey);
  const key = generateKey();
  const sealed = secrets.seal("key_1", key);
  expect(secrets.unseal("key_1", sealed)).toBe(key);
  expect(deriveSecrets(masterKey).unseal("key_1", sealed)).toBe(key);
  expect(sealed.includes(key)).toBe(false);
  expect(secrets.seal("key_1", key).equals(sealed)).toBe(false);
  expect(() => secrets.unseal("key_2", sealed)).toThrow(unusable);
  expect(() => deriveSecrets(randomBytes(32)).unseal("key_1", sealed)).toThrow(unusable);
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at]! ^= 1;
    expect(() => secrets.unseal("key_1", altered)).toThrow(unusable);
  }
  for (let length = 0; length < sealed.length; length += 1) {
    expect(() => secrets.unseal("key_1", sealed.subarray(0, length))).toThrow(unusable);
  }
});

it("lookup values depend on the master key, and printing the secrets shows none", () => {
  const secrets = deriveSecrets(masterKey);
  const key = generateKey();
  expect(secrets.lookup(key)).toHaveLength(32);
  expect(secrets.lookup(key)).toEqual(deriveSecrets(masterKey).lookup(key));
  expect(secrets.lookup(key)).not.toEqual(deriveSecrets(randomBytes(32)).lookup(key));
  expect(JSON.parse(JSON.stringify(secrets))).toEqual({ checkValue: secrets.checkValue });
  const shown = inspect(secrets, { depth: 9, showHidden: true });
  expect(shown).not.toContain(masterKey.toString("hex").slice(0, 16));
  expect(shown).not.toContain("Buffer");
});

it("KEY-14: the signing secret is derived by RFC 5869 from master key, workspace and version", () => {
  // The derivation written out with HMAC alone (extract, then one block of expand).
  const extracted = createHmac("sha256", "ws_1").update(masterKey).digest();
  const block = createHmac("sha256", extracted).update("webhook-signing-v2\u0001").digest();
  expect(deriveSecrets(masterKey).signingSecret("ws_1", 2)).toBe(
    `whsec_${block.toString("base64")}`,
  );
});

describeDatabase("secrets of an installation", (open) => {
  it("a changed or missing master key is reported at start, and the right one still works", async () => {
    const database = await open();
    const dataDir = temporaryDirectory();
    const first = await openSecrets({ database, masterKey: masterKey.toString("base64"), dataDir });
    const again = await openSecrets({ database, masterKey: masterKey.toString("base64"), dataDir });
    expect(again.checkValue).toBe(first.checkValue);
    const changed = openSecrets({
      database,
      masterKey: randomBytes(32).toString("base64"),
      dataDir,
    });
    await expect(changed).rejects.toThrow(MasterKeyError);
    await expect(changed).rejects.toThrow(/not the one this database was set up with/);
    // If the file was lost, no new one is made: it would be taken for the lost one.
    const lost = openSecrets({ database, dataDir });
    await expect(lost).rejects.toThrow(MasterKeyError);
    await expect(lost).rejects.toThrow(/set up with a master key, and none is given here/);
    expect(readdirSync(dataDir)).toEqual([]);
    const stored = JSON.stringify(await database.query("select * from settings"));
    expect(stored).not.toContain(masterKey.toString("base64"));
  });

  it("after the master key was moved to .previous, a start creates a new one; no other start or command does", async () => {
    const database = await open();
    const dataDir = temporaryDirectory();
    const file = join(dataDir, "master-key");
    const first = await openSecrets({ database, dataDir });
    renameSync(file, join(dataDir, "elsewhere"));
    const none = /set up with a master key, and none is given here/;
    await expect(rotateMasterKey({ database, dataDir })).rejects.toThrow(none);
    writeFileSync(`${file}.previous`, randomBytes(32).toString("base64"));
    await expect(openSecrets({ database, dataDir })).rejects.toThrow(none);
    await expect(rotateMasterKey({ database, dataDir })).rejects.toThrow(none);
    expect(existsSync(file)).toBe(false);

    renameSync(join(dataDir, "elsewhere"), `${file}.previous`);
    const both = await openSecrets({ database, dataDir });
    expect(both.checkValue).toBe(first.checkValue);
    expect(both.masterKeys().held).toHaveLength(2);
    const end = await rotateMasterKey({ database, dataDir, gatewaysMsMax: 0 });
    expect([end.to, end.from]).toEqual(both.masterKeys().held);
    rmSync(`${file}.previous`);
    const after = await openSecrets({ database, dataDir });
    expect(after.masterKeys()).toEqual({ sealing: end.to, held: [end.to] });
  });

  it("exactly one of several first starts with different master keys wins", async () => {
    const database = await open();
    const starts = await Promise.allSettled(
      Array.from({ length: 4 }, () => openSecrets({ database, dataDir: temporaryDirectory() })),
    );
    expect(starts.filter((start) => start.status === "fulfilled")).toHaveLength(1);
  });

  it("KEY-14: every workspace and every version has its own signing secret", async () => {
    const tenant = await createTenant(await open());
    const second = await createWorkspace(tenant, { name: "Other", organizationId: null });
    const own = await readSigningSecret(tenant, tenant.workspace.id);
    expect(own).toEqual({
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      enabled: true,
      version: 1,
      previous: null,
    });
    expect(await readSigningSecret(tenant, tenant.workspace.id)).toEqual(own);
    expect((await readSigningSecret(tenant, second.id)).secret).not.toBe(own.secret);
    const rotated = await rotateSigningSecret(tenant, tenant.workspace.id);
    expect(rotated.version).toBe(2);
    expect(rotated.secret).not.toBe(own.secret);
    expect(await readSigningSecret(tenant, tenant.workspace.id)).toEqual(rotated);
    expect(await refusal(readSigningSecret(tenant, "ws_none"))).toBe("not_found");
  });

  it("a replaced signing secret stays valid beside the new one for a day", async () => {
    const tenant = await createTenant(await open());
    const { secret } = await readSigningSecret(tenant, tenant.workspace.id);
    const rotated = await rotateSigningSecret(tenant, tenant.workspace.id);
    const expiresAt = new Date(tenant.clock.now() + signingOverlapMs);
    expect(rotated.previous).toEqual({ secret, expiresAt });
    tenant.clock.advance(signingOverlapMs - 1);
    expect((await readSigningSecret(tenant, tenant.workspace.id)).previous?.secret).toBe(secret);
    tenant.clock.advance(1);
    expect((await readSigningSecret(tenant, tenant.workspace.id)).previous).toBeNull();
    expect(await refusal(rotateSigningSecret(tenant, "ws_none"))).toBe("not_found");
  });

  it("KEY-15: a signing secret is not an API key, and an API key signs differently", async () => {
    const tenant = await createTenant(await open());
    const { key } = await tenant.newKey();
    const { secret } = await readSigningSecret(tenant, tenant.workspace.id);
    const authenticator = tenant.newAuthenticator();
    expect(await refusal(authenticator.authenticate(secret))).toBe("invalid_api_key");
    await authenticator.close();
    // A callback as the gateway signs it, and a receiver's check of both signatures.
    const signed = signedHeaders({ eventId: "evt_1", text: "{}", attempt: 1, nowMs: 1_000 }, [
      secret,
    ]);
    const verifies = (held: string): boolean[] => {
      const hmac = (hmacKey: string | Buffer, text: string) =>
        createHmac("sha256", hmacKey).update(text);
      const bytes = Buffer.from(held.slice(held.lastIndexOf("_") + 1), "base64");
      return [
        signed["Gw-Signature"] === `t=1,v1=${hmac(held, "1.{}").digest("hex")}`,
        signed["webhook-signature"] === `v1,${hmac(bytes, "evt_1.1.{}").digest("base64")}`,
      ];
    };
    expect(verifies(secret)).toEqual([true, true]);
    expect(verifies(key)).toEqual([false, false]);
  });
});

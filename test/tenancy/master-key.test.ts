import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { loadMasterKey, MasterKeyError } from "../../src/tenancy/master-key.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const run = promisify(execFile);
const script = join(import.meta.dirname, "load-master-key.ts");

describe("the master key", () => {
  it("is taken from the environment without writing a file", async () => {
    const dataDir = temporaryDirectory();
    const bytes = randomBytes(32);
    for (const text of [bytes.toString("base64"), ` ${bytes.toString("base64url")}\n`]) {
      expect(await loadMasterKey({ masterKey: text, dataDir })).toEqual(bytes);
    }
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it("is generated once into a file that only its owner can read, and is read from there again", async () => {
    const dataDir = join(temporaryDirectory(), "made", "on the way");
    const first = await loadMasterKey({ masterKey: "", dataDir });
    expect(first).toHaveLength(32);
    expect(await loadMasterKey({ dataDir })).toEqual(first);
    expect(readdirSync(dataDir)).toEqual(["master-key"]);
    expect(readFileSync(join(dataDir, "master-key"), "utf8").trim()).toBe(first.toString("base64"));
    expect(statSync(join(dataDir, "master-key")).mode & 0o777).toBe(0o600);
    expect(await loadMasterKey({ dataDir: temporaryDirectory() })).not.toEqual(first);
  });

  it("is the same for processes that start together", async () => {
    for (let round = 0; round < 3; round += 1) {
      const dataDir = temporaryDirectory();
      const goAt = String(Date.now() + 1_500);
      const runs = Array.from({ length: 4 }, () => run(process.execPath, [script, dataDir, goAt]));
      const digests = (await Promise.all(runs)).map((result) => result.stdout);
      expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
      expect(new Set(digests).size).toBe(1);
      expect(readdirSync(dataDir)).toEqual(["master-key"]);
    }
  });

  it.each([
    ["31 bytes", randomBytes(31).toString("base64")],
    ["33 bytes", randomBytes(33).toString("base64")],
    ["hexadecimal", randomBytes(32).toString("hex")],
    ["words", "correct horse battery staple correct horse ba"],
  ])("is refused if it is %s, and not repeated in the error", async (_name, masterKey) => {
    const error: unknown = await loadMasterKey({ masterKey, dataDir: temporaryDirectory() }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(MasterKeyError);
    expect((error as Error).message).toContain("TOLLGATE_MASTER_KEY is not a master key");
    expect((error as Error).message).not.toContain(masterKey);
  });

  it("is not replaced if its file is damaged", async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, "master-key"), "half a ke");
    await expect(loadMasterKey({ dataDir })).rejects.toThrow(/master-key is not a master key/);
    expect(readFileSync(join(dataDir, "master-key"), "utf8")).toBe("half a ke");
  });

  it("has an error that names the problem if its file cannot be read or written", async () => {
    const unreadable = temporaryDirectory();
    mkdirSync(join(unreadable, "master-key"));
    await expect(loadMasterKey({ dataDir: unreadable })).rejects.toThrow(/cannot be read/);
    const occupied = join(temporaryDirectory(), "file");
    writeFileSync(occupied, "");
    chmodSync(occupied, 0o600);
    await expect(loadMasterKey({ dataDir: join(occupied, "data") })).rejects.toThrow(
      MasterKeyError,
    );
  });
});

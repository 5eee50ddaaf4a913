// An invalid master key is refused before anything is written, and the report of a key's replacement has correct plurals.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { saidOf } from "../../src/cli/rotate-master-key.ts";
import { tollgate } from "../support/process.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-unusable-key-"));
afterAll(() => rmSync(directory, { recursive: true }));

const good = Buffer.alloc(32, 7).toString("base64");
/** A new data directory, with these files. */
function dataDirWith(files: Record<string, string>): string {
  const dataDir = mkdtempSync(join(directory, "data-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dataDir, name), text);
  return dataDir;
}

it.each([
  ["serve", { TOLLGATE_MASTER_KEY: "hunter2" }, {}, "TOLLGATE_MASTER_KEY"],
  ["serve --workers 2", { TOLLGATE_MASTER_KEY: "hunter2" }, {}, "TOLLGATE_MASTER_KEY"],
  ["restore backup.tar", { TOLLGATE_MASTER_KEY: "hunter2" }, {}, "TOLLGATE_MASTER_KEY"],
  [
    "serve",
    { TOLLGATE_MASTER_KEY: good, TOLLGATE_MASTER_KEY_PREVIOUS: "hunter2" },
    {},
    "TOLLGATE_MASTER_KEY_PREVIOUS",
  ],
  ["serve", {}, { "master-key": "hunter2\n" }, /\/master-key/],
  ["serve", {}, { "master-key": good, "master-key.previous": "hunter2" }, /\/master-key\.previous/],
])(
  "%s with %j and files %j: exit 2, and no database is created",
  async (words, keys, files, origin) => {
    const dataDir = dataDirWith(files);
    const { code, stdout, stderr } = await tollgate(words.split(" "), {
      PORT: "0",
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_WORKERS: "1",
      ...keys,
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^tollgate: \S+ is not a master key: .*\n$/);
    expect(stderr.split(" ")[1]).toMatch(origin);
    expect(stderr).not.toContain("hunter2");
    expect(readdirSync(dataDir).sort()).toEqual(Object.keys(files));
  },
);

it("the count of sealed values is 'value' for one and 'values' otherwise", () => {
  const end = { from: "k1", to: "k2" };
  const reportFor = (count: number): string =>
    saidOf({ ...end, resealed: { "api_keys.ciphertext": count } });
  expect(reportFor(0)).toMatch(/^0 values sealed again; /);
  expect(reportFor(1)).toMatch(/^1 value sealed again; /);
  expect(reportFor(2)).toMatch(/^2 values sealed again; /);
});

/**
 * A disk that takes no files: full, without inodes, read-only. The gateway refuses calls that need files before it asks a
 * vendor. The log says once how to fix it, everything else goes on, and the disk's recovery ends it. docs/data.md "When
 * files cannot be kept".
 */
import { execFile } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { checkDirectory } from "../../src/cli/doctor/machine.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import type { Log } from "../../src/base/log.ts";
import {
  canMount,
  fillDisk,
  limitInodes,
  mountDisk,
  remountDisk,
  unmountDisk,
} from "../support/disk.ts";
import { eventually } from "../support/patience.ts";
import { silentLog, temporaryDirectory } from "../support/postgres.ts";
import {
  modelA,
  modelB,
  picture,
  prompted,
  startImages,
  type ImageBench,
} from "../images/support.ts";

const run = promisify(execFile);
const nobody = 65_534;
const filesIndex = new URL("../../src/files/index.ts", import.meta.url).href;

let bench: ImageBench;
let disk: string;
const lines: Record<string, unknown>[] = [];
const keep = (fields: object, msg: string): void => void lines.push({ ...fields, msg });
const log: Log = { ...silentLog, info: keep, error: keep };

beforeAll(async () => {
  if (!canMount) return;
  bench = await startImages({ log, filesLookEveryMs: 250 });
  disk = join(bench.directory, "data", "files");
  mountDisk(disk, 1);
});
beforeEach(() => void lines.splice(0));
afterAll(async () => {
  if (!canMount) return;
  unmountDisk(disk);
  await bench.close();
});

const readiness = async (): Promise<object> =>
  (await (await fetch(`${bench.url}/readyz`)).json()) as object;
const isUp = async (): Promise<boolean> =>
  (await (await fetch(`${bench.url}/metrics`)).text()).includes("\ntollgate_files_up 1\n");
const edit = async () =>
  bench.edit({ model: modelB, prompt: prompted() }, { image: await picture() });
const generate = (prompt: string, key: string) =>
  bench.generate({ model: modelA, prompt }, { "idempotency-key": key });
const codeOf = async (answer: Response): Promise<string> => {
  const { error } = (await answer.json()) as { error?: { code: string } };
  return `${answer.status} ${error?.code ?? "ok"}`;
};
const loggedWith = (msg: string) => lines.filter((line) => String(line["msg"]).startsWith(msg));

const troubles: readonly (readonly [string, () => () => void, RegExp, RegExp])[] = [
  ["is full", () => fillDisk(disk), /the disk is full/, /data\/files, 0 MB free$/],
  [
    "is read-only",
    () => {
      remountDisk(disk, "ro");
      return () => remountDisk(disk, "rw");
    },
    /mounted read-only/,
    /data\/files cannot be written$/,
  ],
  ["has no inodes left", () => limitInodes(disk), /no inodes left/, /data\/files, 0 inodes free$/],
];

it.skipIf(!canMount).each(troubles)(
  "STORE-01: a disk that %s: calls that need files get 503 without cost or vendor request, text calls go on, and it recovers",
  async (what, spoil, fix, found) => {
    const before = await bench.state();
    const mend = spoil();
    const refused = await edit();
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(await codeOf(refused)).toBe("503 storage_unavailable");
    // The gateway asks no vendor for a result that it could not keep.
    const prompt = prompted();
    expect(await codeOf(await generate(prompt, what))).toBe("503 storage_unavailable");
    expect(await bench.sentWith(prompt)).toEqual([]);
    // Results that are only sent on need no file.
    expect((await bench.generate({ model: modelA, prompt: prompted() })).status).toBe(200);
    const text = { model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] };
    expect((await bench.post("/v1/chat/completions", text)).status).toBe(200);
    expect(await readiness()).toMatchObject({ status: "ready", files: "failing" });
    expect(await isUp()).toBe(false);
    expect(
      checkDirectory(readEnvironment({ TOLLGATE_DATA_DIR: join(bench.directory, "data") })),
    ).toMatchObject({
      status: "failed",
      message: expect.stringMatching(found) as string,
    });
    expect(loggedWith("files cannot be kept")).toEqual([
      expect.objectContaining({ place: disk, fix: expect.stringMatching(fix) as string }),
    ]);
    expect(loggedWith("a request failed").concat(loggedWith("a call failed"))).toEqual([]);
    mend();
    await eventually(async () => ((await isUp()) ? true : undefined), "a disk that is well");
    expect(loggedWith("files can be kept again")).toHaveLength(1);
    expect(await readiness()).not.toHaveProperty("files");
    const [kept, edited] = [await generate(prompt, what), await edit()];
    expect([kept.status, edited.status]).toEqual([200, 200]);
    const after = await bench.state();
    expect(after.holds).toBe(0);
    expect(after.chargedNano).toBeGreaterThan(before.chargedNano);
  },
);

it.skipIf(!canMount)("a disk that fails without any calls is logged too", async () => {
  remountDisk(disk, "ro");
  await eventually(
    () => (loggedWith("files cannot be kept").length === 1 ? true : undefined),
    "the log to say it",
  );
  remountDisk(disk, "rw");
  await eventually(async () => ((await isUp()) ? true : undefined), "a disk that is well");
});

it.skipIf(process.getuid?.() !== 0)(
  "a start with files of another user is refused with an error that names the directory",
  async () => {
    const dataDir = temporaryDirectory();
    mkdirSync(join(dataDir, "files"), { mode: 0o700 });
    chownSync(dataDir, nobody, nobody);
    const open = `
      process.setuid(${nobody});
      const { openFileStore } = await import(${JSON.stringify(filesIndex)});
      await openFileStore({ kind: "local" }, ${JSON.stringify(dataDir)}).catch((error) => console.log(error.message));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", open]);
    expect(stdout).toMatch(
      /^The data directory .* cannot be used: EACCES.*Make it writable for this user/,
    );
  },
);

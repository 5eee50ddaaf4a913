/**
 * The four examples of docs/extending.md. Each patch touches as many source files as the page says. All four together compile,
 * and the examples' own tests pass.
 */
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";
import { isLong } from "../support/long.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const patches = join(root, "docs/extending");
/** Files of a checkout that are not source, and are not copied. */
const left = new Set(["node_modules", ".git", ".tollgate", "coverage", "tmp"]);

/** The files that a patch touches. */
const filesOf = (name: string): string[] =>
  execFileSync("git", ["apply", "--numstat", join(patches, name)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.split("\t")[2]!);

describe("an example of docs/extending.md", () => {
  it.each([
    ["vendor-openai.patch", 0],
    ["vendor-auth.patch", 1],
    ["stream-quirk.patch", 1],
    ["family.patch", 3],
  ])("%s touches %i source files, and adds a test", (name, count) => {
    const files = filesOf(name);
    expect(files.filter((file) => file.startsWith("src/"))).toHaveLength(count);
    expect(files.filter((file) => !file.startsWith("src/"))).toEqual([
      `test/examples/${name.replace(".patch", ".test.ts")}`,
    ]);
  });
});

describe("a copy of the tree with all examples", () => {
  let copy: string;
  const run = (program: string, ...args: string[]): string => {
    // Keeps git outside of any repository around the temporary directory.
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(copy) };
    const options = { cwd: copy, env, encoding: "utf8", stdio: "pipe" } as const;
    try {
      return execFileSync(program, args, options);
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
    }
  };
  beforeAll(() => {
    copy = join(temporaryDirectory(), "tollgate");
    for (const name of readdirSync(root).filter((entry) => !left.has(entry)))
      cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const name of readdirSync(patches)) run("git", "apply", join(patches, name));
  });

  it.skipIf(!isLong)("compiles without changes to other files", () => {
    expect(run(join(copy, "node_modules/.bin/tsc"), "-p", ".")).toBe("");
  });

  it("passes the examples' tests", () => {
    const vitest = join(copy, "node_modules/vitest/vitest.mjs");
    // In one process, since loading all modules and starting a database takes longer than the tests.
    const words = ["run", "--project", "all", "--maxWorkers", "1", "test/examples"];
    const printed = run(process.execPath, vitest, ...words);
    expect(printed).toMatch(/Test Files +.*4 passed/);
  });
});

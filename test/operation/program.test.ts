/** Bundling the program from its sources before it runs: again after each change, without ever preventing a start. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";

const root = new URL("../..", import.meta.url).pathname;

describe("the bundled program", () => {
  let checkout: string;
  const source = (path: string, text: string) => writeFileSync(join(checkout, path), text);
  /** The file to run, and the messages about it. */
  function program(): { readonly main: string; readonly said: string } {
    const script = `import { program } from "./scripts/program.mjs"; process.stdout.write(await program(process.execPath));`;
    const words = ["--input-type=module", "--eval", script];
    const { stdout, stderr } = spawnSync(process.execPath, words, {
      cwd: checkout,
      encoding: "utf8",
    });
    return { main: stdout, said: stderr };
  }
  const answerOf = (main: string) => execFileSync(process.execPath, [main], { encoding: "utf8" });
  const states = () => readdirSync(join(checkout, "node_modules/.cache/tollgate-program"));

  // A checkout with the least files that can be bundled.
  beforeEach(() => {
    checkout = temporaryDirectory();
    for (const folder of ["src/cli/workers", "src/hooks", "src/exports", "sandbox", "scripts"])
      mkdirSync(join(checkout, folder), { recursive: true });
    for (const name of ["program.mjs", "setup-lock.mjs"])
      cpSync(join(root, "scripts", name), join(checkout, "scripts", name));
    mkdirSync(join(checkout, "node_modules"));
    symlinkSync(join(root, "node_modules/rolldown"), join(checkout, "node_modules/rolldown"));
    source("package.json", '{ "type": "module" }');
    source(
      "src/cli/main.ts",
      'import { word } from "./word.ts";\nprocess.stdout.write(word satisfies string);\n',
    );
    source("src/cli/word.ts", 'export const word: string = "before";\n');
    for (const name of ["cli/workers/worker", "hooks/module-worker", "exports/parquet-worker"])
      source(`src/${name}.ts`, "export {};\n");
  });

  it("is built from the current sources, and a running one keeps the parts it began with", () => {
    const first = program();
    expect(first.said).toBe("");
    expect(answerOf(first.main)).toBe("before");
    expect(program()).toEqual(first);
    source("src/cli/word.ts", 'export const word: string = "after!";\n');
    const second = program();
    expect(answerOf(second.main)).toBe("after!");
    expect(answerOf(first.main)).toBe("before");
    expect(states().sort()).toEqual(
      [first, second].map(({ main }) => basename(dirname(main))).sort(),
    );
  });

  it("is built again if a file changed without another length, is new or is removed", () => {
    const mains = [program().main];
    source("src/cli/word.ts", 'export const word: string = "be4ore";\n');
    utimesSync(join(checkout, "src/cli/word.ts"), 1, 1);
    mains.push(program().main);
    expect(answerOf(mains[1]!)).toBe("be4ore");
    source("src/cli/another.ts", "export {};\n");
    mains.push(program().main);
    source("src/cli/main.ts", 'process.stdout.write("alone");\n');
    rmSync(join(checkout, "src/cli/word.ts"));
    mains.push(program().main);
    rmSync(join(checkout, "src/cli/another.ts"));
    mains.push(program().main);
    expect(new Set(mains).size).toBe(5);
    expect(answerOf(mains[4]!)).toBe("alone");
  });

  it("is kept in at most ten versions", () => {
    const cache = join(checkout, "node_modules/.cache/tollgate-program");
    // Left by earlier starts: one a second, long ago.
    const earlier = Array.from({ length: 10 }, (_, at) => `earlier-${at}`);
    for (const [at, name] of earlier.entries()) {
      mkdirSync(join(cache, name), { recursive: true });
      utimesSync(join(cache, name), at + 1, at + 1);
    }
    const made = ["x", "xx"].map((word) => {
      source("src/cli/word.ts", `export const word: string = "${word}";\n`);
      return basename(dirname(program().main));
    });
    expect(states().sort()).toEqual([...earlier.slice(2), ...made].sort());
  });

  it("falls back to the sources if it cannot be written", () => {
    source("node_modules/.cache", "a file");
    const { main, said } = program();
    expect(said).toContain("running the sources as they are");
    expect(main).toBe(join(checkout, "src/cli/main.ts"));
    expect(answerOf(main)).toBe("before");
  });

  it.skipIf(process.platform !== "linux")(
    "falls back to the sources without a word if its folder is another user's",
    () => {
      mkdirSync(join(checkout, "node_modules/.cache"));
      // No user can make a directory there, not even root.
      symlinkSync("/sys", join(checkout, "node_modules/.cache/tollgate-program"));
      expect(program()).toEqual({ main: join(checkout, "src/cli/main.ts"), said: "" });
    },
  );

  it("falls back to the sources if they cannot be bundled, and their own error is shown", () => {
    source("src/cli/main.ts", 'import "./gone.ts";\n');
    const { main, said } = program();
    expect(said).toContain("gone.ts");
    expect(main).toBe(join(checkout, "src/cli/main.ts"));
  });
});

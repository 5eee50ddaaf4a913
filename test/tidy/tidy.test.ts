// House rules that the linter cannot check: sizes, opening comments, leftovers, cited ids, documentation.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { layers, rooms } from "../../oxlint.config.ts";
import { knownIds } from "../../scripts/requirements.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const files = (...patterns: string[]) => globSync(patterns, { cwd: root }).toSorted();
const run = (...args: string[]) =>
  spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 280_000 });

const source = files("{src,sandbox}/**/*.{ts,sql}");
/** The console's source, without generated files. */
const pagesSource = files("console/*.{ts,js}", "console/src/**/*.{ts,tsx,css}").filter(
  (path) => !path.endsWith("schema.d.ts"),
);
const code = [
  ...source,
  ...pagesSource,
  ...files("test/**/*.ts", "scripts/**/*.{ts,mjs}", "bench/**/*.ts", "bin/*"),
];
const pages = files("*.md", "docs/**/*.md");

/** "path:line: text" of every line that the pattern matches. */
const matches = (paths: string[], pattern: RegExp) =>
  paths.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );

describe("the files of the repository", () => {
  it("are found", () => {
    expect(source.length).toBeGreaterThan(10);
    expect(code).toContain("test/tidy/tidy.test.ts");
    expect(pages).toContain("README.md");
  });

  it("the top folder has no data, archive or key that a command wrote", () => {
    const { stdout } = spawnSync("git", ["ls-files", "--", ":(glob)*"], {
      cwd: root,
      encoding: "utf8",
    });
    const tracked = stdout.trim().split("\n");
    expect(tracked).toContain("package.json");
    const known =
      /^(?:[A-Z]+(?:\.md)?|\.?[\w.-]+\.(?:json|ts)|\.gitattributes|\.gitignore|\.npmrc|exec\.cmd)$/;
    expect(tracked.filter((path) => !known.test(path))).toEqual([]);
  });

  it("modules that tests share have no hooks at their top, because only the first file that loads them would run these", () => {
    // Vitest runs these before each file, so their hooks belong to that file.
    const setUp = new Set(read("vitest.config.ts").match(/test\/support\/[\w-]+\.ts(?=",\n)/g));
    const shared = files("test/**/*.ts").filter(
      (path) => !path.endsWith(".test.ts") && !setUp.has(path),
    );
    expect(setUp).toContain("test/support/at-rest.ts");
    expect(shared).toContain("test/support/postgres.ts");
    expect(matches(shared, /^(?:before|after)(?:All|Each)\(/)).toEqual([]);
  });

  it("no source file is longer than 300 lines, or 400 for a migration", () => {
    const lines = (path: string) => read(path).split("\n").length - 1;
    const longest = (path: string) => (path.startsWith("src/storage/migrations/") ? 400 : 300);
    expect(source.filter((path) => lines(path) > longest(path))).toEqual([]);
  });

  it("no file of the console is longer than 200 lines", () => {
    expect(pagesSource).toContain("console/src/main.tsx");
    const lines = (path: string) => read(path).split("\n").length - 1;
    expect(pagesSource.filter((path) => lines(path) > 200)).toEqual([]);
  });

  it("every source file begins with a comment", () => {
    const opens = /^(\/\*\*?|\/\/|--) ?\S|^\/\*\*\n/;
    expect([...source, ...pagesSource].filter((path) => !opens.test(read(path)))).toEqual([]);
  });

  it("every folder of the source has an index.ts", () => {
    const folders = new Set(source.map((path) => /^sandbox|^src\/[\w-]+/.exec(path)![0]));
    const doorless = new Set(["src/base", "src/cli"]);
    const missing = [...folders].filter(
      (name) => !doorless.has(name) && !existsSync(join(root, name, "index.ts")),
    );
    expect(missing).toEqual([]);
  });

  it("no two places share more than 12 lines", () => {
    const { stderr, status } = run("scripts/duplicates.ts");
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  it("the check for duplicates finds a copy with other names, and ignores tables", () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-twice-"));
    const steps = (name: string, count: number) =>
      `function ${name}() {\n${`  ${name}.step(${name}, "${name}");\n`.repeat(count)}}\n`;
    const table = `const table = {\n${'  key: word("text", 1),\n'.repeat(30)}};\n`;
    const found = (one: string, other: string) => {
      mkdirSync(join(folder, "src"), { recursive: true });
      writeFileSync(join(folder, "src/one.ts"), one);
      writeFileSync(join(folder, "src/other.ts"), other);
      return run("scripts/duplicates.ts", folder).stderr;
    };
    try {
      expect(found(steps("first", 8) + table, steps("second", 8) + table)).toBe("");
      expect(found(steps("first", 12), steps("second", 12))).toContain("src/other.ts:1 share");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("there are no markers of open work, and no skipped or exclusive tests", () => {
    // Each with a letter in brackets, so that this line does not match itself.
    const pattern = /\b(?:TOD[O]|FIXM[E]|XX[X])\b|\.(?:skip|only|todo)\(/;
    expect(matches(code, pattern)).toEqual([]);
  });

  it("no check of the type checker or the linter is disabled without a reason", () => {
    const pattern = /@ts-(?:ignore|nocheck|expect-error)|(?:ox|es)lint-disable(?!.* -- \S)/;
    expect(matches([...source, ...pagesSource], pattern)).toEqual([]);
  });
});

describe("the ids of requirements and traps", () => {
  it("are 671 requirements and 88 traps, each once and with a test", () => {
    const { stdout, status } = run("scripts/spec.ts", "--json");
    const { areas, unknown } = JSON.parse(stdout) as {
      areas: { area: string; ids: number; open: string[] }[];
      unknown: Record<string, string[]>;
    };
    const sum = areas.reduce((total, { ids }) => total + ids, 0);
    expect(sum).toBe(671 + 88);
    expect(new Set(knownIds).size).toBe(sum);
    expect(areas.flatMap(({ open }) => open)).toEqual([]);
    expect(unknown).toEqual({});
    expect(status).toBe(0);
  });

  it("everything that comments and pages cite is in the repository", () => {
    const { stderr, status } = run("scripts/citations.ts");
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

describe("the documentation", () => {
  it("generated pages are current", () => {
    const { stderr, status } = run("scripts/docs.ts", "--check");
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  it("no sentence has more than 30 words", () => {
    const { stderr, status } = run("scripts/prose.ts");
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  it("no two lists of a page render as one, and no sentence of docs/media.md is inside a list item", () => {
    const lists = pages.flatMap((path) =>
      [...read(path).matchAll(/^- .*(?:\n {2}.*)*\n\n(- .*)/gm)].map(
        ([, second]) => `${path}: ${second}`,
      ),
    );
    expect(lists).toEqual([]);
    expect(read("docs/media.md")).not.toMatch(/^ +(?:Dropped|Refused)/m);
  });

  it("no entry of CHANGELOG.md stands twice, also not in two forms", () => {
    const begins = [...read("CHANGELOG.md").matchAll(/^- .*\n(?: {2}.*\n)*/gm)].map(([entry]) =>
      entry.replaceAll(/\s+/g, " ").slice(0, 75),
    );
    expect(begins.length).toBeGreaterThan(100);
    expect(begins.filter((begin, at) => begins.indexOf(begin) !== at)).toEqual([]);
  });

  it("every link within the repository leads to an existing file and heading", () => {
    const slugs = (path: string) =>
      [...read(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
          .replaceAll(" ", "-"),
      );
    const broken = pages.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
        .filter(([, target, heading]) => {
          const file = target === "" ? path : join(dirname(path), target!);
          if (!existsSync(join(root, file))) return true;
          return heading !== undefined && !slugs(file).includes(heading);
        })
        .map(([link]) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it("docs/architecture.md states the lines of our code within a tenth", () => {
    const rows = [
      ...read("docs/architecture.md").matchAll(/^\| .*\(`([\w/*.-]+)`\) +\| ([\d,]+) +\|/gm),
    ];
    expect(rows.length).toBeGreaterThan(5);
    const wrong = rows.flatMap(([, what, stated]) => {
      const path = `src/${what!.replace(/^src\//, "")}`;
      const lines = files(path.endsWith(".ts") ? path : `${path}/**/*.ts`)
        .map((file) => read(file).split("\n").length - 1)
        .reduce((sum, count) => sum + count, 0);
      const share = Number(stated!.replace(",", "")) / lines;
      return share > 0.9 && share < 1.1 ? [] : [`${what}: ${stated}, and there are ${lines}`];
    });
    expect(wrong).toEqual([]);
  });

  it("README states the number of faults exactly, and of vendors within a tenth", () => {
    const count = (pattern: RegExp) => Number(pattern.exec(read("README.md"))?.[1]);
    const { rows } = JSON.parse(read("docs/reliability.json")) as { rows: unknown[] };
    expect(count(/(\d+) faults under load/)).toBe(rows.length);
    const vendors = read("catalog/vendors.jsonl").trim().split("\n").length;
    expect(Math.abs(count(/about (\d+) vendors/) / vendors - 1)).toBeLessThan(0.1);
  });

  it("every file that docs/architecture.md draws exists", () => {
    const drawn = [...read("docs/architecture.md").matchAll(/^  participant \w+ as (\S+\.ts)$/gm)];
    expect(drawn.length).toBeGreaterThan(20);
    expect(
      drawn.map(([, path]) => path!).filter((path) => !existsSync(join(root, "src", path))),
    ).toEqual([]);
  });

  it("docs/architecture.md lists the imports that lint allows for each folder", () => {
    const [tables = ""] = read("docs/architecture.md").split("## The console");
    const rows = tables.matchAll(/^\| `(?:src\/)?([\w-]+)` .*\| +(.+?) +\|$/gm);
    const stated = new Map(
      [...rows].map(([, name, allowed]) => [name, allowed!.split(", ").toSorted()]),
    );
    const wrong = Object.entries({ ...layers, ...rooms }).filter(
      ([name, allowed]) => stated.get(name)?.join() !== (allowed.toSorted().join() || "none"),
    );
    expect(wrong).toEqual([]);
  });

  it("docs/architecture.md draws every folder, and only arrows that lint allows", () => {
    const [, house = ""] = /flowchart TD\n([^]*?)```/.exec(read("docs/architecture.md")) ?? [];
    const names = [...house.matchAll(/^  (\w+)\["([\w-]+)<br/gm)].map(
      ([, short, name]) => [short!, name!] as const,
    );
    const name = new Map(names);
    const allowed: Record<string, string[]> = {
      ...layers,
      cli: Object.keys(layers),
      sandbox: ["base"],
    };
    expect(names.map(([, folder]) => folder).toSorted()).toEqual(Object.keys(allowed).toSorted());
    const arrows = house
      .split("\n")
      .map((line) => line.split(" --> ").map((ends) => ends.trim().split(" & ")))
      .flatMap((chain) => chain.slice(1).map((to, at) => [chain[at]!, to] as const))
      .flatMap(([from, to]) => from.flatMap((one) => to.map((end) => [one, end] as const)))
      .map(([from, to]) => [name.get(from)!, name.get(to)!] as const);
    expect(arrows.length).toBeGreaterThan(40);
    const refused = arrows.filter(([from, to]) => !allowed[from]!.includes(to) && to !== "sandbox");
    expect(refused).toEqual([]);
  });

  it("docs/architecture.md gives a reason for every dependency", () => {
    const { dependencies } = JSON.parse(read("package.json")) as {
      dependencies: Record<string, string>;
    };
    const page = read("docs/architecture.md");
    expect(Object.keys(dependencies).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it("every `npm run` in the documentation is a script", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = pages.flatMap((path) =>
      [...read(path).matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].map(([, name]) => name!),
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

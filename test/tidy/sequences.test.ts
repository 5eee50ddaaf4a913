/**
 * The two drawings of one call in docs/architecture.md against the source: the files, their imports, and each room is entered
 * once.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
const drawings = [...page.matchAll(/```mermaid\nsequenceDiagram\n(.*?)```/gs)]
  .map(([, text]) => text!)
  .filter((text) => text.includes(".ts"));

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly what: string;
}

/** The files by their letters, and the calls of each step, without the (dashed) answers. */
function readDrawing(text: string) {
  const files = new Map<string, string>();
  const steps: Arrow[][] = [[]];
  for (const line of text.split("\n")) {
    const participant = /participant (\w+) as (\S+)/.exec(line);
    if (participant) files.set(participant[1]!, `src/${participant[2]!}`);
    if (/^ *Note over/.test(line)) steps.push([]);
    const arrow = /^ *(\w+)->>(\w+): (.+)/.exec(line);
    if (!arrow) continue;
    const [, from, to, what] = arrow;
    steps.at(-1)!.push({ from: files.get(from!)!, to: files.get(to!)!, what: what! });
  }
  return { files: [...files.values()], steps };
}

const roomOf = (file: string): string => file.split("/")[1]!;
const isBetweenRooms = ({ from, to }: Arrow): boolean => roomOf(from) !== roomOf(to);

const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), "utf8").matchAll(/ from "(\.[^"]+)"/g)].map(([, path]) =>
    join(dirname(file), path!),
  );

/** The imports of a file, and of the files that it needs from its own room. */
function reachOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const path of importsOf(file)) {
    if (roomOf(path) === roomOf(file)) reachOf(path, seen);
    else seen.add(path);
  }
  return seen;
}

/** True if the index file of a room leads to the file. */
const opensTo = (file: string): boolean => reachOf(`src/${roomOf(file)}/index.ts`).has(file);

/** Functions that `cli`, which puts everything together, passes to a file: the file that passes it, and the function. */
const passedFunctions: Readonly<Record<string, readonly [giver: string, name: string]>> = {
  "src/calls/text.ts src/request-log/writer.ts": ["src/cli/http-services.ts", "finished"],
};

const reaches = (from: string, to: string): boolean =>
  reachOf(from).has(`src/${roomOf(to)}/index.ts`) && opensTo(to);

function isPassed({ from, to }: Arrow): boolean {
  const [giver, name] = passedFunctions[`${from} ${to}`] ?? [];
  if (giver === undefined) return false;
  const doors = [from, to].map((file) => `src/${roomOf(file)}/index.ts`);
  const calls = readFileSync(join(root, from), "utf8").includes(`${name}(`);
  return calls && doors.every((door) => reachOf(giver).has(door));
}

/** A call into a lower room. The opposite direction is a callback that an upper room has passed down. */
const isEntry = (arrow: Arrow): boolean => reaches(arrow.from, arrow.to) || isPassed(arrow);

const isReal = (arrow: Arrow): boolean => isEntry(arrow) || reaches(arrow.to, arrow.from);

describe.each(
  drawings.map((text, index) => [["a text call", "an image task"][index]!, text] as const),
)("the drawing of %s", (_name, text) => {
  const { files, steps } = readDrawing(text);

  it("names only files that exist", () => {
    expect(files.length).toBeGreaterThan(9);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("has a real call for each arrow between rooms", () => {
    const arrows = steps.flat().filter(isBetweenRooms);
    expect(arrows.length).toBeGreaterThan(7);
    expect(arrows.filter((arrow) => !isReal(arrow))).toEqual([]);
  });

  it("enters each room at most once per step", () => {
    for (const step of steps) {
      const entered = step
        .filter((one) => isBetweenRooms(one) && isEntry(one))
        .map(({ to }) => roomOf(to));
      const tooOften = entered.filter(
        (room) => entered.filter((other) => other === room).length > 1,
      );
      expect(tooOften).toEqual([]);
    }
  });
});

it("docs/architecture.md draws both calls", () => {
  expect(drawings).toHaveLength(2);
});

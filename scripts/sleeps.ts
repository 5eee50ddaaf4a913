/**
 * Refuses new fixed sleeps in tests. Tests poll with a deadline (test/support) instead: a fixed time is too short on a busy machine
 * and too long on every other. test/sleeps.json counts the remaining sleeps by file. The counts may only shrink: more sleeps are
 * refused, and fewer too until the list is updated. Part of `npm run check`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Matches a wait that depends on the clock alone. A loop that checks after each pause is polling, and allowed. */
const sleep =
  /\bawait (?:sleep|pause|delay)\(|\bnew Promise(?:<void>)?\(\(\w+\) => (?:void )?setTimeout\(/;
const polling = /\b(?:while|for) \(/;

const allowed = JSON.parse(read("test/sleeps.json")) as Record<string, number>;
const present: Record<string, number> = {};
for (const path of globSync("test/**/*.ts", { cwd: root }).toSorted()) {
  const lines = read(path).split("\n");
  const count = lines.filter((line) => sleep.test(line) && !polling.test(line)).length;
  if (count > 0) present[path.replaceAll("\\", "/")] = count;
}

for (const path of Object.keys({ ...allowed, ...present }).toSorted()) {
  const [most, count] = [allowed[path] ?? 0, present[path] ?? 0];
  if (count === most) continue;
  const advice =
    count > most
      ? "poll with a deadline instead (test/support/patience.ts)"
      : "lower its number in test/sleeps.json";
  console.error(`sleeps: ${path} has ${count}, test/sleeps.json says ${most}: ${advice}`);
  process.exitCode = 1;
}

/**
 * Refuses function literals assigned to a property (`call.end = () => …`) in code that runs for each call. V8 puts such a function
 * into the old space: the call, and everything it references, would stay until the next full collection. A method, a function that is
 * named first, or one that is passed as an argument is collected with its call. Servers and sockets are allowed, because they get
 * theirs once. Part of `npm run check`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const assigned =
  /(?<![\w.])(?!(?:server|socket)\.)[a-z]\w*(?:\.#?\w+|\[[^\]]*\])+ (?:\?\?|\|\|)?= (?:async )?(?:function\b|(?:\([^()]*\)|\w+)(?:: [\w<>[\] |]+)? =>)/;

for (const path of globSync("src/**/*.ts", { cwd: root }).toSorted()) {
  const lines = readFileSync(join(root, path), "utf8").split("\n");
  for (const [index, line] of lines.entries()) {
    if (!assigned.test(line)) continue;
    console.error(
      `literals: ${path}:${index + 1} assigns a function literal to a property: give it a name first, or make it a method`,
    );
    process.exitCode = 1;
  }
}

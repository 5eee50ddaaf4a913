/**
 * Finds the files that ship with the program, and its own entry points: in a checkout, in the program that scripts/program.mjs bundles, and
 * in the published package. docs/architecture.md "Decisions worth knowing".
 */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** Returns the folder of the nearest package.json: the checkout, or `dist` of the published package. */
function findRoot(): URL {
  let at = new URL("./", import.meta.url);
  while (!existsSync(new URL("package.json", at))) {
    const above = new URL("../", at);
    if (above.href === at.href) throw new Error("the program's package.json is gone");
    at = above;
  }
  return at;
}

const root = findRoot();

/** Returns the URL of a file or folder that ships with the program, by its path in a checkout. */
export const ownFile = (path: string): URL => new URL(path, root);

/** The version of this program, from its package. */
export const { version } = JSON.parse(readFileSync(ownFile("package.json"), "utf8")) as {
  readonly version: string;
};

/**
 * Returns the entry point of one of our processes or threads, by the path of its source without an ending. In a checkout that is the
 * source; in a bundled program a file beside this one.
 */
export const ownEntry = (source: string): URL =>
  import.meta.url.endsWith(".ts")
    ? ownFile(`${source}.ts`)
    : new URL(`./${basename(source)}.js`, import.meta.url);

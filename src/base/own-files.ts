/**
 * Where the files are that ship with the program, and its own entries: in a checkout, in the program that scripts/program.mjs
 * puts together, and in the published package. docs/architecture.md "Decisions worth knowing".
 */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** The folder of the nearest package.json: the checkout, or `dist` of the published package. */
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

/** The address of a file or folder that ships with the program, by its path in a checkout. */
export const ownFile = (path: string): URL => new URL(path, root);

/** The version of this program, from its package. */
export const { version } = JSON.parse(readFileSync(ownFile("package.json"), "utf8")) as {
  readonly version: string;
};

/**
 * What a process or a thread of our own starts with, by the path of its source without an ending: the source in a checkout, a part
 * beside this one where the program was put together.
 */
export const ownEntry = (source: string): URL =>
  import.meta.url.endsWith(".ts")
    ? ownFile(`${source}.ts`)
    : new URL(`./${basename(source)}.js`, import.meta.url);

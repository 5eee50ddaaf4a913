/** Every page of the console, from its own list of routes: a page that lands is in the tests at once. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const folder = join(import.meta.dirname, "../../console/src/pages");

/** Paths of routes, such as `/requests/$id`, in the order of their folders. */
export function pagePaths(): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /route\w*\.ts$/.test(name))
    .flatMap((name) => [
      ...readFileSync(join(folder, name), "utf8").matchAll(/^\s+path: "(\/[^"]*)"/gm),
    ])
    .map(([, path]) => path!);
  return [...new Set(paths)].sort();
}

/** The paths that need nothing filled in. */
const plainPaths = (): string[] => pagePaths().filter((path) => !path.includes("$"));

/**
 * The address of a path with something to fill in: the first one that the list before it links to.
 * @throws Error where nothing does
 */
export async function exampleOf(page: Page, path: string, settled: () => Promise<void>) {
  const list = path.slice(0, path.indexOf("/$"));
  await page.goto(list);
  await settled();
  const links = await page
    .locator("a[href]")
    .evaluateAll((all) =>
      all.map((one) =>
        (one as unknown as { getAttribute(name: string): string }).getAttribute("href"),
      ),
    );
  // A `$` alone stands for the rest of the path.
  const filled = path.replaceAll(/\$\w+/g, "[^/?]+").replace(/\$$/, "[^?]+");
  const shape = new RegExp(`^${filled}(?:\\?|$)`);
  const fixed = new Set(plainPaths());
  const found = links.find((href) => shape.test(href) && !fixed.has(href.split("?")[0]!));
  if (found === undefined) {
    throw new Error(`No link at ${list} leads to ${path}: let the world of the tests have one.`);
  }
  return found;
}

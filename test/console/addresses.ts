/** Every page of the console, from its own list of routes: the tests cover a new page at once. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { arrive } from "./arrive.ts";

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

/** The paths without parameters. */
const plainPaths = (): string[] => pagePaths().filter((path) => !path.includes("$"));

/**
 * The address of a path with parameters: the first one to which the list page links.
 * @throws Error if there is no link
 */
export async function exampleOf(page: Page, path: string, settled: () => Promise<void>) {
  const list = path.slice(0, path.indexOf("/$"));
  // Do not open a page that is open already.
  if (isLong || !page.url().startsWith("http") || new URL(page.url()).pathname !== list)
    await arrive({ page, settled }, list);
  // A `$` alone stands for the rest of the path.
  const filled = path.replaceAll(/\$\w+/g, "[^/?]+").replace(/\$$/, "[^?]+");
  const shape = new RegExp(`^${filled}(?:\\?|$)`);
  const fixed = new Set(plainPaths());
  const matchingLink = async () => {
    const links = await page
      .locator("a[href]")
      .evaluateAll((all) =>
        all.map((one) =>
          (one as unknown as { getAttribute(name: string): string }).getAttribute("href"),
        ),
      );
    return links.find((href) => shape.test(href) && !fixed.has(href.split("?")[0]!));
  };
  // A list may be drawn a moment after its answer.
  return eventually(
    matchingLink,
    `a link at ${list} to ${path}: let the world of the tests have one`,
  );
}

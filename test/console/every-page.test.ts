/**
 * Every page there is, in both schemes, wide and narrow: nothing the browser complains of, nothing that an accessibility checker
 * finds serious, nothing wider than the window.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { exampleOf, pagePaths } from "./addresses.ts";
import { seriousFindings } from "./axe.ts";
import { beyond } from "./beyond.ts";
import type { Visit } from "./browser.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let inside: Visit;
beforeAll(async () => {
  world = await startConsoleWorld();
  await furnish(world);
  inside = await world.open("root");
});
afterAll(() => world.close());

/** Colours are the same at any width, so the dark scheme is looked at once. */
const looks = [
  { width: 1280, scheme: "light" },
  { width: 1280, scheme: "dark" },
  { width: 390, scheme: "light" },
] as const;

/** What is wrong with the page as it stands, by scheme and width. */
async function faultsOf({ page, complaints, settled }: Visit): Promise<object[]> {
  const faults: object[] = [];
  for (const { width, scheme } of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: scheme });
    await settled();
    const found = [...(await seriousFindings(page)), ...(await beyond(page))];
    if (found.length > 0) faults.push({ width, scheme, found });
  }
  if (complaints.length > 0) faults.push({ complaints: [...complaints] });
  complaints.length = 0;
  return faults;
}

const paths = pagePaths();

it("the list of pages is the console's own", () => {
  expect(paths).toEqual(expect.arrayContaining(["/", "/sign-in", "/requests/$id"]));
});

it.each(paths)("%s is clean in both schemes, wide and narrow", async (path) => {
  const isOutside = path === "/sign-in";
  const visit = isOutside ? await world.open("nobody") : inside;
  const { page, settled, context } = visit;
  await page.setViewportSize({ width: 1280, height: 800 });
  const address = path.includes("$") ? await exampleOf(page, path, settled) : path;
  await page.goto(address);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
  expect(await faultsOf(visit)).toEqual([]);
  // A phone that opens it at once shows what a window does that became narrow.
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
  expect(await beyond(page)).toEqual([]);
  if (isOutside) await context.close();
});

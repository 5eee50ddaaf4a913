/**
 * Every page in both schemes, wide and narrow. The browser has no complaints, an accessibility checker has no serious findings,
 * nothing is wider than the window, and nothing moves while data arrive. In the short form the test navigates within the console,
 * checks each page once, in the dark scheme, and the frame only with the first page. The width is checked at that of a phone.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong, isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { exampleOf, pagePaths } from "./addresses.ts";
import { arrive } from "./arrive.ts";
import { seriousFindings } from "./axe.ts";
import { overflowing } from "./beyond.ts";
import type { Visit } from "./browser.ts";
import { settleShifts, slowAnswers, takeShifts, shiftsOverLimit } from "./shift.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let inside: Visit;
beforeAll(async () => {
  world = await startConsoleWorld();
  await furnish(world);
  inside = await world.open("root");
});
afterAll(() => world.close());

type Scheme = "light" | "dark";

/** Colours are the same at any width, so the dark scheme is checked once. */
const looks = shortOrLong<readonly (readonly [width: number, scheme: Scheme])[]>(
  [[1280, "dark"]],
  [
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
  ],
);

/** Tables with a cell that a screen reader reads without a header, neither of its column nor of its row. */
const headless = (page: Visit["page"]) =>
  page.evaluate<string[]>(`[...document.querySelectorAll("main table")]
    .filter((table) => {
      const [row] = table.querySelectorAll("tbody tr:not([aria-hidden])");
      const cells = row?.children.length ?? 0;
      return table.checkVisibility() && cells > 1 && table.querySelectorAll("thead th, thead td").length !== cells && row.querySelector("th") === null;
    })
    .map((table) => table.getAttribute("aria-label") ?? table.textContent.slice(0, 40))`);

/** Text that a page shows if it reads a missing field. */
const nonsense = /\bNaN\b|\bundefined\b|Invalid Date|\[object /;

/** The frame around each page, which is always the same: in the short form the checker sees it with the first page. */
const frame = ["header", "navbar", "footer"].map((part) => `.mantine-AppShell-${part}`);
let frameSeen = false;

/** The faults of the page as it stands, by scheme and width. */
async function faultsOf({ page, complaints, settled }: Visit): Promise<object[]> {
  const faults: object[] = [];
  const textLines = (await page.locator("body").innerText()).split("\n");
  faults.push(...textLines.filter((line) => nonsense.test(line)).map((line) => ({ line })));
  for (const [width, scheme] of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: scheme });
    await settled();
    const found = await seriousFindings(page, frameSeen ? { exclude: frame } : undefined);
    if (found.length > 0) faults.push({ width, scheme, found });
    await expect.poll(() => overflowing(page), { message: `${width} ${scheme}` }).toEqual([]);
  }
  frameSeen ||= !isLong && (await page.locator("nav").count()) > 0;
  const mute = await headless(page);
  if (mute.length > 0) faults.push({ headless: mute });
  if (complaints.length > 0) faults.push({ complaints: [...complaints] });
  complaints.length = 0;
  return faults;
}

const paths = pagePaths();

it("the tested pages are those of the console", () => {
  expect(paths).toEqual(expect.arrayContaining(["/", "/sign-in", "/requests/$id"]));
});

it.each(paths)("%s is clean in both schemes, wide and narrow", async (path) => {
  const isOutside = path === "/sign-in";
  const visit = isOutside ? await world.open("nobody") : inside;
  const { page, settled, close } = visit;
  await page.setViewportSize({ width: 1280, height: 800 });
  const address = path.includes("$") ? await exampleOf(page, path, settled) : path;
  // The earlier page still adapts to the wide window.
  if (page.url().startsWith("http")) await settleShifts(page);
  await arrive(visit, address);
  expect(shiftsOverLimit(await takeShifts(page)), "what moved").toEqual([]);
  expect(await faultsOf(visit)).toEqual([]);
  // A phone that opens the page directly shows the same as a window that was made narrow.
  if (isLong) await page.reload();
  else await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
  await expect.poll(() => overflowing(page)).toEqual([]);
  if (isOutside) await close();
});

it("a page whose content shifts is detected", async () => {
  const { page } = inside;
  await settleShifts(page);
  await page.evaluate(
    `document.querySelector("h1").insertAdjacentHTML("beforebegin", "<p id=jump><br><br><br><br><br><br></p>")`,
  );
  const found = await eventually(async () => {
    const shifts = await takeShifts(page);
    return shifts.length > 0 ? shifts : undefined;
  }, "a shift");
  await page.evaluate(`document.querySelector("#jump").remove()`);
  expect(found[0]!.moved.length).toBeGreaterThan(0);
});

it.skipIf(!isLong).each(paths.filter((path) => path !== "/sign-in"))(
  "%s does not shift when its data come late, wide and narrow",
  async (path) => {
    const { page, settled, close } = await world.open("root");
    const address = path.includes("$") ? await exampleOf(page, path, settled) : path;
    await slowAnswers(page, 200);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(address);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await settled();
      expect(shiftsOverLimit(await takeShifts(page)), `what moved at ${width}`).toEqual([]);
    }
    await close();
  },
);

/**
 * The pictures of docs/screenshots, from a gateway with a month of generated work. The outline of each page is kept beside its
 * picture: if the page changes, the test fails. `npm run screenshots` makes new pictures and outlines.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startShowHouse, type ShowHouse } from "./show/house.ts";
import type { Visit } from "./browser.ts";

const isTaking = process.env["TOLLGATE_SCREENSHOTS"] === "1";
const folder = join(import.meta.dirname, "../../docs/screenshots");
const theme = join(import.meta.dirname, "../../console/src/theme");
const bytesMax = 120 * 1024;
const remedy = "npm run screenshots";

let house: ShowHouse;
let visit: Visit;
beforeAll(async () => {
  house = await startShowHouse();
  visit = await house.open("root");
});
afterAll(() => house.close());

interface Picture {
  readonly name: string;
  /** Opens the page and brings it into the state of the picture. */
  readonly show: (page: Page) => Promise<void>;
}

const loaded = (page: Page) =>
  expect
    .poll(() =>
      page.evaluate(
        "[...document.querySelectorAll('main img')].every((one) => one.complete) && [...document.querySelectorAll('main video')].every((one) => one.readyState > 3)",
      ),
    )
    .toBe(true);

const pictures: readonly Picture[] = [
  {
    name: "overview",
    async show(page) {
      await page.goto("/overview?period=30d");
      await page.locator(".recharts-bar-rectangle").filter({ visible: true }).first().waitFor();
    },
  },
  { name: "request", show: async (page) => void (await page.goto(`/requests/${house.request}`)) },
  {
    name: "playground",
    async show(page) {
      const models = "anthropic/claude-sonnet-5,openai/gpt-5.5";
      await page.goto(`/playground?protocol=chat&models=${encodeURIComponent(models)}`);
      await page.getByLabel("System").fill("You write for people who are busy.");
      await page.getByLabel("You", { exact: true }).fill("What changed last week?");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("link", { name: "request" }).nth(1).waitFor();
      await page.getByText(/^Spent here 0\.\d+ USD$/).waitFor();
      await page.getByRole("heading", { level: 1 }).click();
    },
  },
  {
    name: "tasks",
    async show(page) {
      await page.goto("/tasks");
      await page.getByRole("article").nth(7).waitFor();
      await loaded(page);
      // A video that was never played shows a ring instead of its first picture.
      await page.evaluate(
        "(async () => { for (const one of document.querySelectorAll('main video')) { await one.play(); one.pause(); } })()",
      );
    },
  },
  { name: "keys", show: async (page) => void (await page.goto("/keys?sort=cap")) },
];
const schemes = ["light", "dark"] as const;

/** Texts that differ each time, in the order in which they are replaced. */
const passing: readonly (readonly [RegExp, string])[] = [
  [/\b(?:req|task|key|ws|user)_[0-9a-z_]+/g, "ID"],
  [/\bgw_live_\w*\.\.\.\w+|\.\.\.\w{4}\b/g, "KEY"],
  [/\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b/g, "MONTH"],
  [/[-+]?\d[\d,.:]*/g, "0"],
  [/\b(?:0 [smhd] ago|just now)\b/g, "AGO"],
  [/\b0 m 0 s\b|\b0 m?s\b/g, "TIME"],
  [/(?:\b0 MONTH\s?)+/g, "0 MONTH "],
  [/\b0(?: 0)+\b/g, "0"],
];

/**
 * The outline of a page without parts that differ each time: numbers, times, ids, the number of equal elements, and the order of
 * elements that are sorted by numbers.
 */
function outlineOf(snapshot: string): string {
  const lines = snapshot
    .split("\n")
    .map((line) => passing.reduce((text, [what, word]) => text.replaceAll(what, word), line))
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return `${[...new Set(lines)].sort().join("\n")}\n`;
}

/** Outlines do not show colours and sizes, so this hashes the files of the theme. */
function looksOf(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(theme).sort()) hash.update(readFileSync(join(theme, name)));
  return hash.digest("hex").slice(0, 16);
}

async function take({ page }: Visit, name: string): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await visit.settled();
    const png = await page.screenshot({ animations: "disabled", caret: "hide" });
    const webp = await sharp(png).webp({ quality: 82, effort: 6 }).toBuffer();
    writeFileSync(join(folder, `${name}-${colorScheme}.webp`), webp);
  }
}

const kept = (name: string): string =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "";

it.each(pictures)("the pictures of $name match the present page", async ({ name, show }) => {
  const { page, settled, complaints } = visit;
  await page.setViewportSize({ width: 1280, height: 860 });
  await show(page);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
  const outline = outlineOf(await page.locator("main").ariaSnapshot());
  expect(complaints).toEqual([]);
  if (isTaking) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.txt`), outline);
    await take(visit, name);
    writeFileSync(join(folder, "looks.txt"), `${looksOf()}\n`);
  }
  expect({ name, outline, remedy }).toEqual({ name, outline: kept(`${name}.txt`), remedy });
});

it("the pictures have the present colours, are small, and are shown in README and the page on the console", () => {
  expect({ looks: kept("looks.txt").trim(), remedy }).toEqual({ looks: looksOf(), remedy });
  const texts = ["../../README.md", "../../docs/console.md"].map((path) =>
    readFileSync(join(import.meta.dirname, path), "utf8"),
  );
  for (const { name } of pictures)
    for (const scheme of schemes) {
      const file = `${name}-${scheme}.webp`;
      expect({ file, small: statSync(join(folder, file)).size <= bytesMax }).toEqual({
        file,
        small: true,
      });
      expect(texts.some((text) => text.includes(`screenshots/${file}`))).toBe(true);
    }
  expect(texts[0]).toContain("docs/screenshots/overview-dark.webp");
});

/** The ways to pages that every page has: the menu, a letter after g, and the palette. All lead to the same pages. */
import { entries, letterOf } from "../../../console/src/ui/menu.ts";
import { eventually } from "../../support/patience.ts";
import { arrive } from "../arrive.ts";
import { mayDo } from "./action.ts";
import type { Walk } from "./people.ts";
import type { Signs } from "./places.ts";

type Label = (typeof entries)[number]["label"];

/** Who has which entry; the compiler reports a missing new entry of the console. */
const menu: Readonly<Record<Label, Signs>> = {
  Start: "++++",
  Overview: "++++",
  Requests: "++++",
  Playground: "++++",
  Tasks: "++++",
  Keys: "++++",
  Money: "++++",
  Models: "++++",
  Providers: "++++",
  Settings: "+++-",
};

/** The labels in a person's menu that should not be there, and the missing ones. */
export async function menuFaults(walk: Walk): Promise<string[]> {
  await arrive(walk, "/account");
  const shown = await walk.page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link")
    .allInnerTexts();
  return entries
    .map(({ label }) => label)
    .filter((label) => shown.includes(label) !== mayDo(menu[label], walk.who));
}

type Way = (walk: Walk, entry: (typeof entries)[number]) => Promise<void>;

const ways: Readonly<Record<string, Way>> = {
  menu: ({ page }, { label }) =>
    page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: label, exact: true })
      .click(),
  async letter({ page }, { to }) {
    await page.keyboard.press("g");
    await page.keyboard.press(letterOf(to));
  },
  async palette({ page }, { label }) {
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Search or jump").fill(label);
    await page.locator("[data-selected]", { hasText: label }).first().waitFor();
    await page.keyboard.press("Enter");
  },
};

/** Opens each page of a person's menu by each way. Returns the pages that were not reached or could not be read. */
export async function wayFaults(walk: Walk): Promise<string[]> {
  const { page, who, settled } = walk;
  const faults: string[] = [];
  for (const entry of entries.filter(({ label }) => mayDo(menu[label], who)))
    for (const [name, take] of Object.entries(ways)) {
      await arrive(walk, "/account");
      await take(walk, entry);
      await eventually(
        () => new URL(page.url()).pathname.startsWith(entry.to),
        `${name} leads to ${entry.to}`,
      );
      await page.getByRole("heading", { level: 1 }).waitFor();
      await settled();
      const missing = page.getByRole("main").getByText(/There is no such|does not allow/);
      if ((await missing.count()) > 0) faults.push(`${name}: ${entry.to} is not there`);
    }
  return [...faults, ...walk.complaints.splice(0)];
}

/** Checks that a letter of a page that they may not see changes nothing, and that the palette does not list the page either. */
export async function closedWays({ page }: Walk): Promise<string[]> {
  const before = page.url();
  await page.keyboard.press("g");
  await page.keyboard.press(letterOf("/settings"));
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Search or jump").fill("Settings");
  await page.getByText("Nothing found.").waitFor();
  await page.keyboard.press("Escape");
  return page.url() === before ? [] : [page.url()];
}

/**
 * Overlays and expanded parts of pages under an accessibility checker; every-page.test.ts covers pages as they open. In the short
 * form that file covers the page behind, and one overlay of each kind is opened.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import { seriousFindings } from "./axe.ts";
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

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole("button", { name }).first().click();

/** Overlays to open, with their page (`ws` stands for a workspace) and the way to open them. */
const openings: readonly (readonly [
  what: string,
  path: string,
  open: (page: Page) => Promise<unknown>,
  within?: string,
])[] = [
  ["a new key", "/keys", press("New key")],
  [
    "all fields of a new key",
    "/keys?new=1",
    (page) => page.getByRole("dialog").getByRole("button", { name: "More settings" }).click(),
  ],
  [
    "a provider by hand",
    "/providers?add=1",
    (page) => page.getByRole("tab", { name: "By hand" }).click(),
  ],
  ["the update of the catalogue", "/models", press("Catalogue update")],
  ["an invitation", "/settings/members", press("Invite")],
  ["a member", "/settings/members", press(/^Change /)],
  ["removing a member", "/settings/members", press(/^Remove /)],
  ["a new workspace", "/settings/workspaces", press("New workspace")],
  ["adding credit", "/money?ws=", press("Add credit")],
  ["replacing a secret", "/settings/callbacks", press("Replace")],
  ["days", "/overview", press("Choose days")],
  [
    "the choices of a field",
    "/overview",
    (page) => page.getByRole("combobox", { name: "Period" }).click(),
    "[role=listbox]",
  ],
  ["the columns of the log", "/requests", press("Columns"), "[role=dialog], [role=menu]"],
  [
    "a call beside the log",
    "/requests",
    (page) => page.getByRole("row").nth(1).getByRole("link").click(),
    "aside",
  ],
  ["the palette", "/keys", (page) => page.keyboard.press("Control+k")],
  ["tools", "/playground", press("Tools"), "main textarea"],
  ["parameters", "/playground", press("Parameters"), "fieldset"],
];

/**
 * In the short form one of each kind: forms, a question, days, choices, a menu, a call, the palette, and parts that expand in a
 * page.
 */
const kinds = new Set([
  "all fields of a new key",
  "removing a member",
  "days",
  "the choices of a field",
  "the columns of the log",
  "a call beside the log",
  "the palette",
  "parameters",
]);

const cases = openings.map(([what, path, open, within = "[role=dialog]"]) => ({
  what,
  path,
  open,
  within,
}));

it.each(cases.filter(({ what }) => shortOrLong(kinds.has(what), true)))(
  "$what has no accessibility findings when it is open",
  async ({ path, open, within }) => {
    const { page, settled, complaints } = inside;
    await arrive(inside, path.endsWith("=") ? path + world.home.id : path);
    await open(page);
    await page.locator(within).filter({ visible: true }).first().waitFor();
    await settled();
    const isBehind = within === "[role=dialog]";
    for (const colorScheme of shortOrLong(["dark"] as const, ["dark", "light"] as const)) {
      await page.emulateMedia({ colorScheme });
      const part = isBehind ? { exclude: ["main"] } : { include: [within] };
      expect(await seriousFindings(page, shortOrLong(part, undefined))).toEqual([]);
    }
    // A screen reader announces what has opened.
    const dialogs = await page.getByRole("dialog").all();
    const names = await Promise.all(dialogs.map((one) => one.ariaSnapshot()));
    expect(names.filter((text) => !/^- dialog "[^"]+"/.test(text))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").filter({ visible: true }).count()).toBe(0);
  },
);

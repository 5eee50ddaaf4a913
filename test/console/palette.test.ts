/** The palette and the keyboard shortcuts: to a page, to an object by its name, to a call by its id, and never while typing. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong, isLong } from "../support/long.ts";
import { findingsOnTheWay } from "./axe.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let call: string;
let keyId: string;
beforeAll(async () => {
  world = await startConsoleWorld();
  const { id, key } = await world.keyOf(world.mem, world.home.id);
  keyId = id;
  call = await world.chat(key);
});
afterAll(() => world.close());

const pathOf = (page: { url(): string }): string => new URL(page.url()).pathname;

it("the palette opens a page, a key by name and a call by id, without a mouse", async () => {
  const { page, complaints, settled, close } = await world.open("mem");
  await page.goto("/start");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
  const search = page.getByPlaceholder("Search or jump");
  const jump = async (text: string, to: string, wait?: string) => {
    await page.keyboard.press("Control+k");
    await search.fill(text);
    await page
      .getByRole("button", { name: wait ?? text })
      .first()
      .waitFor();
    for (const colorScheme of shortOrLong(["dark"] as const, ["light", "dark"] as const)) {
      await page.emulateMedia({ colorScheme });
      await settled();
      expect(await findingsOnTheWay(page)).toEqual([]);
    }
    await page.locator("[data-selected]", { hasText: wait ?? text }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => pathOf(page)).toBe(to);
    await search.waitFor({ state: "detached" });
  };
  await jump("Requests", "/requests");
  await jump("calls", `/keys/${keyId}`, "calls");
  await jump(call, `/requests/${call}`);
  expect(complaints).toEqual([]);
  await close();
});

it("a page that loads late takes the focus, but not from a palette opened in the meantime", async () => {
  const { page, settled, close } = await world.open("mem");
  await page.goto("/start");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
  const search = page.getByPlaceholder("Search or jump");
  const titled = (name: string) => page.getByRole("heading", { level: 1, name });
  const choose = async (label: string) => {
    if (!(await search.isVisible())) await page.keyboard.press("Control+k");
    await search.fill(label);
    await page.locator("[data-selected]", { hasText: label }).waitFor();
  };
  // The page's code is held until the palette is open again. No earlier test opened this page: otherwise the browser may have it
  // in its cache.
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.keyboard.press("Control+k");
  await search.waitFor();
  // Before the choice: the page preloads the code of the chosen entry.
  await page.route("**/assets/**", (route) => held.then(() => route.continue()));
  await choose("Tasks");
  await page.keyboard.press("Enter");
  await expect.poll(() => pathOf(page)).toBe("/tasks");
  await search.waitFor({ state: "detached" });
  await choose("Keys");
  expect(await titled("Tasks").count()).toBe(0);
  release();
  await titled("Tasks").waitFor({ state: "attached" });
  await settled();
  await page.keyboard.press("Enter");
  await titled("Keys").and(page.locator(":focus")).waitFor();
  expect(pathOf(page)).toBe("/keys");
  await close();
});

it.skipIf(!isLong)(
  "g and a letter open pages, / the first filter and ? the list of shortcuts; in a text field they are plain letters",
  async () => {
    const { page, complaints, settled, close } = await world.open("mem");
    await page.goto("/start");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await settled();
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.waitForURL("**/requests");
    await settled();
    await page.keyboard.press("/");
    await page.keyboard.type("gk?");
    expect(pathOf(page)).toBe("/requests");
    expect(await page.locator(":focus").inputValue()).toBe("gk?");
    await page.keyboard.press("Escape");
    await page.evaluate("document.activeElement.blur()");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.getByText("g k").waitFor();
    expect(await findingsOnTheWay(page)).toEqual([]);
    await help.getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Search or jump").waitFor();
    expect(pathOf(page)).toBe("/requests");
    expect(await help.count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  },
);

/**
 * Pages by the keyboard alone. Tab stops at every control, in reading order, with a visible focus and without a trap. A dialog
 * keeps the focus while it is open and returns it to its opener.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong, isLong } from "../support/long.ts";
import { exampleOf, pagePaths } from "./addresses.ts";
import { arrive } from "./arrive.ts";
import type { Visit } from "./browser.ts";
import { stepsBack, walkByTab } from "./tabbing.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let inside: Visit;
beforeAll(async () => {
  world = await startConsoleWorld();
  await furnish(world);
  inside = await world.open("root");
});
afterAll(() => world.close());

/** In the short form: charts, a list with filters, fields, and tabs. */
const main = ["/overview", "/requests", "/playground", "/keys/$id"];
const outside = new Set(["/", "/sign-in", "/join", "/password", "/reset"]);

async function show(path: string): Promise<void> {
  const { page, settled } = inside;
  await arrive(inside, path.includes("$") ? await exampleOf(page, path, settled) : path);
}

it.each(isLong ? pagePaths().filter((path) => !outside.has(path)) : main)(
  "%s can be walked by Tab in reading order, with a visible focus, without gaps or traps",
  async (path) => {
    await show(path);
    const walk = await walkByTab(inside.page);
    const covered = walk.stops.filter(({ isCovered }) => isCovered).map(({ name }) => name);
    const { isClosed, missed, unmarked } = walk;
    expect({ isClosed, missed, unmarked, covered, back: stepsBack(walk) }).toEqual({
      isClosed: true,
      missed: [],
      unmarked: [],
      covered: [],
      back: [],
    });
    expect(walk.stops.length).toBeGreaterThan(10);
  },
);

/** Buttons that open a dialog, by page. */
const openers = [
  ["/keys", "New key"],
  ["/providers", "Add provider"],
  ["/keys/$id", "Revoke"],
  ["/settings/members", "Invite"],
] as const;

it.each(shortOrLong<readonly (typeof openers)[number][]>(openers.slice(0, 1), openers))(
  "the dialog of %s keeps the focus, and returns it to %s",
  async (path, name) => {
    await show(path);
    const { page, settled } = inside;
    const opener = page.getByRole("button", { name: new RegExp(`^${name}`) }).first();
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await settled();
    const walk = await walkByTab(page, "[role=dialog]");
    expect(new Set(walk.stops.map(({ region }) => region))).toEqual(new Set(["dialog"]));
    expect({ isClosed: walk.isClosed, missed: walk.missed, back: stepsBack(walk) }).toEqual({
      isClosed: true,
      missed: [],
      back: [],
    });
    // The walk ends outside the dialog.
    await page.getByRole("dialog").locator("button").first().focus();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect
      .poll(() =>
        opener.evaluate((one) => (one as { matches(of: string): boolean }).matches(":focus")),
      )
      .toBe(true);
  },
);

it("the form of a new provider focuses its first field, and opens no list by itself", async () => {
  await show("/providers");
  const { page, settled } = inside;
  await page.getByRole("button", { name: "Add provider" }).first().click();
  const vendor = page.getByRole("dialog").getByRole("combobox", { name: "Vendor" });
  await vendor.waitFor();
  await settled();
  const isFocused = () =>
    vendor.evaluate((one) => (one as { matches(of: string): boolean }).matches(":focus"));
  await expect.poll(isFocused).toBe(true);
  expect(await page.getByRole("listbox").count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

const focused = (page: Visit["page"]) =>
  page.locator(":focus").evaluateAll((all) =>
    all.map((one) => {
      const { ariaLabel, textContent } = one as unknown as Record<string, string | null>;
      return ariaLabel ?? textContent;
    }),
  );

const drawnWith = [
  ["/keys", "Search"],
  ["/settings/members", /^Change /],
  ["/settings/members", /^Reset the password of /],
] as const;

it.each(shortOrLong<readonly (typeof drawnWith)[number][]>(drawnWith.slice(0, 2), drawnWith))(
  "a dialog that is rendered with its opener returns the focus: %s %s",
  async (path, name) => {
    const { page, settled } = inside;
    await arrive(inside, path === "/keys" ? path : `${path}?ws=${world.home.id}`);
    // The header has the palette's button, and lists have their own.
    const opener = page.getByRole("button", { name }).first();
    await opener.focus();
    const before = await focused(page);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await settled();
    expect(await focused(page)).not.toEqual(before);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toEqual(before);
  },
);

it("a confirmation that opens after an answer returns the focus each time it closes", async () => {
  const { page } = inside;
  await arrive(inside, `/settings/members?ws=${world.home.id}`);
  await page.getByRole("button", { name: "Remove mem@example.com" }).focus();
  const before = await focused(page);
  for (const _ of [1, 2, 3]) {
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toEqual(["Cancel"]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toEqual(before);
  }
});

it("the choice between two versions returns the focus to Save", async () => {
  const { page } = inside;
  const { id } = await world.keyOf(world.root, world.home.id);
  await arrive(inside, `/keys/${id}?tab=caps`);
  await page.getByLabel("Daily cap (USD)").fill("3");
  world.must(await world.root.call("PATCH", `/keys/${id}`, { name: "theirs" }));
  await page.getByRole("button", { name: "Save", exact: true }).press("Enter");
  await expect.poll(() => focused(page)).toEqual(["Take theirs"]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toEqual(["Save"]);
  await page.getByRole("button", { name: "Discard" }).click();
});

it("the palette returns the focus to the field that had it", async () => {
  const { page } = inside;
  await arrive(inside, "/keys");
  await page.getByRole("textbox", { name: "Name or last four" }).fill("ab");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect
    .poll(async () => {
      await page.keyboard.press("c");
      return page.getByRole("textbox", { name: "Name or last four" }).inputValue();
    })
    .toContain("abc");
});

it("a button keeps the focus while its request is in flight, and afterwards", async () => {
  const { page, complaints } = inside;
  await show("/keys/$id");
  const names = [
    ["Disable", "Enable"],
    ["Enable", "Disable"],
  ] as const;
  await page.getByRole("button", { name: "Disable" }).focus();
  for (const [before, after] of names) {
    await expect.poll(() => focused(page)).toEqual([before]);
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toEqual([after]);
  }
  await show("/providers/$id");
  await page.getByRole("button", { name: "Pause for 1 h" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toEqual(["Resume"]);
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toEqual(["Pause for 1 h"]);
  expect(complaints).toEqual([]);
});

/** What is typed or shown on a page belongs to its object, and stays until it is saved or given up. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { providerBody } from "../providers/support.ts";
import { patiently } from "../support/patience.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => void (world = await startConsoleWorld()));
afterAll(() => world.close());

/** Opens another page of the console by keyboard. */
async function jump(page: Page, text: string, title: string): Promise<void> {
  const search = page.getByPlaceholder("Search or jump");
  await page.keyboard.press("Control+k");
  await search.fill(text);
  await page.locator("[data-selected]", { hasText: text }).waitFor();
  await page.keyboard.press("Enter");
  await search.waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
}

it("a revealed value is not shown on the page of another key", async () => {
  const { must, mem, home } = world;
  const made = ["one", "other"].map(async (name) =>
    must(await mem.call("POST", "/keys", { workspace_id: home.id, name })),
  );
  const [one, other] = await Promise.all(made);
  const { page, complaints, close } = await world.open("mem");
  // The browser keeps what it has read of a visited key: its page then shows at once.
  await page.goto(`/keys/${String(other!["id"])}`);
  await page.getByRole("heading", { level: 1, name: "Key other" }).waitFor();
  await jump(page, String(one!["id"]), "Key one");
  await page.getByRole("button", { name: "Reveal" }).click();
  const value = page.getByRole("region", { name: "the key", exact: true });
  await value.waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Key other" }).waitFor();
  await expect.poll(() => value.count(), patiently).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

it("what is typed for one provider is not added to another", async () => {
  const { must, root } = world;
  for (const id of ["north", "south"])
    must(await root.call("POST", "/providers", providerBody(id, "https://8.8.8.8")));
  const { page, complaints, close } = await world.open("root");
  await page.goto("/providers/south");
  await page.getByLabel("Address").waitFor();
  await jump(page, "north", "north");
  await page.getByLabel("Name of the key").fill("second");
  await page.getByLabel("Address").fill("https://8.8.4.4/v1");
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "south", exact: true }).waitFor();
  await expect.poll(() => page.getByLabel("Name of the key").inputValue(), patiently).toBe("");
  await expect
    .poll(() => page.getByLabel("Address").inputValue(), patiently)
    .toBe("https://8.8.8.8/v1");
  expect(complaints).toEqual([]);
  await close();
});

/** Keys in the console, in a real browser, by people in every role. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Person } from "../admin/people.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld();
});
afterAll(() => world.close());

/** A new key of somebody's in the workspace `home`; its record and its value. */
const newKey = async (person: Person, name: string, more: object = {}) =>
  world.must(
    await person.call("POST", "/keys", { workspace_id: world.home.id, name, ...more }),
  ) as { id: string; key: string; name: string };
const statusOf = async (id: string): Promise<unknown> =>
  (await world.root.call("GET", `/keys/${id}`)).json.status;
const toast = (page: Page, text: string) => page.getByRole("alert").filter({ hasText: text });

it("a key is disabled with one click, and Undo within ten seconds enables it again", async () => {
  const { id } = await newKey(world.mem, "leaky");
  const { page, complaints, context } = await world.open("mem");
  await page.goto(`/keys/${id}`);
  await page.getByRole("button", { name: "Disable" }).click();
  await toast(page, "leaky is disabled").waitFor();
  expect(await statusOf(id)).toBe("disabled");
  await page.getByRole("button", { name: "Undo" }).click();
  await toast(page, "Undone").waitFor();
  await page.getByRole("button", { name: "Disable" }).waitFor();
  expect(await statusOf(id)).toBe("active");
  expect(complaints).toEqual([]);
  await context.close();
});

it("Undo takes nothing back where somebody else changed the key meanwhile, and says so", async () => {
  const { id } = await newKey(world.mem, "contested");
  const { page, complaints, context } = await world.open("mem");
  await page.goto(`/keys/${id}`);
  await page.getByRole("button", { name: "Disable" }).click();
  await toast(page, "contested is disabled").waitFor();
  world.must(await world.ann.call("PATCH", `/keys/${id}`, { name: "contested by ann" }));
  await page.getByRole("button", { name: "Undo" }).click();
  await toast(page, "The object was changed since you read it").waitFor();
  expect(await statusOf(id)).toBe("disabled");
  expect(complaints).toEqual([]);
  await context.close();
});

it("a key is revoked only once its name is typed", async () => {
  const { id } = await newKey(world.mem, "old  one");
  const { page, complaints, context } = await world.open("mem");
  await page.goto(`/keys/${id}`);
  await page.getByRole("button", { name: "Revoke" }).click();
  const dialog = page.getByRole("dialog", { name: "Revoke key" });
  await expect.poll(() => page.locator(":focus").innerText()).toBe("Cancel");
  const typed = dialog.getByLabel("Type old one to confirm");
  await typed.fill("old");
  expect(await dialog.getByRole("button", { name: "Revoke key" }).isDisabled()).toBe(true);
  await typed.press("Enter");
  await typed.fill("old one");
  expect(await statusOf(id)).toBe("active");
  await typed.press("Enter");
  await toast(page, "is revoked").waitFor();
  expect(await statusOf(id)).toBe("revoked");
  await expect.poll(() => page.getByRole("button", { name: /able|Revoke/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

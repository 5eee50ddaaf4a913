/** Rights that a reader loses while a page is open: nothing untrue is said about others, and menus follow. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMember } from "../admin/people.ts";
import { patiently } from "../support/patience.ts";
import { visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => void (world = await startConsoleWorld()));
afterAll(() => world.close());

it("a removal refused to a former admin says nothing of the member's keys, and Settings leave the menu", async () => {
  const { gateway, home, mem } = world;
  await world.keyOf(mem, home.id);
  const former = await newMember(gateway, home.id, { email: "former@example.com", role: "admin" });
  const { page, settled, complaints, close } = await visit({
    url: gateway.url,
    cookie: former.cookie,
  });
  await page.goto("/settings/members");
  const remove = page.getByRole("button", { name: `Remove ${mem.email}` });
  await remove.waitFor();
  await settled();
  const path = `/workspaces/${home.id}/members/${former.userId}`;
  world.must(await gateway.admin("PATCH", path, { role: "member" }));
  await remove.click();
  await page.getByRole("alert").filter({ hasText: "keys cannot be read" }).waitFor();
  expect(await page.getByText("no active keys").count()).toBe(0);
  const menu = page.getByRole("navigation", { name: "Pages" });
  await expect.poll(() => menu.getByRole("link", { name: "Settings" }).count(), patiently).toBe(0);
  expect(await remove.count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

it("the removal of a member with more keys than the gateway lists says that there are others", async () => {
  const { mel, home } = world;
  await world.keyOf(mel, home.id);
  const { page, complaints, close } = await world.open("ann");
  await page.route("**/admin/v1/keys?**", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), has_more: true } });
  });
  await page.goto("/settings/members");
  await page.getByRole("button", { name: `Remove ${mel.email}` }).click();
  const items = page.getByRole("dialog").getByRole("listitem");
  await expect.poll(() => items.allInnerTexts(), patiently).toEqual(["calls", "and others"]);
  expect(complaints).toEqual([]);
  await close();
});

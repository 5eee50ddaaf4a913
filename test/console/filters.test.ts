/** Text in a filter field that was not submitted: the next choice submits it, Clear removes it, and a phone's drawer keeps it. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrive } from "./arrive.ts";
import type { Visit } from "./browser.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let root: Visit;
beforeAll(async () => {
  world = await startConsoleWorld();
  await furnish(world);
  root = await world.open("root");
});
afterAll(() => world.close());

const searchOf = () => Object.fromEntries(new URL(root.page.url()).searchParams);

it("typed text in the log's filters is applied with the next choice, and Clear removes it", async () => {
  const { page, complaints } = root;
  await arrive(root, "/requests");
  const model = page.getByRole("textbox", { name: "Model" });
  await model.fill("sandbox/chat");
  await page.getByRole("button", { name: "Failed" }).click();
  await expect.poll(searchOf).toEqual({ model: "sandbox/chat", status: "failed" });
  // A value that a field refuses is no filter, and does not block another filter.
  await page.getByRole("textbox", { name: "Tag, such as team:search" }).fill("no colon");
  await page.getByRole("button", { name: "Failed" }).click();
  await expect.poll(searchOf).toEqual({ model: "sandbox/chat" });
  await page.getByRole("button", { name: "Clear" }).click();
  await expect.poll(searchOf).toEqual({});
  await model.fill("never sent");
  await page.getByRole("button", { name: "Clear" }).click();
  await expect.poll(() => model.inputValue()).toBe("");
  expect(complaints).toEqual([]);
});

it("typed text in the filters of keys and audit log is applied and cleared in the same way", async () => {
  const { page, complaints } = root;
  await arrive(root, "/keys");
  await page.getByRole("textbox", { name: "Name or last four" }).fill("calls");
  await page.getByRole("combobox", { name: "Order" }).click();
  await page.getByRole("option").nth(1).click();
  await expect.poll(searchOf).toMatchObject({ q: "calls", sort: expect.any(String) as string });
  await arrive(root, "/settings/audit");
  const who = page.getByRole("textbox", { name: "Action, such as key.change" });
  await who.fill("key.create");
  await page.getByRole("combobox", { name: "Period" }).click();
  await page.getByRole("option", { name: "Last 7 days" }).click();
  await expect.poll(searchOf).toEqual({ action: "key.create", period: "7d" });
  await who.fill("never sent");
  await page.getByRole("button", { name: "Clear" }).click();
  await expect.poll(() => who.inputValue()).toBe("");
  expect(complaints).toEqual([]);
});

it.each([
  ["/requests", "status=failed"],
  ["/settings/audit", "period=7d"],
  ["/tasks", "provider=none"],
  ["/models", "kind=text"],
])("Clear is shown on %s only if a filter is set", async (path, set) => {
  const { page, settled, complaints } = root;
  const clear = page.getByRole("button", { name: "Clear" });
  await arrive(root, path);
  await page.getByRole("main").getByRole("combobox").first().waitFor();
  expect(await clear.count()).toBe(0);
  await arrive(root, `${path}?${set}`);
  await clear.click();
  await expect.poll(searchOf).toEqual({});
  await settled();
  expect(await clear.count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("on a phone typed text is applied with the button that shows the list", async () => {
  const { page, complaints } = root;
  await page.setViewportSize({ width: 390, height: 800 });
  await arrive(root, "/requests");
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("textbox", { name: "Model" }).fill("sandbox/chat");
  await page.getByRole("textbox", { name: "Tag, such as team:search" }).fill("no colon");
  const show = page.getByRole("button", { name: "Show the list" });
  await show.click();
  // The field shows its error, and nothing is lost.
  expect(await page.getByRole("dialog").count()).toBe(1);
  await page.getByRole("textbox", { name: "Tag, such as team:search" }).fill("");
  await show.click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(searchOf).toEqual({ model: "sandbox/chat" });
  await page.getByRole("button", { name: "Filters: 1 set" }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(complaints).toEqual([]);
});

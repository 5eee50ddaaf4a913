/** What is seen: tables on a phone, the edges of fields, and the high contrast mode of the system. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrive } from "./arrive.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let root: Visit;
let task: string;

beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  const { id, key } = await world.keyOf(world.root, world.home.id);
  world.must(await world.root.call("PATCH", `/keys/${id}`, { spend_caps: { monthly: "5" } }));
  task = await world.video(key, { webhook_url: "https://127.0.0.1:9/hook" });
  root = await world.open("root");
});
afterAll(() => world.close());

/** The names of the parts that scroll sideways, without code. */
const sideways = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll("main *:not(pre)")]
    .filter((one) => getComputedStyle(one).overflowX === "auto" && one.scrollWidth > one.clientWidth)
    .map((one) => one.getAttribute("aria-label") ?? one.className)`);

it("on a phone no table of the settings scrolls sideways, and each value stands beside its header", async () => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 390, height: 800 });
  const members = `/settings/members?ws=${world.home.id}`;
  const callbacks = `/settings/callbacks?ws=${world.home.id}`;
  const settings = ["workspaces", "gateways", "audit"].map((name) => `/settings/${name}`);
  for (const path of [members, callbacks, ...settings, "/account", `/tasks/${task}`]) {
    await arrive(root, path);
    await page.getByRole("table").first().waitFor();
    await settled();
    await expect.poll(() => sideways(page), { message: path }).toEqual([]);
  }
  await arrive(root, members);
  const row = page.getByRole("row").filter({ hasText: "mem@example.com" });
  await row.getByRole("button", { name: "Remove mem@example.com" }).click({ trial: true });
  const headers = await page.evaluate(
    "[...document.querySelectorAll('main tbody tr:first-child td')].map((cell) => getComputedStyle(cell, '::before').content)",
  );
  expect(headers).toEqual(
    ["E-mail", "Role", "Status", "This month (USD)"].map((one) => `"${one}" / ""`).concat("none"),
  );
});

/** What a page says and does while something else happens: another question, another person, another clock, a faster hand. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { patiently } from "../support/patience.ts";
import { held } from "./held.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
/** A second workspace, of which `root` alone knows. */
const other = "ws_zzother";
beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  await world.gateway.database.query(
    "insert into workspaces (id, organization_id, name) values ($1, $2, 'Other')",
    [other, world.home.organizationId],
  );
});
afterAll(() => world.close());

const atPath = (path: string) => (url: URL) => url.pathname === `/admin/v1${path}`;

/** Turns to another workspace, by the switch above the menu. */
async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole("combobox", { name: "Workspace" }).fill(name);
  await page.getByRole("option", { name, exact: true }).click();
}

async function nameOfHome(): Promise<string> {
  const home = world.must(await world.root.call("GET", `/workspaces/${world.home.id}`));
  return home["name"] as string;
}

it("numbers of one period or workspace are never shown as those of another one", async () => {
  const { key } = await world.keyOf(world.mem, world.home.id);
  await world.chat(key);
  const { page, close } = await world.open("root");
  await page.goto(`/overview?ws=${world.home.id}`);
  const requests = page.locator("main").getByRole("link", { name: /^Requests \d/ });
  await requests.waitFor();
  const usage = await held(page, atPath("/usage"));
  await choose(page, "Other");
  await usage.asked();
  expect(await requests.count()).toBe(0);
  await usage.release();
  await page.getByText("No calls").first().waitFor();
  await close();
});

it("members of one workspace are never listed as those of another one", async () => {
  const { page, close } = await world.open("root");
  await page.goto(`/settings/members?ws=${world.home.id}`);
  const remove = page.getByRole("button", { name: /^Remove / });
  await remove.first().waitFor();
  const members = await held(page, atPath(`/workspaces/${other}/members`));
  await choose(page, "Other");
  await page.getByRole("heading", { name: "Members of Other" }).waitFor();
  await members.asked();
  expect(await remove.count()).toBe(0);
  await members.release();
  await page.getByText("Nobody is a member of Other yet").waitFor();
  await close();
});

it("credit is never asked for one workspace and added to another one", async () => {
  const { page, close } = await world.open("root");
  await page.goto(`/money?ws=${other}`);
  await page.getByRole("button", { name: "Add credit" }).waitFor();
  await choose(page, await nameOfHome());
  await page.waitForURL(`**ws=${world.home.id}*`);
  await page.getByRole("button", { name: "Add credit" }).click();
  await page.getByLabel("Amount (USD)").fill("25");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: /^Add 25/ }).waitFor();
  await page.goBack();
  await page.waitForURL(`**ws=${other}*`);
  await expect.poll(() => page.getByRole("dialog").count(), patiently).toBe(0);
  await close();
});

it("a key for a member is not asked for in a workspace that they are not in", async () => {
  const { page, close } = await world.open("root");
  await page.goto("/keys?new=1");
  const dialog = page.getByRole("dialog");
  const workspace = dialog.getByRole("combobox", { name: "Workspace" });
  await workspace.fill(await nameOfHome());
  await page.getByRole("option", { name: await nameOfHome(), exact: true }).click();
  const owner = dialog.getByRole("combobox", { name: "For" });
  await owner.click();
  await page.getByRole("option", { name: /^mem@/ }).click();
  await workspace.fill("Other");
  await page.getByRole("option", { name: "Other", exact: true }).click();
  await owner.waitFor({ state: "detached" });
  await dialog.getByLabel("Name").first().fill("mine");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("is made").waitFor();
  expect(await dialog.locator("code").innerText()).toMatch(/^\S{20,}$/);
  await close();
});

it("Undo after a change that was saved over another one gives back the other one", async () => {
  const { root, must } = world;
  const { page, close } = await world.open("root");
  const path = `/workspaces/${other}`;
  await page.goto(`/settings/workspaces/${other}`);
  await page.getByLabel("Credit line (USD)").fill("30");
  must(await root.call("PATCH", path, { credit_line: "20" }));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Save mine" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  expect(must(await root.call("GET", path))["credit_line"]).toMatch(/^20(\.0+)?$/);
  await close();
});

/** The reader comes back to the window, after a while. */
async function comeBack(page: Page): Promise<void> {
  await page.clock.runFor(11_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
}

it("who signs in in another tab does not go on in the page of somebody else", async () => {
  const { page, close } = await world.open("nobody");
  const signIn = (cookie: string) =>
    page.context().addCookies(
      cookie.split("; ").map((one) => {
        const at = one.indexOf("=");
        return { name: one.slice(0, at), value: one.slice(at + 1), url: world.gateway.url };
      }),
    );
  await signIn(world.ann.cookie);
  await page.clock.install();
  await page.goto("/keys");
  const account = page.getByRole("banner").getByTitle("Account");
  await account.waitFor();
  await signIn(world.bob.cookie);
  await comeBack(page);
  await page.waitForURL((url) => url.pathname !== "/keys");
  await expect.poll(() => account.innerText(), patiently).toMatch(/^bob/);
  await close();
});

it("a gateway that serves is not called silent where the browser's clock is wrong", async () => {
  const { page, close } = await world.open("root");
  await page.clock.install({ time: Date.now() + 600_000 });
  await page.goto("/settings/gateways");
  const row = page.getByRole("table", { name: "Gateways" }).getByRole("row").nth(1);
  await row.waitFor();
  await expect.poll(() => row.innerText(), patiently).toContain("serves");
  await close();
});

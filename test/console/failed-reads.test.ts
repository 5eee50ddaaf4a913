/** Pages whose reads are refused: each page says so, nothing looks as if it were loading, and "Try again" loads what was missing. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { interceptCalls } from "./between.ts";
import type { Visit } from "./browser.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let root: Visit;

beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  await furnish(world);
  root = await world.open("root");
});
afterAll(() => world.close());

const words = "Not today.";
/** Refuses reads of these paths in the API's format, until the returned function is called. The console does not retry a refusal. */
const refuse = (page: Page, paths: RegExp) =>
  interceptCalls(
    page,
    "Request",
    ({ pathname, search }) => paths.test(pathname + search),
    ({ method, pass, answer }) =>
      method === "GET"
        ? answer(403, { error: { message: words, code: "insufficient_permissions" } })
        : pass(),
  );

/** All reads except those that every page needs, and except the stream. */
const others = /\/admin\/v1\/(?!me$|info$|workspaces(?:\?|$)|events(?:\?|$)|providers$)/;

/** In the short form: sums, a list that grows, forms, and panels of a workspace. */
const refusing = shortOrLong(
  ["/overview", "/requests", "/playground", "/money?ws="],
  [
    "/start",
    "/overview",
    "/requests",
    "/playground",
    "/tasks",
    "/tasks?view=table",
    "/keys",
    "/models",
    "/money?ws=",
    "/money/ledger?ws=",
    "/settings/members?ws=",
    "/settings/audit",
    "/settings/gateways",
    "/settings/hooks",
    "/account",
  ],
);

it.each(refusing)("%s reports a refused read", async (path) => {
  const { page } = root;
  const allow = await refuse(page, others);
  await page.goto(path.endsWith("=") ? path + world.home.id : path);
  const alert = page.locator("main").getByRole("alert").filter({ hasText: words }).first();
  await alert.waitFor();
  await expect.poll(() => page.locator("main .mantine-Skeleton-root").count()).toBe(0);
  await allow();
  const again = page.locator("main").getByRole("button", { name: "Try again" });
  await expect
    .poll(async () => {
      await again.evaluateAll((all) => {
        for (const one of all) (one as unknown as { click(): void }).click();
      });
      return alert.count();
    })
    .toBe(0);
});

it("a page opened while the gateway fails reports it, with a heading and a retry button", async () => {
  const { page } = root;
  const message = "The database does not answer now.";
  const recover = await interceptCalls(
    page,
    "Request",
    ({ pathname }) => pathname === "/admin/v1/me",
    ({ answer }) => answer(503, { error: { message, code: "database_unavailable" } }),
  );
  await page.goto("/keys");
  const alert = page.getByRole("alert").filter({ hasText: message });
  await alert.waitFor();
  expect(await alert.innerText()).toContain("Page could not be read");
  expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  await recover();
  await alert.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
});

/** The frame around each page shows the error wherever the workspaces are needed. */
it.each(
  shortOrLong(["/money"], ["/money", "/money/ledger", "/settings/members", "/settings/workspaces"]),
)("%s reports unreadable workspaces once", async (path) => {
  const { page } = root;
  const allow = await refuse(page, /\/admin\/v1\/workspaces(?:\?|$)/);
  await page.goto(path);
  const alert = page.getByRole("alert").filter({ hasText: "Workspaces could not be read" });
  await alert.waitFor();
  expect(await alert.count()).toBe(1);
  await allow();
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => alert.count()).toBe(0);
});

it.each([
  ["/overview", /usage\?.*granularity=total.*also_by=(?!.*error_code)/, "Period before"],
  ["/keys/$id?tab=routing", /\/admin\/v1\/models$/, "Models"],
])("%s reports a single refused read where it is missing", async (path, reads, what) => {
  const { page, settled } = root;
  const { id } = await world.keyOf(world.root, world.home.id);
  const allow = await refuse(page, reads);
  await page.goto(path.replace("$id", id));
  const alert = page.locator("main").getByRole("alert").filter({ hasText: words });
  await alert.filter({ hasText: `${what} could not be read` }).waitFor();
  await settled();
  expect(await alert.count()).toBe(1);
  await allow();
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => alert.count()).toBe(0);
});

it("a list of providers that cannot be read says so", async () => {
  const { page } = root;
  const { id } = await world.keyOf(world.root, world.home.id);
  const allow = await refuse(page, /\/admin\/v1\/providers$/);
  await page.goto(`/keys/${id}?tab=routing`);
  await page.getByRole("switch", { name: "Own routing" }).click();
  await page.getByRole("combobox", { name: "Only these providers" }).click();
  const list = page.getByRole("listbox", { name: "Only these providers" });
  await expect.poll(() => list.innerText()).toBe(`Providers cannot be read: ${words}`);
  await allow();
});

it("a model can be chosen in the playground if the browser blocks storage", async () => {
  const { page, close } = await world.open("root");
  await page.addInitScript(`
    Storage.prototype.setItem = () => {
      throw new DOMException("Storage is disabled.", "SecurityError");
    };
  `);
  await page.goto("/playground?mode=text");
  await page.getByRole("combobox", { name: "Models" }).click();
  await page.getByRole("option", { selected: false }).first().click();
  await expect.poll(() => page.url()).toMatch(/[?&]models=/);
  await close();
});

it("the dialog of a credit does not call the balance unlimited if it could not be read", async () => {
  const { page, complaints, close } = await world.open("root");
  const allow = await refuse(page, /\/balance$/);
  await page.goto(`/money?ws=${world.home.id}`);
  await page.getByText("Balance could not be read").waitFor();
  await page.getByRole("button", { name: "Add credit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount (USD)").fill("25");
  await dialog.getByRole("button", { name: "Continue" }).click();
  const after = dialog.getByText("Available after it:");
  expect(await after.innerText()).toBe(
    "Available after it: not known, the balance could not be read",
  );
  await allow();
  expect(complaints).toEqual([]);
  await close();
});

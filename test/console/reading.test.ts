/** Reading the log: from call to call within a list, selected columns, times in UTC, and one member among many. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrive } from "./arrive.ts";
import { findingsOnTheWay } from "./axe.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let root: Visit;
/** The ids of calls, oldest first: every other one failed. */
const calls: string[] = [];

beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  const { key } = await world.keyOf(world.mem, world.home.id);
  for (let at = 0; at < 5; at += 1)
    calls.push(await world.chat(key, at % 2 === 1 ? { status: 500 } : undefined));
  // Many newer members, whose addresses no test types, and who have not joined yet: all that a menu reads at first.
  await world.gateway.database.query(
    `with made as (insert into users (id, email, name)
       select 'user_zz' || n, 'many' || n || '@example.com', 'Many ' || n from generate_series(100, 170) n returning id)
     insert into members (workspace_id, user_id, status, invitation_id, invitation_hash, invitation_expires_at)
       select $1, id, 'invited', 'inv_' || id, convert_to(id, 'utf8'), now() + interval '7 days' from made`,
    [world.home.id],
  );
  root = await world.open("root");
});
afterAll(() => world.close());

const heading = (page: Page) => page.getByRole("heading", { level: 1, name: "Request" });
const at = (page: Page) => new URL(page.url());

it("a call's page moves to the next and previous call of its list by buttons and keys, and Back returns to the list", async () => {
  const { page, settled, complaints } = root;
  const list = `/requests?status=failed&model=sandbox/chat&ws=${world.home.id}`;
  await arrive(root, list);
  await page.getByRole("row").nth(1).waitFor();
  await page.getByRole("row").nth(1).getByRole("link").press("Enter");
  await page.getByRole("link", { name: "Open page" }).press("Enter");
  await heading(page).waitFor();
  expect([at(page).pathname, at(page).searchParams.get("status")]).toEqual([
    `/requests/${calls[3]}`,
    "failed",
  ]);
  // The calls in between did not fail.
  await page.getByRole("link", { name: "Next", exact: true }).click();
  await page.waitForURL(`**/requests/${calls[1]}?**`);
  await settled();
  const step = (name: string) => page.getByRole("button", { name, exact: true });
  await step("Next").waitFor();
  expect(await step("Next").isDisabled()).toBe(true);
  expect(await findingsOnTheWay(page)).toEqual([]);
  await page.keyboard.press("k");
  await page.waitForURL(`**/requests/${calls[3]}?**`);
  await page.getByRole("link", { name: "Next", exact: true }).waitFor();
  await page.keyboard.press("]");
  await page.waitForURL(`**/requests/${calls[1]}?**`);
  // Steps add no history entry: Back leads to the list, as its link does.
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  expect(at(page).searchParams.get("status")).toBe("failed");
  await arrive(root, `/requests/${calls[3]}?status=failed`);
  await page.getByRole("link", { name: "List", exact: true }).click();
  await page.waitForURL("**/requests?status=failed");
  // Other calls with the same error, and other calls at that time.
  await arrive(root, `/requests/${calls[3]}`);
  await page.getByRole("link", { name: "Others with this error" }).click();
  await expect.poll(() => page.getByRole("row").count()).toBe(3);
  await page.goBack();
  await page.getByRole("link", { name: "Calls at this time" }).click();
  await expect.poll(() => page.getByRole("row").count()).toBe(6);
  // A pasted id is within the whole log.
  await arrive(root, `/requests/${calls[3]}`);
  await page.getByRole("link", { name: "Next", exact: true }).waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(`**/requests/${calls[2]}`);
  expect(complaints).toEqual([]);
});

it("the log shows the columns chosen in this browser, until they are reset", async () => {
  const { page, complaints } = root;
  await arrive(root, "/requests");
  // Removes a choice of columns that a failed first attempt may have left.
  await page.evaluate("localStorage.removeItem('tollgate-request-columns')");
  await page.reload();
  await page.getByRole("row").nth(1).waitFor();
  const headers = () => page.getByRole("columnheader").allTextContents();
  const usual = await headers();
  const choose = () => page.getByRole("button", { name: "Columns", exact: true }).click();
  await choose();
  await page.getByRole("checkbox", { name: "HTTP" }).check();
  await page.getByRole("checkbox", { name: "Provider" }).uncheck();
  // At this width the first-token column is shown only if the reader chose it, but its box is checked from the start.
  await page.getByRole("checkbox", { name: "First token" }).uncheck();
  const chosen = usual.filter((name) => name !== "Provider");
  chosen.splice(chosen.indexOf("Outcome"), 0, "HTTP");
  await expect.poll(headers).toEqual(chosen);
  expect(await findingsOnTheWay(page)).toEqual([]);
  await page.reload();
  await expect.poll(headers).toEqual(chosen);
  await expect.poll(() => page.getByRole("row").nth(2).innerText()).toContain("50");
  await choose();
  await page.getByRole("button", { name: "Reset" }).click();
  await expect.poll(headers).toEqual(usual);
  await page.evaluate("localStorage.setItem('tollgate-request-columns', 'nothing,<b>,HTTP')");
  await page.reload();
  await expect.poll(headers).toEqual(["Time", "Model", "HTTP", "Outcome"]);
  await page.evaluate("localStorage.removeItem('tollgate-request-columns')");
  expect(complaints).toEqual([]);
});

it("times are shown in the reader's zone or in UTC, as chosen or as the address says", async () => {
  const { page, complaints } = root;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kolkata" });
  await page.goto("/requests");
  const link = page.locator(`main a[href^="/requests/${calls[0]}"]`);
  await link.waitFor();
  const utc = (await link.getAttribute("title"))!;
  const hour = (offsetMinutes: number) =>
    new Date(Date.parse(utc) + offsetMinutes * 60_000).toISOString().slice(11, 16);
  const shown = async () => (await link.innerText()).match(/\d\d:\d\d/)?.[0];
  expect(await shown()).toBe(hour(330));
  await page.getByRole("button", { name: "UTC", exact: true }).click();
  await expect.poll(shown).toBe(hour(0));
  await page.reload();
  await link.waitFor();
  expect(await shown()).toBe(hour(0));
  // The address takes precedence, and stays from page to page.
  await arrive(root, "/requests?tz=local");
  await link.waitFor();
  expect(await shown()).toBe(hour(330));
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.waitForURL("**/keys?**tz=local");
  await arrive(root, "/account");
  await page.getByText("In my zone", { exact: true }).click();
  await arrive(root, "/requests");
  await link.waitFor();
  expect(await shown()).toBe(hour(330));
  await page.goto("/requests?tz=moon");
  await page.getByText("tz=moon").waitFor();
  await devtools.detach();
  expect(complaints).toEqual([]);
});

it("a member is found by typing among more than a menu lists, in the log, for a key, and on the members page", async () => {
  const ann = await world.open("ann");
  const { page, complaints } = ann;
  const find = async (field: ReturnType<Page["getByRole"]>, text: string) => {
    await field.click();
    await field.pressSequentially(text);
    await page.getByRole("option", { name: `${text}@example.com` }).click();
  };
  await arrive(ann, "/requests");
  await find(page.getByRole("combobox", { name: "Member" }), "mem");
  await page.waitForURL(`**member=${world.mem.userId}`);
  await page.reload();
  const field = page.getByRole("combobox", { name: "Member" });
  await expect.poll(() => field.inputValue()).toBe("mem@example.com");
  await arrive(ann, "/keys?new=1");
  await find(page.getByRole("dialog").getByRole("combobox", { name: "For" }), "mel");
  await arrive(ann, "/settings/members");
  await page.getByRole("textbox", { name: "Name or e-mail" }).fill("many170");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await page.getByRole("textbox", { name: "Name or e-mail" }).fill("nobody");
  await page.getByText("has this in the name or e-mail").waitFor();
  expect(await findingsOnTheWay(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await ann.close();
});

it("the money page says how long credit lasts at the rate of the last week", async () => {
  const { page, complaints } = root;
  // Only a little credit is left.
  await world.gateway.database.query(
    "update ledger_accounts set credits_nano = charged_nano + 50000000 where workspace_id = $1",
    [world.home.id],
  );
  await arrive(root, `/money?ws=${world.home.id}`);
  await page.getByText(/^lasts about \d+ (?:days|hours) at the rate of the last 7 days$/).waitFor();
  expect(complaints).toEqual([]);
});

it.skipIf(new Date().getUTCDate() === 1)(
  "the overview projects the spend of the month",
  async () => {
    const { page } = root;
    await arrive(root, `/overview?period=month&ws=${world.home.id}`);
    const forecast = page.getByText(/^At the pace of this month so far it comes to [\d.,]+ USD/);
    const all = Number(/[\d.]+(?= USD)/.exec(await forecast.innerText())![0]);
    const title = await page.getByRole("link", { name: /^Spend/ }).getAttribute("title");
    expect(all).toBeGreaterThan(Number.parseFloat(title!));
  },
);

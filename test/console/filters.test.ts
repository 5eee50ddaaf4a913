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
  // Esc closes the innermost of two.
  await page.getByRole("button", { name: "Choose days" }).click();
  await page.getByLabel("Last day (UTC)").press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(1);
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

it("days of which the last is before the first are refused in the form, and named where an address has them", async () => {
  const { page, complaints } = root;
  await arrive(root, "/requests");
  await page.getByRole("button", { name: "Choose days" }).click();
  const [first, last] = [page.getByLabel("First day (UTC)"), page.getByLabel("Last day (UTC)")];
  await first.fill("2026-11-20");
  await last.fill("2026-11-10");
  await page.getByRole("button", { name: "Show these days" }).click();
  await page.getByText("It is before the first day.").waitFor();
  expect(searchOf()).toEqual({});
  // A year that the API cannot read.
  await last.fill("12026-11-20");
  await page.getByRole("button", { name: "Show these days" }).click();
  await expect.poll(() => page.locator("input[name=last]:focus:invalid").count()).toBe(1);
  expect(searchOf()).toEqual({});
  await last.fill("2026-11-20");
  await page.getByRole("button", { name: "Show these days" }).click();
  const day = { from: "2026-11-20T00:00:00Z", to: "2026-11-21T00:00:00.000Z" };
  await expect.poll(searchOf).toEqual(day);
  const ws = `ws=${world.home.id}&`;
  for (const path of ["/requests?", "/settings/audit?", `/money/ledger?${ws}`]) {
    await page.goto(`${path}from=2026-11-20T00:00:00Z&to=2026-11-10T00:00:00Z`);
    await page.getByText("from=2026-11-20T00:00:00Z, to=2026-11-10T00:00:00Z").waitFor();
    await expect.poll(searchOf).not.toHaveProperty("from");
  }
  expect(complaints).toEqual([]);
});

it("a ledger without entries for its filters offers to remove them", async () => {
  const { page } = root;
  await arrive(root, `/money/ledger?ws=${world.home.id}&reference=req_none`);
  await page.getByText("No entries match these filters.").waitFor();
  await page.getByRole("link", { name: "Remove the filters" }).click();
  await expect.poll(searchOf).toEqual({ ws: world.home.id });
});

it("a text is corrected in the middle of a search field, and Back and Clear change the field", async () => {
  const { page, close } = await world.open("root");
  for (const [path, label] of [
    ["/providers", "Name or model"],
    ["/models", "Id or name"],
  ] as const) {
    await page.goto(path);
    const field = page.getByLabel(label);
    await field.pressSequentially("box");
    await field.press("Home");
    await field.pressSequentially("sand");
    expect(await field.inputValue()).toBe("sandbox");
    await page.waitForURL(`**${path}?q=sandbox`);
    expect(await field.inputValue()).toBe("sandbox");
  }
  const field = page.getByLabel("Id or name");
  await page.getByRole("button", { name: "Clear" }).click();
  await expect.poll(() => field.inputValue()).toBe("");
  await page.goto("/models?q=one");
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe("one");
  await close();
});

it("only the main button of the mouse selects a time in the chart above the log", async () => {
  const { page, complaints } = root;
  await arrive(root, "/requests");
  const chart = page.getByRole("slider");
  await chart.click({ button: "right" });
  await chart.click({ button: "middle" });
  await root.settled();
  expect(searchOf()).toEqual({});
  await chart.click();
  await expect.poll(searchOf).toHaveProperty("from");
  expect(complaints).toEqual([]);
});

it("a page that always has a period asks for the first day too, and a list shows all up to the last", async () => {
  const { page, complaints } = root;
  const choose = async (path: string) => {
    await arrive(root, path);
    await page.getByRole("button", { name: "Choose days" }).click();
    await page.getByLabel("Last day (UTC)").fill("2026-11-10");
    await page.getByRole("button", { name: "Show these days" }).click();
  };
  await choose("/overview");
  await page.getByText("Choose the first day too.").waitFor();
  await page.getByLabel("First day (UTC)").fill("2026-11-09");
  await page.getByRole("button", { name: "Show these days" }).click();
  const to = "2026-11-11T00:00:00.000Z";
  await expect.poll(searchOf).toEqual({ from: "2026-11-09T00:00:00Z", to });
  await choose("/requests");
  await expect.poll(searchOf).toEqual({ to });
  expect(complaints).toEqual([]);
});

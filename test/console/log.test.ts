/**
 * A day with the log: a call beside its list, keyboard keys, calls over time, the most expensive first, effects of a hook and a
 * cache. Also usage by tag, and an address that no page can read.
 */
import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { foldUsage } from "../../src/usage/index.ts";
import { eventually, patiently } from "../support/patience.ts";
import { arrive } from "./arrive.ts";
import { findingsOnTheWay, seriousFindings } from "./axe.ts";
import { overflowing } from "./beyond.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

const guard = `export async function before({ body }) {
  const text = JSON.stringify(body);
  if (text.includes("BROKEN")) throw new Error("the list is gone");
  return text.includes("SECRET")
    ? { action: "refuse", message: "That stays here.", code: "confidential" }
    : { action: "allow" };
}`;

const folder = mkdtempSync(join(tmpdir(), "tollgate-log-"));
let world: ConsoleWorld;
let root: Visit;
let key: { id: string; key: string };

/** Makes a call with a tag; returns the id of its row. */
async function ask(content: string, { team = "search", tokens = 1_000 } = {}): Promise<string> {
  const script = JSON.stringify({ usage: { input: tokens, output: 10 } });
  const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${key.key}`,
      "x-gw-metadata": JSON.stringify({ team }),
    },
    body: JSON.stringify({
      model: "sandbox/chat",
      messages: [{ role: "user", content: `${content}\n#sandbox ${script}` }],
    }),
  });
  await answer.text();
  return answer.headers.get("x-request-id")!;
}

/** In order of creation. */
let calls: Readonly<Record<"plain" | "dear" | "refused" | "broken" | "first" | "again", string>>;

beforeAll(async () => {
  writeFileSync(join(folder, "guard.mjs"), guard);
  world = await startConsoleWorld({
    sandbox: "on",
    config: `tags: { usage: [team] }\nhooks:\n  - { name: guard, at: before, module: ${join(folder, "guard.mjs")} }\n`,
  });
  key = await world.keyOf(world.ann, world.home.id);
  calls = {
    plain: await ask("one"),
    dear: await ask("two", { tokens: 90_000, team: "shop" }),
    refused: await ask("SECRET"),
    broken: await ask("BROKEN"),
    first: "",
    again: "",
  };
  world.must(
    await world.ann.call("PATCH", `/keys/${key.id}`, { response_cache: { ttl_seconds: 3600 } }),
  );
  calls = { ...calls, first: await ask("three") };
  await eventually(async () => {
    const rows = await world.gateway.database.query("select from cached_answers");
    return rows.length === 1;
  }, "the answer is kept");
  calls = { ...calls, again: await ask("three") };
  root = await world.open("root");
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const param = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);
const opened = (page: Page) => page.getByRole("complementary", { name: /^Request / });

it("a row opens beside the list, keys move to the next and previous row, Escape closes it, and Enter opens its page", async () => {
  const { page, settled, complaints } = root;
  await arrive(root, `/requests?key=${key.id}`);
  const row = page.getByRole("row").filter({ hasText: "hook_refused" });
  await row.click();
  await opened(page).getByText("Refused by the hook guard: no provider was asked.").waitFor();
  await settled();
  expect(param(page, "open")).toBe(calls.refused);
  expect(await findingsOnTheWay(page)).toEqual([]);
  await page.keyboard.press("k");
  await page.waitForURL(`**open=${calls.broken}`);
  await page.keyboard.press("j");
  await page.keyboard.press("]");
  await page.waitForURL(`**open=${calls.dear}`);
  await opened(page).getByRole("button", { name: "Previous" }).click();
  await page.waitForURL(`**open=${calls.refused}`);
  await page.keyboard.press("c");
  await page.getByText("Copied.").first().waitFor();
  await page.keyboard.press("Escape");
  await opened(page).waitFor({ state: "detached" });
  expect(param(page, "open")).toBeNull();
  // The focus is where it was: the same row opens again, and then its page.
  await page.keyboard.press("Enter");
  await opened(page).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Open page");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Request" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/requests/${calls.refused}`);
  await page.goBack();
  await opened(page).waitFor();
  expect(complaints).toEqual([]);
});

it("a call shows all its quantities and counts, each in its named group", async () => {
  const { page, complaints } = root;
  await arrive(root, `/requests/${calls.dear}`);
  const rowOf = (table: string, name: string) =>
    page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: name });
  await rowOf("Price", "input tokens").getByText("90,000", { exact: true }).waitFor();
  await rowOf("Usage", "Input tokens").getByText("90,000", { exact: true }).waitFor();
  await rowOf("Usage", "read from a cache").getByText("0", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

it("j and k move between rows and l turns Live on, but not in a text field or when shortcuts are off", async () => {
  const { page, settled } = root;
  await arrive(root, `/requests?key=${key.id}`);
  await page.getByRole("row").nth(1).waitFor();
  await settled();
  const href = () => page.evaluate<string>("document.activeElement.pathname ?? ''");
  await page.keyboard.press("j");
  await expect.poll(href).toBe(`/requests/${calls.again}`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await expect.poll(href).toBe(`/requests/${calls.first}`);
  await page.keyboard.press("l");
  await page.waitForURL("**live=1*");
  await page.getByLabel("Model", { exact: true }).fill("l");
  await page.keyboard.press("l");
  expect(param(page, "live")).toBe("1");
  await page.keyboard.press("Tab");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog");
  await help.getByText("Live on or off").waitFor();
  await help.getByRole("checkbox").uncheck();
  await help.getByRole("button", { name: "Close" }).click();
  await help.waitFor({ state: "detached" });
  await page.keyboard.press("l");
  expect(param(page, "live")).toBe("1");
  await page.evaluate("localStorage.clear()");
});

it("a chart of calls over time is shown above the list, and a range is selected by keys or by dragging", async () => {
  const { page, settled } = root;
  await arrive(root, `/requests?key=${key.id}&period=24h`);
  const strip = page.getByRole("slider");
  const all = /: 6 calls, 2 failed$/;
  await page.getByText(all).waitFor();
  await settled();
  await strip.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.getByText(all).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**from=*");
  const hours = Date.parse(param(page, "to")!) - Date.parse(param(page, "from")!);
  expect(hours).toBeGreaterThan(3_600_000 - 1);
  expect(hours).toBeLessThanOrEqual(2 * 3_600_000);
  expect(param(page, "period")).toBeNull();
  await expect.poll(() => page.getByRole("row").count(), patiently).toBe(7);
  await page.goBack();
  await page.getByText(all).waitFor();
  const { x, y, width, height } = (await strip.boundingBox())!;
  await page.mouse.move(x + 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 4, y + height / 2);
  await page.mouse.up();
  await page.waitForURL("**to=*");
  await page.getByText("No calls match these filters.").waitFor();
  // Filters that the sums do not have are sent with the list only.
  await arrive(root, `/requests?key=${key.id}&q=confidential`);
  await page.getByText("No calls match these filters.").waitFor();
  expect(await strip.count()).toBe(0);
});

it("sorting by cost shows the dearest call first, in a period with an end", async () => {
  const { page } = root;
  await arrive(root, `/requests?key=${key.id}`);
  await page.getByRole("combobox", { name: "Order" }).click();
  await page.getByRole("option", { name: "Most expensive first" }).click();
  await page.getByText(/^Most expensive first, since/).waitFor();
  const first = page
    .getByRole("table", { name: "Requests, most expensive first" })
    .locator("a")
    .first();
  await expect
    .poll(() => first.getAttribute("href"), patiently)
    .toContain(`/requests/${calls.dear}`);
  expect(await page.getByRole("button", { name: "Live" }).isDisabled()).toBe(true);
});

it("a call's page shows a hook's refusal with its code, and an answer from the cache", async () => {
  const { page, complaints } = root;
  await arrive(root, `/requests/${calls.refused}`);
  const hooks = page.getByRole("table", { name: "Hooks" });
  await hooks.getByRole("row", { name: "guard refused it confidential" }).waitFor();
  await page.getByText("A hook of the gateway's operator").waitFor();
  await arrive(root, `/requests/${calls.again}`);
  await page
    .getByText(/^Answered from the cache of its key, with an earlier answer of \S+\. /)
    .waitFor();
  await hooks.getByRole("row", { name: /^guard allowed it/ }).waitFor();
  await arrive(root, `/requests?key=${key.id}`);
  await page.getByRole("row").filter({ hasText: "ok, cached" }).waitFor();
  expect(complaints).toEqual([]);
});

it("hooks are listed with their last failure for organization admins only", async () => {
  const { page, settled, complaints } = root;
  const read = () => world.root.call("GET", "/hooks");
  const listed = await eventually(async () => {
    const { json } = await read();
    return json.data[0].last_failure === null ? undefined : json.data;
  }, "the failure is noted");
  expect(listed).toMatchObject([
    {
      name: "guard",
      at: "before",
      url: null,
      on_failure: "refuse",
      last_failure: { request_id: calls.broken, failures: 1 },
    },
  ]);
  await arrive(root, "/settings/hooks");
  const row = page.getByRole("row").filter({ hasText: "guard" });
  await row.getByText("the call is refused").waitFor();
  await settled();
  expect(await findingsOnTheWay(page)).toEqual([]);
  await row.getByRole("link", { name: "the call" }).click();
  await page.getByText(/^Refused because the hook guard gave no answer/).waitFor();
  expect((await world.ann.call("GET", "/hooks")).status).toBe(403);
  expect(complaints).toEqual([]);
});

it("a key among many is found by typing, and the selected key shows its name", async () => {
  const { page } = root;
  const { database } = world.gateway;
  const old = await world.ann.call("POST", "/keys", {
    workspace_id: world.home.id,
    name: "oldest",
  });
  const { id } = world.must(old);
  await database.query(
    `insert into api_keys (workspace_id, id, name, lookup, ciphertext, key_prefix, key_last4, created_by)
     select workspace_id, id || n, 'k' || n, lookup || convert_to(n::text, 'UTF8'), ciphertext, key_prefix, key_last4, created_by
     from api_keys, generate_series(1, 55) n where id = $1`,
    [id],
  );
  await database.query("update api_keys set last_used_at = now() where id <> $1", [id]);
  await page.goto("/requests");
  const field = page.getByRole("combobox", { name: "Key" });
  await field.click();
  await page.getByRole("option").nth(40).waitFor();
  expect(await page.getByRole("option", { name: /^oldest/ }).count()).toBe(0);
  await field.pressSequentially("olde");
  await page.getByRole("option", { name: /^oldest/ }).click();
  await page.waitForURL(`**key=${id}`);
  await page.reload();
  await expect.poll(() => field.inputValue(), patiently).toMatch(/^oldest \(\.\.\./);
});

it("unreadable parts of an address are reported once and ignored", async () => {
  const { page } = root;
  await page.goto("/requests?cost=much&colour=blue&status=failed");
  const line = page.getByText("The page cannot read these parts of the address");
  await line.getByText("cost=much, colour=blue").waitFor();
  await expect.poll(() => param(page, "status")).toBe("failed");
  await page.getByRole("button", { name: "Failed" }).click();
  await line.waitFor({ state: "detached" });
  await page.goto("/keys?sort=colour");
  await line.getByText("sort=colour").waitFor();
  await page.goto("/keys?sort=cap");
  await page.getByRole("row").nth(1).waitFor();
  expect(await line.count()).toBe(0);
});

it("usage is shown by tag, and each value links to its calls and to its own overview", async () => {
  const { page, settled, complaints } = root;
  await foldUsage(world.gateway.database, { tags: ["team"] });
  await arrive(root, "/overview?period=24h");
  const table = page.getByRole("table", { name: "By tag team" });
  await table.getByRole("row", { name: /^search / }).waitFor();
  await settled();
  await table
    .getByRole("row", { name: /^shop / })
    .getByRole("link")
    .nth(2)
    .click();
  await page.waitForURL("**/requests?**tag=team%3Ashop**");
  await expect.poll(() => page.locator("main table a").count(), patiently).toBe(1);
  await page.goBack();
  await table.getByRole("link", { name: "search", exact: true }).click();
  await page.waitForURL("**tag=team%3Asearch**");
  await page.getByRole("button", { name: "Remove the filter tag: team:search" }).waitFor();
  await settled();
  expect(await page.getByRole("table", { name: "By model" }).count()).toBe(0);
  expect(await findingsOnTheWay(page)).toEqual([]);
  await arrive(root, "/overview?period=7d&by=tag:team&table=1");
  const twin = page.getByRole("table", { name: "Over time" });
  await twin.getByRole("columnheader", { name: "shop" }).waitFor();
  expect(complaints).toEqual([]);
});

it("on a phone the list comes first, filters are behind a button, and a row opens its page", async () => {
  const { page, settled } = await world.open("ann", { width: 390, scheme: "dark" });
  await page.goto(`/requests?key=${key.id}`);
  await page.getByRole("button", { name: "Filters: 1 set" }).click();
  const dialog = page.getByRole("dialog", { name: "Filters" });
  await dialog.getByRole("button", { name: "Failed" }).click();
  await page.waitForURL("**status=failed**");
  await settled();
  expect(await seriousFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Show the list" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await overflowing(page)).toEqual([]);
  await page.getByRole("row").filter({ hasText: "hook_refused" }).click();
  await page.getByRole("heading", { level: 1, name: "Request" }).waitFor();
  await page.close();
});

it("a new key can have limits and a cache from the start", async () => {
  const { page, settled, complaints } = root;
  await arrive(root, `/keys?ws=${world.home.id}&new=1`);
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name").fill("quick");
  await dialog.getByRole("button", { name: "More settings" }).click();
  await dialog.getByLabel("Requests per minute").fill("30");
  await dialog.getByLabel("Response cache (seconds)").fill("60");
  await settled();
  expect(await findingsOnTheWay(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("dialog", { name: "Your new key" }).waitFor();
  const { json } = await world.ann.call("GET", "/keys?q=quick");
  expect(json.data[0]).toMatchObject({
    rate_limits: { requests_per_minute: 30, concurrency: null },
    response_cache: { ttl_seconds: 60, charge_percent: 0 },
  });
  expect(complaints).toEqual([]);
});

it("a key's cache is set in its form and shown on its page; its owner may only switch it off", async () => {
  const { page, complaints } = root;
  const made = await world.mem.call("POST", "/keys", { workspace_id: world.home.id, name: "memo" });
  const { id } = world.must(made);
  await arrive(root, `/keys/${id}?tab=caps`);
  await page.getByLabel("Response cache (seconds)").fill("5400");
  await page.getByText("1 h 30 min: the same request").waitFor();
  await page.getByLabel("Price of a repeat (%)").fill("10");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("response cache: 1 h 30 min, repeats at 10 %").waitFor();
  const read = async () => (await world.mem.call("GET", `/keys/${id}`)).json.response_cache;
  expect(await read()).toEqual({ ttl_seconds: 5_400, charge_percent: 10 });
  expect(complaints).toEqual([]);
  const owner = await world.open("mem");
  await owner.page.goto(`/keys/${id}?tab=caps`);
  await owner.page.getByText("Empty it to switch the cache off").waitFor();
  expect(await owner.page.getByLabel("Price of a repeat (%)").isDisabled()).toBe(true);
  await owner.page.getByLabel("Response cache (seconds)").fill("");
  await owner.page.getByRole("button", { name: "Save" }).click();
  await expect.poll(read, patiently).toBeNull();
  await owner.page.getByText("Only a workspace admin can switch it on.").waitFor();
  expect(await owner.page.getByLabel("Response cache (seconds)").isDisabled()).toBe(true);
  await owner.close();
});

/** Lists on a slow network: rows that arrive while an answer is in flight stay, clicks take effect, and failures are shown. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { shortOrLong } from "../support/long.ts";
import { patiently } from "../support/patience.ts";
import { holdAnswers, stubEventStream } from "./held.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  const { database } = world.gateway;
  await database.query(
    `insert into workspaces (id, organization_id, name)
     select 'ws_zz' || lpad(n::text, 3, '0'), $1, 'Customer ' || n from generate_series(1, 60) n`,
    [world.home.organizationId],
  );
});
afterAll(() => world.close());

/** Writes ended calls of a key; returns the ids of their rows, oldest first. */
async function writeCalls(count: number, keyId: string, workspaceId = world.home.id) {
  const ids = Array.from({ length: count }, () => newId("req")).toSorted();
  await world.gateway.database.query(
    `insert into requests (workspace_id, id, key_id, model, status, created_at)
     select $1, id, $2, 'vendor/model', 'succeeded', now() from unnest($3::text[]) id`,
    [workspaceId, keyId, ids],
  );
  return ids;
}

/** The newest calls of a key, as the stream sends them. */
async function rowsOf(keyId: string): Promise<{ id: string }[]> {
  const answer = await world.root.call("GET", `/requests?view=list&key_id=${keyId}`);
  return world.must(answer).data as { id: string }[];
}

const atPath = (path: string) => (url: URL) => url.pathname === `/admin/v1${path}`;
const nextAt = (path: string) => (url: URL) => atPath(path)(url) && url.searchParams.has("cursor");
const firstAt = (path: string) => (url: URL) => atPath(path)(url) && !nextAt(path)(url);
const toBottom = (page: Page) => page.evaluate("scrollTo(0, document.body.scrollHeight)");
const toTop = (page: Page) => page.evaluate("scrollTo(0, 0)");
const heightOf = (page: Page) => page.evaluate<number>("document.body.scrollHeight");
const linkTo = (page: Page, id: string) => page.locator(`a[href*="${id}"]`);

it("a requested next page of balances is shown although the numbers change in the meantime", async () => {
  const { page, close } = await world.open("root");
  const stream = await stubEventStream(page);
  const next = await holdAnswers(page, nextAt("/balances"));
  const first = await holdAnswers(page, firstAt("/balances"));
  await first.release();
  await page.goto("/money");
  const rows = page.getByRole("table", { name: "Balances" }).getByRole("row");
  await expect.poll(() => rows.count(), patiently).toBe(26);
  await stream.following("usage");
  await page.getByRole("button", { name: /^Show more of/ }).click();
  await next.asked();
  await stream.tell("usage");
  await next.release();
  await expect.poll(() => rows.count(), patiently).toBe(51);
  await close();
});

it("a click while a list is being read again takes effect afterwards", async () => {
  const { page, close } = await world.open("root");
  const stream = await stubEventStream(page);
  await page.goto("/money");
  const rows = page.getByRole("table", { name: "Balances" }).getByRole("row");
  await expect.poll(() => rows.count(), patiently).toBe(26);
  await stream.following("usage");
  const again = await holdAnswers(page, firstAt("/balances"));
  await stream.tell("usage");
  await again.asked();
  await page.getByRole("button", { name: /^Show more of/ }).click();
  await again.release();
  await expect.poll(() => rows.count(), patiently).toBe(51);
  await close();
});

it("a slow answer is awaited and not requested again, however many changes are reported", async () => {
  const { page, close } = await world.open("ann");
  await page.clock.install();
  const stream = await stubEventStream(page);
  await page.goto(`/money?ws=${world.home.id}`);
  await page.getByText("Available (USD)").waitFor();
  await stream.following("usage");
  const balance = await holdAnswers(page, atPath(`/workspaces/${world.home.id}/balance`));
  const broken: string[] = [];
  page.on("requestfailed", (request) => void broken.push(request.url()));
  await stream.tell("usage");
  await balance.asked();
  for (let seconds = 0; seconds < 3; seconds += 1) {
    await stream.tell("usage");
    await page.clock.runFor(1_100);
  }
  expect([balance.count(), broken]).toEqual([1, []]);
  await balance.release();
  await page.clock.runFor(1_100);
  await close();
});

it("a call that arrives while the next page is being read stays in the log", async () => {
  const { id: keyId } = await world.keyOf(world.mem, world.home.id);
  await writeCalls(150, keyId);
  const { page, close } = await world.open("mem");
  const stream = await stubEventStream(page);
  const next = await holdAnswers(page, nextAt("/requests"));
  await page.goto(`/requests?key=${keyId}&live=1`);
  await page.getByText("vendor/model").first().waitFor();
  await stream.following("requests");
  await toBottom(page);
  await next.asked();
  await toTop(page);
  const [id = ""] = await writeCalls(1, keyId);
  await stream.tell("row", { topic: "requests", row: (await rowsOf(keyId))[0] });
  await linkTo(page, id).waitFor();
  // The new page is appended to the list, so the table grows.
  const before = await heightOf(page);
  await next.release();
  await expect.poll(() => heightOf(page), patiently).toBeGreaterThan(before + 500);
  expect(await linkTo(page, id).count()).toBe(1);
  await close();
});

it("a task that ends while the gallery is being read again is not shown as running", async () => {
  const { key } = await world.keyOf(world.mem, world.home.id);
  const id = await world.video(key);
  const { page, settled, close } = await world.open("mem");
  const task = (world.must(await world.mem.call("GET", "/tasks")).data as { id: string }[]).find(
    (one) => one.id === id,
  )!;
  const stream = await stubEventStream(page);
  await page.goto("/tasks?view=table");
  const row = page.getByRole("row").filter({ has: linkTo(page, id) });
  await row.getByText("succeeded").waitFor();
  await stream.following("tasks");
  // This answer was read before the task ended, and arrives after the stream has reported the end.
  const again = await holdAnswers(page, atPath("/tasks"));
  await stream.tell("ready");
  await again.asked();
  await stream.tell("row", { topic: "tasks", row: { ...task, status: "expired" } });
  await row.getByText("expired").waitFor();
  await again.release();
  await settled();
  expect(await row.getByText("expired").count()).toBe(1);
  await close();
});

it("waiting new calls belong to the list that they arrived in", async () => {
  const { id: keyId } = await world.keyOf(world.mem, world.home.id);
  await writeCalls(80, keyId);
  const { page, close } = await world.open("root");
  const stream = await stubEventStream(page);
  const choose = async (name: string) => {
    await page.getByRole("combobox", { name: "Workspace" }).fill(name);
    await page.getByRole("option", { name, exact: true }).click();
  };
  await page.goto("/requests?ws=ws_zz007&live=1");
  await page.getByText("No call").first().waitFor();
  const home = world.must(await world.root.call("GET", `/workspaces/${world.home.id}`));
  await choose(home["name"] as string);
  await page.getByText("vendor/model").first().waitFor();
  await stream.following("requests");
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, 1_200);
  await expect.poll(() => page.evaluate("scrollY"), patiently).toBeGreaterThan(100);
  const [id = ""] = await writeCalls(1, keyId);
  await stream.tell("row", { topic: "requests", row: (await rowsOf(keyId))[0] });
  await page.getByRole("button", { name: "1 new" }).waitFor();
  await choose("Customer 7");
  await page.getByText("No call").first().waitFor();
  await page.evaluate("new Promise((done) => requestIdleCallback(done))");
  await page.getByRole("button", { name: "1 new" }).waitFor({ state: "detached" });
  expect(await linkTo(page, id).count()).toBe(0);
  await close();
});

it("a waiting row that changes enters the list in its last state", async () => {
  const { id: keyId } = await world.keyOf(world.mem, world.home.id);
  await writeCalls(80, keyId);
  const { page, close } = await world.open("mem");
  const stream = await stubEventStream(page);
  await page.goto(`/requests?key=${keyId}&live=1`);
  await page.getByText("vendor/model").first().waitFor();
  await stream.following("requests");
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, 1_200);
  await expect.poll(() => page.evaluate("scrollY"), patiently).toBeGreaterThan(100);
  const [id = ""] = await writeCalls(1, keyId);
  const [row] = await rowsOf(keyId);
  await stream.tell("row", { topic: "requests", row: { ...row, status: "canceled" } });
  const waiting = page.getByRole("button", { name: "1 new" });
  await waiting.waitFor();
  await stream.tell("row", { topic: "requests", row });
  await waiting.click();
  const line = page.getByRole("row").filter({ has: linkTo(page, id) });
  await line.getByText("ok", { exact: true }).waitFor();
  await close();
});

it("the log beside an unfinished call follows its own filters", async () => {
  const one = await world.keyOf(world.mem, world.home.id);
  const other = await world.keyOf(world.mem, world.home.id);
  await writeCalls(3, one.id);
  const { page, close } = await world.open("mem");
  const stream = await stubEventStream(page);
  await page.goto(`/requests?key=${one.id}&live=1&open=${newId("req")}`);
  await page.getByText("A running call is shown here after it has ended").waitFor();
  await page.getByText("vendor/model").first().waitFor();
  await stream.following("requests");
  const [id = ""] = await writeCalls(1, other.id);
  await stream.tell("row", { topic: "requests", row: (await rowsOf(other.id))[0] });
  const [last = ""] = await writeCalls(1, one.id);
  await stream.tell("row", { topic: "requests", row: (await rowsOf(one.id))[0] });
  await linkTo(page, last).waitFor();
  expect(await linkTo(page, id).count()).toBe(0);
  await close();
});

/** One component reads the pages of all lists; in the short form only the list that loads its next page by itself. */
const paged: readonly (readonly [of: string, path: string, address: () => string])[] = [
  ["the log", "/requests", () => `/requests?ws=${world.home.id}`],
  ["the balances", "/balances", () => "/money"],
];

it.each(shortOrLong(paged.slice(0, 1), paged))(
  "a next page of %s that is refused is requested once, reported, and can be tried again",
  async (_of, path, address) => {
    const { id: keyId } = await world.keyOf(world.mem, world.home.id);
    await writeCalls(150, keyId);
    const { page, settled, close } = await world.open("root");
    const stream = await stubEventStream(page);
    let asked = 0;
    const isNext = nextAt(path);
    await page.route(isNext, (route) => {
      asked += 1;
      return route.fulfill({
        status: 400,
        json: { error: { code: "invalid_cursor", message: "This cursor is no more." } },
      });
    });
    await page.goto(address());
    await page.getByRole("table").getByRole("link").nth(5).waitFor();
    const more = page.getByRole("button", { name: /^Show more/ });
    await toBottom(page);
    if (path === "/balances") await more.click();
    const alert = page.getByRole("alert").filter({ hasText: "This cursor is no more." });
    await alert.waitFor();
    await settled();
    await stream.tell("usage");
    await settled();
    expect(asked).toBe(1);
    await page.unroute(isNext);
    const before = await heightOf(page);
    await page.getByRole("button", { name: /^(?:Try again|Show more)/ }).click();
    await expect.poll(() => heightOf(page), patiently).toBeGreaterThan(before + 500);
    await alert.waitFor({ state: "detached" });
    await close();
  },
);

it("a printed list has all rows that were read, without blank space in their place", async () => {
  const { id } = await world.keyOf(world.mem, world.home.id);
  await writeCalls(60, id);
  const { page, close } = await world.open("mem");
  await page.goto(`/requests?key=${id}`);
  const links = page.getByRole("table").locator('a[href^="/requests/req_"]');
  await links.first().waitFor();
  expect(await links.count()).toBeLessThan(60);
  await page.emulateMedia({ media: "print" });
  await expect.poll(() => links.count(), patiently).toBe(60);
  await page.emulateMedia({ media: "screen" });
  await expect.poll(() => links.count(), patiently).toBeLessThan(60);
  await close();
});

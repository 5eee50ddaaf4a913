/**
 * Pages that stay current by themselves: one stream each, across restarts of the gateway, no requests while hidden, and new rows
 * that wait while a reader is further down.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { eventually, patiently } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { closeVisits, visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

/** One address in front of the running gateway, like a balancer. */
async function startBalancer(port: number) {
  let target = port;
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const onward = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [incoming, onward],
      [onward, incoming],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => sockets.delete(from));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turnTo(other: string) {
      target = Number(new URL(other).port);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

let world: ConsoleWorld;
let start: () => Promise<AdminGateway>;
let other: AdminGateway | undefined;
beforeAll(async () => {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const environment = { TOLLGATE_MASTER_KEY: randomBytes(32).toString("base64") };
  const noticeMs = { providers: 200, gateways: 200, verification: 200 };
  const events = { pollMs: 100, noticeMs };
  start = () => startAdminGateway({ databaseUrl, environment });
  world = await startConsoleWorld({ databaseUrl, environment, events });
});
afterAll(async () => {
  await closeVisits(world.gateway.url);
  await other?.close();
});

const rowsIn = (page: {
  locator(of: string): { evaluateAll<T>(run: (all: unknown[]) => T): Promise<T> };
}) =>
  page
    .locator("table a")
    .evaluateAll((all) =>
      all.map((one) => (one as { pathname: string }).pathname.replace("/requests/", "")),
    );

/** Ids made in one millisecond are not ordered by creation. */
const newestFirst = (ids: readonly string[]): string[] => ids.toSorted().toReversed();

/** Makes a picture by a task, at an address. */
async function makePicture(url: string, key: string): Promise<void> {
  const answer = await fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "sandbox/task-image-model-1", prompt: "A boat" }),
  });
  expect(await answer.json()).toMatchObject({ id: expect.stringMatching(/^task_/) as string });
}

/** Writes rows of a key as calls that ended at once. */
async function writeRows(
  count: number,
  keyId: string,
  { database }: Pick<AdminGateway, "database"> = world.gateway,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId("req"));
  await database.query(
    `insert into requests (workspace_id, id, key_id, model, status, created_at)
     select $1, id, $2, 'vendor/model', 'succeeded', now() from unnest($3::text[]) id`,
    [world.home.id, keyId, ids],
  );
  return ids;
}

it.skipIf(!isLong)(
  "new rows wait behind a count while the reader is further down, and too many are only counted",
  async () => {
    const { id: keyId } = await world.keyOf(world.mem, world.home.id);
    await writeRows(80, keyId);
    const { page, complaints, close } = await world.open("mem");
    await page.goto(`/requests?key=${keyId}`);
    await page.getByText("vendor/model").first().waitFor();
    await page.getByRole("button", { name: "Live" }).click();
    await page.waitForURL("**live=1*");
    const [one] = await writeRows(1, keyId);
    await page.locator(`a[href*="${one}"]`).waitFor();
    await page.mouse.wheel(0, 1200);
    await page.locator(`a[href*="${one}"]`).waitFor({ state: "detached" });
    const [two] = await writeRows(1, keyId);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await rowsIn(page)).not.toContain(two);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.locator(`a[href*="${two}"]`).waitFor();
    await page.mouse.wheel(0, 1200);
    const many = await writeRows(30, keyId);
    await page.getByRole("button", { name: "30 new" }).click();
    await expect.poll(() => rowsIn(page), patiently).toContain(many.toSorted().at(-1));
    expect(complaints).toEqual([]);
    await close();
  },
);

/**
 * The most requests that pages make when they open: values that the stream updates are read twice if the stream begins after the
 * first answer. A sum of usage costs the database more than the rest of a page.
 */
const openingMax = (keyId: string, ws: string): Record<string, { all: number; usage: number }> => ({
  "/overview": { all: 7, usage: 3 },
  "/requests": { all: 7, usage: 1 },
  [`/keys/${keyId}`]: { all: 7, usage: 1 },
  [`/money?ws=${ws}`]: { all: 11, usage: 1 },
});

/** Gives a window its own clock from now on, and the gateway's answers the same time. Returns a function that advances it. */
async function ownTime(page: Page): Promise<(ms: number) => Promise<void>> {
  let passedMs = 0;
  await page.clock.install();
  await page.route(/\/admin\/v1\/(?!events)/, async (route) => {
    const response = await route.fetch();
    const date = new Date(Date.now() + passedMs).toUTCString();
    await route.fulfill({ response, headers: { ...response.headers(), date } });
  });
  return async (ms) => {
    passedMs += ms;
    await page.clock.runFor(ms);
  };
}

it("pages request their data once, nothing while idle or hidden, and once when shown again", async () => {
  const { gateway, mem, home } = world;
  const { key, id: keyId } = await world.keyOf(mem, home.id);
  const call = async () => {
    const id = await world.chat(key);
    const isWritten = "select 1 from request_log where id = $1";
    await eventually(
      async () => (await gateway.database.query(isWritten, [id])).length > 0,
      "its row",
    );
  };
  await call();
  const openings = Object.entries(openingMax(keyId, home.id));
  // In the short form the page of sums, and a list.
  for (const [address, max] of shortOrLong(openings.slice(0, 2), openings)) {
    const { page, settled, close } = await world.open("root");
    const asked = askingSince(page);
    const providers = askingOf(page, "/providers");
    const pass = await ownTime(page);
    await page.goto(address);
    await settled();
    const opening = asked();
    // The banner gets its text from the stream: otherwise each page would read the whole list.
    expect({ address, providers: providers() }).toEqual({ address, providers: 0 });
    expect({ address, usage: opening.usage }).toEqual({ address, usage: max.usage });
    expect(opening.all).toBeLessThanOrEqual(max.all);
    await pass(61_000);
    await settled();
    expect({ address, ...asked() }).toEqual({ address, all: 0, usage: 0 });
    await turn(page, true);
    await call();
    await pass(61_000);
    await settled();
    expect({ address, ...asked() }).toEqual({ address, all: 0, usage: 0 });
    await turn(page, false);
    const back = { all: 0, usage: 0 };
    await eventually(async () => {
      await settled();
      const { all, usage } = asked();
      back.all += all;
      back.usage += usage;
      return all === 0 && back.usage > 0;
    }, "all is asked for that there is to ask");
    expect({ address, usage: back.usage }).toEqual({ address, usage: max.usage });
    expect(back.all).toBeLessThanOrEqual(max.all);
    await close();
  }
});

it("no page polls: changes come by its one stream", () => {
  const folder = join(import.meta.dirname, "../../console/src");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  expect(sources.length).toBeGreaterThan(100);
  const holding = (text: string) =>
    sources.filter((name) => readFileSync(join(folder, name), "utf8").includes(text));
  expect(holding("refetchInterval")).toEqual([]);
  expect(holding("new EventSource")).toEqual(["api/events.ts"]);
  // Clocks of pages that show remaining or elapsed time.
  expect(holding("setInterval").toSorted()).toEqual([
    "pages/playground/failure.tsx",
    "ui/use-now.ts",
  ]);
});

/** The number of requests for a path so far; for an empty path, of all requests. */
function askingOf(page: Page, path: string): () => number {
  let count = 0;
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (path === "" ? pathname.startsWith("/admin/v1/") : pathname === `/admin/v1${path}`)
      count += 1;
  });
  return () => count;
}

it("providers, gateways and the ledger check show changes made by others", async () => {
  const { root, must, gateway } = world;
  const { page, complaints, close } = await world.open("root");
  const asked = askingOf(page, "/providers");
  const [{ id }] = must(await root.call("GET", "/providers")).data as [{ id: string }];
  await page.goto("/providers");
  const row = page.getByRole("row", { name: new RegExp(`^${id} `) });
  await row.getByText("ready", { exact: true }).waitFor();
  must(await root.call("POST", `/providers/${id}/pause`, {}));
  await row.getByText("paused").waitFor();
  must(await root.call("POST", `/providers/${id}/resume`, {}));
  await row.getByText("ready", { exact: true }).waitFor();
  expect(asked()).toBeLessThan(10);
  await page.goto("/settings/gateways");
  await page.getByRole("table", { name: "Gateways" }).waitFor();
  await expect
    .poll(async () => {
      // The gateway's own heartbeat overwrites it.
      await gateway.database.query("update gateways set in_flight = 4321");
      return page.getByRole("cell", { name: "4,321" }).count();
    }, patiently)
    .toBe(1);
  await page.goto("/money");
  await page.getByText("Not checked here yet.").waitFor();
  must(await root.call("POST", "/verify", {}));
  await page.getByText(/^No difference in \d+ entries, checked/).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

/** Hides a window, as a switch to another tab does, or shows it again. */
const turn = (page: Page, isHidden: boolean) =>
  page.evaluate(`for (const [name, value] of [["hidden", ${isHidden}], ["visibilityState", "${isHidden ? "hidden" : "visible"}"]])
    Object.defineProperty(document, name, { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);

/** The number of requests since the last call of this function: all except the stream, and those for sums of usage. */
function askingSince(page: Page): () => { all: number; usage: number } {
  const count = {
    all: askingOf(page, ""),
    usage: askingOf(page, "/usage"),
    events: askingOf(page, "/events"),
  };
  const seen = { all: 0, usage: 0 };
  return () => {
    const now = { all: count.all() - count.events(), usage: count.usage() };
    const since = { all: now.all - seen.all, usage: now.usage - seen.usage };
    Object.assign(seen, now);
    return since;
  };
}

it("a hidden page follows no stream, and catches up when it is shown again", async () => {
  const { gateway, mem, home } = world;
  const { key } = await world.keyOf(mem, home.id);
  const query = vi.spyOn(gateway.database, "query");
  const looks = () => query.mock.calls.filter(([sql]) => sql.includes("written_since")).length;
  const { page, close } = await world.open("mem");
  await page.goto("/tasks");
  await page.getByText("No tasks yet.").waitFor();
  await expect.poll(looks, patiently).toBeGreaterThan(0);
  await turn(page, true);
  let quiet = { count: looks(), sinceMs: performance.now() };
  await eventually(() => {
    if (looks() !== quiet.count) quiet = { count: looks(), sinceMs: performance.now() };
    return performance.now() - quiet.sinceMs > 800;
  }, "nothing is asked any more");
  await world.video(key);
  expect(await page.getByRole("article").count()).toBe(0);
  await turn(page, false);
  await page.getByRole("article", { name: /^succeeded/ }).waitFor();
  query.mockRestore();
  await close();
});

it("a restart of the gateway under a live page loses no row and doubles none", async () => {
  const { gateway, mem, home } = world;
  const { id: keyId } = await world.keyOf(mem, home.id);
  const { key } = await world.keyOf(mem, home.id);
  const balancer = await startBalancer(Number(new URL(gateway.url).port));
  const { page, close } = await visit({ url: balancer.url, cookie: mem.cookie });
  const { page: gallery } = await visit({ url: balancer.url, cookie: mem.cookie });
  const listed = askingOf(gallery, "/tasks");
  const made = gallery.getByRole("article", { name: /^succeeded/ });
  await gallery.goto("/tasks");
  await made.first().waitFor();
  const before = await made.count();
  await page.goto(`/requests?key=${keyId}&live=1`);
  await page.getByText("No calls match these filters.").waitFor();
  const sent = await writeRows(1, keyId);
  await page.locator(`a[href*="${sent[0]}"]`).waitFor();
  other = await start();
  balancer.turnTo(other.url);
  const stopped = gateway.close();
  for (let round = 0; round < 8; round += 1) sent.push(...(await writeRows(1, keyId, other)));
  await page.getByText(/^Shown as of \d\d:\d\d:\d\d, reconnecting$/).waitFor();
  await stopped;
  await expect.poll(() => rowsIn(page), patiently).toEqual(newestFirst(sent));
  await page.getByText(/^Shown as of/).waitFor({ state: "detached" });
  await makePicture(balancer.url, key);
  await expect.poll(() => made.count(), patiently).toBe(before + 1);
  // Once to show the list, once for each stream that began.
  expect(listed()).toBeLessThan(8);
  const [last] = await writeRows(1, keyId, other);
  await expect.poll(() => rowsIn(page), patiently).toEqual([last, ...newestFirst(sent)]);
  await close();
  balancer.close();
});

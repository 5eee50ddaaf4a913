/**
 * More workspaces, organizations and tokens than one page of their list: none is left out, and each list requests no more than it
 * shows.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrive } from "./arrive.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

const count = 130;
let world: ConsoleWorld;
let root: Visit;
/** The number of workspaces, and the name of the oldest. */
let all: number;
let oldest: string;

beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  const { database } = world.gateway;
  await database.query(
    `insert into workspaces (id, organization_id, name)
     select 'ws_zz' || lpad(n::text, 3, '0'), $1, 'Customer ' || n from generate_series(1, $2::integer) n`,
    [world.home.organizationId, count],
  );
  await database.query(
    `insert into organizations (id, name)
     select 'org_zz' || lpad(n::text, 3, '0'), 'Company ' || n from generate_series(1, $1::integer) n`,
    [count],
  );
  const rows = await database.query<{ name: string }>("select name from workspaces order by id");
  all = rows.length;
  oldest = rows[0]!.name;
  root = await world.open("root");
});
afterAll(() => world.close());

it("the workspace menu finds each workspace, and settings list them all", async () => {
  const { page, settled, complaints } = root;
  await page.goto("/settings/workspaces");
  const rows = page.getByRole("table", { name: "Workspaces" }).getByRole("row");
  await expect.poll(() => rows.count()).toBe(all + 1);
  await page.getByRole("combobox", { name: "Workspace" }).fill(oldest);
  await page.getByRole("option", { name: oldest, exact: true }).click();
  await page.waitForURL(/[?&]ws=ws_/);
  await settled();
  expect(complaints).toEqual([]);
});

it("on a phone, where the workspace menu is hidden, a page names its workspace", async () => {
  const phone = await world.open("root", { width: 390 });
  const { page, complaints, close } = phone;
  const line = page.getByText("Workspace: ");
  await page.goto("/overview?ws=ws_zz007");
  await expect.poll(() => line.innerText()).toBe("Workspace: Customer 7");
  await arrive(phone, "/requests?ws=ws_zz008");
  await expect.poll(() => line.innerText()).toBe("Workspace: Customer 8");
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => line.isVisible()).toBe(false);
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => line.isVisible()).toBe(true);
  await arrive(phone, "/requests");
  await expect.poll(() => line.count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

it("a page about one workspace shows the oldest one if the address names none", async () => {
  const { page } = root;
  await arrive(root, "/settings/members");
  const title = page.getByRole("heading", { level: 1, name: /^Members of / });
  await expect.poll(() => title.innerText()).toBe(`Members of ${oldest}`);
});

it("a page about one workspace says so while the menu says all of them", async () => {
  const { page } = root;
  const note = page.getByText("This page shows one workspace at a time: now the oldest.");
  for (const path of ["/settings/members", "/settings/callbacks"]) {
    await arrive(root, path);
    await note.waitFor();
    await arrive(root, `${path}?ws=ws_zz007`);
    await page.getByRole("heading", { level: 1, name: "Customer 7" }).waitFor();
    expect(await note.count()).toBe(0);
  }
});

it("balances are requested 25 at a time, and all of them can be shown", async () => {
  const { page, settled } = root;
  const asked = new Set<string>();
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (/\/balances?$/.test(pathname)) asked.add(pathname + search);
  });
  await arrive(root, "/money");
  const rows = page.getByRole("table", { name: "Balances" }).getByRole("row");
  await rows.nth(1).waitFor();
  await settled();
  expect([await rows.count(), asked.size]).toEqual([26, 1]);
  await page.getByText(`All ${all} together: credits `).waitFor();
  const more = page.getByRole("button", { name: `Show more of ${all}` });
  for (let shown = 26; shown <= all; shown = await rows.count()) {
    await more.click();
    await expect.poll(() => rows.count()).toBeGreaterThan(shown);
  }
  expect(await rows.count()).toBe(all + 1);
  await page.getByRole("link", { name: oldest, exact: true }).waitFor();
});

it("an organization among many, one of the oldest, can be changed and can get a workspace", async () => {
  const { page } = root;
  const [first] = await world.gateway.database.query<{ id: string; name: string }>(
    "select id, name from organizations order by id offset 1 limit 1",
    [],
  );
  const { name } = first!;
  const choose = async () => {
    const field = page.getByRole("combobox", { name: "Organization" });
    await field.fill(name);
    await page.getByRole("option", { name, exact: true }).click();
  };
  await arrive(root, "/settings/organization");
  await choose();
  await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe(name);
  await arrive(root, "/settings/workspaces");
  await page.getByRole("button", { name: "New workspace" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Of an old one");
  await choose();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.waitForURL(/settings\/workspaces\/ws_/);
  const found = await world.gateway.database.query(
    "select name from workspaces where organization_id = $1 and name = 'Of an old one'",
    [first!.id],
  );
  expect(found).toHaveLength(1);
});

it("a token older than a hundred revoked ones is shown and can be revoked", async () => {
  const { page } = root;
  const { database } = world.gateway;
  await database.query(
    `insert into admin_tokens (id, user_id, name, lookup, revoked_at)
     select 'token_0' || lpad(n::text, 3, '0'), $1, case n when 0 then 'forgotten' else 'rotated' end,
       sha256(n::text::bytea), case n when 0 then null else now() end
     from generate_series(0, $2::integer) n`,
    [world.root.userId, count],
  );
  await arrive(root, "/account");
  const table = page.getByRole("table", { name: "Personal tokens" });
  await expect.poll(() => table.getByRole("row").count()).toBe(101);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("button", { name: "Revoke forgotten" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke token" }).click();
  const revoked = "select 1 from admin_tokens where name = 'forgotten' and revoked_at is not null";
  await expect.poll(async () => (await database.query(revoked, [])).length).toBe(1);
});

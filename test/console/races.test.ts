/** A page while something else happens: another request, another person, another clock, faster input. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMember } from "../admin/people.ts";
import { providerBody } from "../providers/support.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { patiently } from "../support/patience.ts";
import { holdAnswers, stubEventStream } from "./held.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
/** A second workspace, which only `root` can see. */
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

/** Selects another workspace in the switch above the menu. */
async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole("combobox", { name: "Workspace" }).fill(name);
  await page.getByRole("option", { name, exact: true }).click();
}

async function nameOfHome(): Promise<string> {
  const home = world.must(await world.root.call("GET", `/workspaces/${world.home.id}`));
  return home["name"] as string;
}

it("numbers of one period or workspace are never shown under another", async () => {
  const { key } = await world.keyOf(world.mem, world.home.id);
  await world.chat(key);
  const { page, close } = await world.open("root");
  await page.goto(`/overview?ws=${world.home.id}`);
  const requests = page.locator("main").getByRole("link", { name: /^Requests \d/ });
  await requests.waitFor();
  const usage = await holdAnswers(page, atPath("/usage"));
  await choose(page, "Other");
  await usage.asked();
  expect(await requests.count()).toBe(0);
  await usage.release();
  await page.getByText("No calls").first().waitFor();
  await close();
});

it("members of one workspace are never listed under another", async () => {
  const { page, close } = await world.open("root");
  await page.goto(`/settings/members?ws=${world.home.id}`);
  const remove = page.getByRole("button", { name: /^Remove / });
  await remove.first().waitFor();
  const members = await holdAnswers(page, atPath(`/workspaces/${other}/members`));
  await choose(page, "Other");
  await page.getByRole("heading", { name: "Members of Other" }).waitFor();
  await members.asked();
  expect(await remove.count()).toBe(0);
  await members.release();
  await page.getByText("Other has no members yet").waitFor();
  await close();
});

it("a member whom another admin removed leaves the list when a change of them is refused", async () => {
  const { must, home, root } = world;
  const { page, close } = await world.open("root");
  const changes = ["Remove", "Change"] as const;
  for (const change of changes) {
    const email = `${change}@example.com`.toLowerCase();
    const { userId } = await newMember(world.gateway, home.id, { email, role: "member" });
    await page.goto(`/settings/members?ws=${home.id}`);
    await page.getByRole("button", { name: `${change} ${email}` }).click();
    const dialog = page.getByRole("dialog");
    if (change === "Change") await dialog.getByLabel("Daily cap (USD)").fill("2");
    else await dialog.getByText("They have no active keys here.").waitFor();
    must(await root.call("DELETE", `/workspaces/${home.id}/members/${userId}`));
    await dialog.locator("button[type=submit]").click();
    await dialog.getByText("No such member.").waitFor();
    await expect.poll(() => page.locator("main").innerText()).not.toContain(email);
  }
  await close();
});

it("credit entered for one workspace is never added to another", async () => {
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

it("an error of one amount is not shown beside another one", async () => {
  const { page, close } = await world.open("root");
  await page.route("**/credits", (route) => route.fulfill({ status: 503, json: {} }));
  await page.goto(`/money?ws=${world.home.id}`);
  await page.getByRole("button", { name: "Add credit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount (USD)").fill("25");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("button", { name: "Add 25 USD" }).click();
  await dialog.getByText("The gateway answered 503.").waitFor();
  await dialog.getByRole("button", { name: "Back" }).click();
  await dialog.getByLabel("Amount (USD)").fill("30");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("button", { name: "Add 30 USD" }).waitFor();
  expect(await dialog.getByText("The gateway answered 503.").count()).toBe(0);
  await close();
});

it("a key for a member is not created in a workspace without that member", async () => {
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
  await dialog.getByText("is created").waitFor();
  expect(await dialog.locator("code").innerText()).toMatch(/^\S{20,}$/);
  await close();
});

it("Undo after a change that was saved over another person's change restores that person's value", async () => {
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

/** The reader comes back to the window after a while. */
async function comeBack(page: Page): Promise<void> {
  await page.clock.runFor(11_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
}

it("a form does not overwrite a provider that another user changed in the meantime", async () => {
  const { root, must } = world;
  must(await root.call("POST", "/providers", providerBody("written", "https://8.8.8.8")));
  const { page, close } = await world.open("root");
  await page.clock.install();
  await page.goto("/providers/written");
  await page.getByLabel("Address").fill("https://8.8.4.4/v1");
  must(await root.call("PATCH", "/providers/written", { base_url: "https://1.1.1.1/v1" }));
  const read = page.waitForResponse((one) => atPath("/providers/written")(new URL(one.url())));
  await comeBack(page);
  await (await read).finished();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("dialog", { name: "Changed by another person" }).waitFor();
  await page.getByRole("button", { name: "Take theirs" }).click();
  await expect
    .poll(() => page.getByLabel("Address").inputValue(), patiently)
    .toBe("https://1.1.1.1/v1");
  await close();
});

it("the prices shown before a catalogue is applied are those of the selected file", async () => {
  const { page, settled, close } = await world.open("root");
  const letGo: (() => Promise<void>)[] = [];
  await page.route(atPath("/catalog"), async (route) => {
    if (route.request().method() === "GET") return route.continue();
    const { source } = route.request().postDataJSON() as { source: string };
    const added = [{ model: `of/${source}`, before: null, after: null }];
    const lists = { added, gone: [], dearer: [], cheaper: [], changed: [] };
    const json = { object: "catalog_change", version: 0, applied: false, ...lists };
    if (source === "late.json") letGo.push(() => route.fulfill({ json }));
    else await route.fulfill({ json });
    return undefined;
  });
  await page.goto("/models?catalog=1");
  const choose = (name: string) =>
    page
      .locator("input[type=file]")
      .setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from("{}") });
  await choose("late.json");
  await expect.poll(() => letGo.length, patiently).toBe(1);
  await choose("next.json");
  await page.getByText("of/next.json").waitFor();
  await letGo[0]!();
  await settled();
  expect(await page.getByText("of/late.json").count()).toBe(0);
  expect(await page.getByText("of/next.json").count()).toBe(1);
  await close();
});

it("a sign-in as another user in another tab reloads the page for that user", async () => {
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

it("a running gateway is not shown as silent if the browser's clock is wrong", async () => {
  const { page, close } = await world.open("root");
  await page.clock.install({ time: Date.now() + 600_000 });
  await page.goto("/settings/gateways");
  const row = page.getByRole("table", { name: "Gateways" }).getByRole("row").nth(1);
  await row.waitFor();
  await expect.poll(() => row.innerText(), patiently).toContain("serving");
  await close();
});

it("a first call that arrives while the page reads whether there was one is shown", async () => {
  const { key, id } = await world.keyOf(world.mem, world.home.id);
  const { page, close } = await world.open("mem");
  const stream = await stubEventStream(page);
  const late = await holdAnswers(page, atPath("/requests"));
  await page.goto("/start");
  await late.asked();
  await stream.following("requests");
  await world.chat(key);
  const path = `/requests?view=list&key_id=${id}`;
  const [row] = world.must(await world.mem.call("GET", path)).data as [{ id: string }];
  await stream.tell("row", { topic: "requests", row });
  await late.release();
  const link = page.locator(`output a[href*="${row.id}"]`);
  await expect.poll(() => link.count(), patiently).toBe(1);
  await close();
});

// In the short form the next test covers it, for the page's first answer.
it.runIf(isLong)(
  "the state of providers is read again if it changed during an older request",
  async () => {
    const { page, close } = await world.open("root");
    const stream = await stubEventStream(page);
    await page.clock.install();
    // The page does not repeat a request that is still in flight.
    const first = page.waitForResponse((one) => atPath("/providers")(new URL(one.url())));
    await page.goto("/providers");
    await (await first).finished();
    await stream.following("providers");
    const late = await holdAnswers(page, atPath("/providers"));
    await comeBack(page);
    await late.asked();
    const again = page.waitForRequest((one) => atPath("/providers")(new URL(one.url())));
    const { data } = world.must(await world.root.call("GET", "/providers"));
    await stream.tell("state", { data });
    await late.release();
    expect((await again).method()).toBe("GET");
    await close();
  },
);

it("the state of providers is read again if it changed during the page's first request", async () => {
  const { page, close } = await world.open("root");
  const stream = await stubEventStream(page);
  const first = await holdAnswers(page, atPath("/providers"));
  await page.goto("/providers");
  await first.asked();
  await stream.following("providers");
  const again = page.waitForRequest((one) => atPath("/providers")(new URL(one.url())));
  const { data } = world.must(await world.root.call("GET", "/providers"));
  await stream.tell("state", { data });
  await first.release();
  expect((await again).method()).toBe("GET");
  await close();
});

it.each(shortOrLong(["/join#token"], ["/join#token", "/reset#token"]))(
  "%s reports an error of the gateway as such, and not as a used link",
  async (address) => {
    const { page, close } = await world.open("nobody");
    await page.route(/\/auth\/(?:invitations|password-resets)\/read$/, (route) =>
      route.fulfill({
        status: 429,
        json: { error: { message: "Too many requests.", code: "rate_limit_exceeded" } },
      }),
    );
    await page.goto(address);
    await page.getByText("Too many requests.").waitFor();
    expect(await page.getByText("is not valid. It was used").count()).toBe(0);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("is not valid. It was used").waitFor();
    await close();
  },
);

it("text that is typed while an image is read stays, and so does an image that is added meanwhile", async () => {
  await world.keyOf(world.mem, world.home.id);
  const { page, close } = await world.open("mem");
  await page.addInitScript(
    `const read = FileReader.prototype.readAsDataURL;
     const held = globalThis.held = [];
     FileReader.prototype.readAsDataURL = function (file) { held.push(() => read.call(this, file)); };`,
  );
  await page.goto("/playground");
  const field = page.getByLabel("You", { exact: true });
  const png = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("png") });
  await page.locator("input[type=file]").setInputFiles(png("one.png"));
  await field.fill("What is this?");
  await page.locator("input[type=file]").setInputFiles(png("two.png"));
  await page.evaluate("held.forEach((go) => go())");
  for (const name of ["one.png", "two.png"])
    await page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  expect(await field.inputValue()).toBe("What is this?");
  await close();
});

it("calls of several models that start together share one new temporary key", async () => {
  await world.keyOf(world.mem, world.home.id);
  const { page, close } = await world.open("mem");
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/temporary")) asked.push(request.url());
  });
  await page.clock.install();
  await page.goto("/playground?models=sandbox/chat,sandbox/messages");
  await page.getByLabel("You", { exact: true }).fill("Hello");
  const before = asked.length;
  await page.clock.fastForward("15:00");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => page.getByText("done", { exact: true }).count(), patiently).toBe(2);
  expect(asked.length - before).toBe(1);
  await close();
});

it("a list that stays open past midnight shows the day of its rows, also after the computer slept", async () => {
  const { key } = await world.keyOf(world.root, world.home.id);
  const call = await world.chat(key);
  const task = await world.video(key);
  const { page, settled, complaints, close } = await world.open("root");
  await page.clock.install();
  const lists = [
    ["/requests", call],
    ["/tasks?view=table", task],
  ] as const;
  // The same component draws the times of both lists.
  for (const [path, id] of shortOrLong<readonly (typeof lists)[number][]>(
    lists.slice(0, 1),
    lists,
  )) {
    await page.goto(path);
    const time = page.locator(`main a[href*="${id}"]`).first();
    await time.waitFor();
    await settled();
    const before = await time.innerText();
    expect(before).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
    await page.clock.fastForward(24 * 3_600_000);
    await expect
      .poll(() => time.innerText(), patiently)
      .toMatch(/^\d+ [A-Z][a-z]{2} \d\d:\d\d:\d\d$/);
  }
  expect(complaints).toEqual([]);
  await close();
});

/** A session that ends while a page is open, sessions elsewhere, a lost password, and the target of `/`. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cookieOf, newMember, password, signIn } from "../admin/people.ts";
import { call } from "../admin/support.ts";
import { isLong } from "../support/long.ts";
import { seriousFindings } from "./axe.ts";
import { visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld();
});
afterAll(() => world.close());

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

it("an ended session is renewed in a dialog over the page: typed text stays, and the refused request is sent again", async () => {
  const { page, complaints, close } = await world.open("mem");
  await page.goto("/start");
  const make = page.getByRole("button", { name: "Create a key" });
  await make.waitFor();
  await page.evaluate("globalThis.kept = true");
  await world.gateway.database.query("delete from auth_sessions where user_id = $1", [
    world.mem.userId,
  ]);
  await make.click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  expect(await dialog.getByLabel("E-mail").inputValue()).toBe(world.mem.email);
  await page.keyboard.press("Escape");
  await dialog.getByLabel("Password", { exact: true }).fill("wrong");
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  await dialog.getByRole("alert").getByText(/./).waitFor();
  await dialog.getByLabel("Password", { exact: true }).fill(password);
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  // The refused write has been made, once, without another click.
  await page.getByText("Waiting for the first request").waitFor();
  expect((await world.mem.call("GET", "/keys")).json.data).toHaveLength(1);
  expect(await page.evaluate("globalThis.kept")).toBe(true);
  expect(complaints).toEqual([]);
  await close();
});

it("a download continues after a new sign-in if the session had ended", async () => {
  const { page, complaints, settled, close } = await world.open("mem");
  await page.goto("/requests");
  await settled();
  await world.gateway.database.query("delete from auth_sessions where user_id = $1", [
    world.mem.userId,
  ]);
  await page.getByRole("button", { name: /^Download CSV/ }).click();
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByLabel("Password", { exact: true }).fill(password);
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  expect((await download).suggestedFilename()).toMatch(/\.csv$/);
  // The page says if a file does not have all rows.
  const body = "id\r\ncut after 100000 rows: choose a shorter period\r\n";
  await page.route(/requests\?.*to=/, (route) => route.fulfill({ contentType: "text/csv", body }));
  await page.getByRole("button", { name: /^Download CSV/ }).click();
  await page.getByRole("alert").getByText("The file is cut after 100000 rows").waitFor();
  await page.unroute(/requests\?.*to=/);
  expect(complaints).toEqual([]);
  await close();
});

it("unsaved changes in a form are discarded only after confirmation", async () => {
  const { must, home } = world;
  const { id } = must(
    await world.root.call("POST", "/keys", { workspace_id: home.id, name: "kept" }),
  ) as { id: string };
  const { page, complaints, close } = await world.open("root");
  await page.goto(`/keys/${id}?tab=caps`);
  const cap = page.getByLabel("Daily cap (USD)");
  await cap.fill("7");
  const overview = page.getByRole("link", { name: "Overview", exact: true });
  await overview.click();
  const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
  await dialog.getByRole("button", { name: "Stay" }).click();
  await dialog.waitFor({ state: "detached" });
  expect([new URL(page.url()).pathname, await cap.inputValue()]).toEqual([`/keys/${id}`, "7"]);
  // Another tab of the page cannot keep the changes either.
  await page.getByRole("tab", { name: "History" }).click();
  await dialog.getByRole("button", { name: "Leave and discard" }).click();
  await page.waitForURL(/tab=history/);
  await page.getByRole("tab", { name: "Caps and limits" }).click();
  expect(await cap.inputValue()).toBe("");
  // After a save, leaving needs no question.
  await cap.fill("8");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Unsaved changes").waitFor({ state: "detached" });
  await overview.click();
  await page.waitForURL(/overview/);
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "the account lists the user's sessions; one is signed out, and then all others",
  async () => {
    const signedIn = async () => cookieOf(await signIn(world.gateway, world.mel.email, password));
    const [phone, desk] = [await signedIn(), await signedIn()];
    const isOpen = async (cookie: string) =>
      (await call(world.gateway.url, "GET", "/me", { headers: { cookie } })).status === 200;
    const { page, complaints, close } = await visit({
      url: world.gateway.url,
      cookie: desk,
    });
    await page.goto("/account");
    const sessions = page.getByRole("table", { name: "Sessions" });
    await sessions.getByRole("row").nth(1).getByText("this session").waitFor();
    expect(await sessions.getByRole("row").count()).toBe(4);
    await sessions.getByRole("row").nth(2).getByRole("button").click();
    await expect.poll(() => isOpen(phone)).toBe(false);
    await sessions.getByRole("row").nth(3).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Sign out everywhere else" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out others" }).click();
    await expect.poll(() => isOpen(world.mel.cookie)).toBe(false);
    await sessions.getByRole("row").nth(2).waitFor({ state: "detached" });
    expect(await isOpen(desk)).toBe(true);
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)(
  "a member who lost the password gets a link, chooses a new password and is signed in; the link works once",
  async () => {
    const lost = { email: "lost@example.com", role: "member" } as const;
    await newMember(world.gateway, world.home.id, lost);
    const ann = await world.open("ann");
    await ann.page.goto("/settings/members");
    await button(ann.page, "Reset the password of lost@example.com").click();
    await button(ann.page, "Create a link").click();
    const link = await ann.page.getByText(/^http.*gw_pwr_/).innerText();
    expect(new URL(link)).toMatchObject({ pathname: "/reset", origin: world.gateway.url });
    await button(ann.page, "Done").click();
    expect(await ann.page.getByText(/gw_pwr_/).count()).toBe(0);
    // Admins cannot reset their own password here.
    expect(await button(ann.page, `Reset the password of ${world.ann.email}`).count()).toBe(0);
    expect(ann.complaints).toEqual([]);
    await ann.close();

    const { page, complaints, close } = await world.open("nobody");
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(request.url()));
    await page.goto(link);
    await page.getByText("For lost@example.com.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel("New password").fill("a password I keep");
    await button(page, "Choose password").click();
    await page.getByRole("heading", { name: "Make your first call" }).waitFor();
    await page.goto("/sign-in");
    await page.goto(link);
    await page.getByRole("alert").getByText("This link is not valid").waitFor();
    expect(asked.filter((url) => url.includes("gw_pwr_"))).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)("`/` opens Start until there was a call, and then the next page", async () => {
  const { page, close } = await world.open("bob");
  await page.goto("/");
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  const { key } = await world.keyOf(world.bob, world.away.id);
  await world.chat(key);
  await page.goto("/");
  await page.waitForURL((url) => url.pathname !== "/");
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).not.toBe("/start");
  await close();
});

it.skipIf(!isLong)(
  "a phone has its menu at the bottom, with further pages behind More",
  async () => {
    const { page, complaints, close } = await world.open("bob", { width: 390 });
    await page.goto("/start");
    const bar = page.getByRole("navigation", { name: "Main pages" });
    await bar.getByRole("link", { name: "Requests" }).click();
    await page.getByRole("heading", { name: "Requests" }).waitFor();
    await page.getByRole("table").getByText("sandbox/chat").waitFor();
    await bar.getByRole("button", { name: "More" }).click();
    await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: "Start" })
      .click();
    await page.getByRole("heading", { name: "Make your first call" }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

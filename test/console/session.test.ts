/** A session that ends under an open page, and where `/` leads. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { password } from "../admin/people.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld();
});
afterAll(() => world.close());

it("a session that ends is asked for over the page: what was typed stays, and what was refused is sent again", async () => {
  const { page, complaints, context } = await world.open("mem");
  await page.goto("/start");
  const make = page.getByRole("button", { name: "Make a key" });
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
  // The write that was refused has been made, once, without another click.
  await page.getByText("Waiting for the first request").waitFor();
  expect((await world.mem.call("GET", "/keys")).json.data).toHaveLength(1);
  expect(await page.evaluate("globalThis.kept")).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

it("`/` leads to Start until there was a call, and then past it", async () => {
  const { page, context } = await world.open("bob");
  await page.goto("/");
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  const { key } = await world.keyOf(world.bob, world.away.id);
  await world.chat(key);
  await page.goto("/");
  await page.waitForURL((url) => url.pathname !== "/");
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).not.toBe("/start");
  await context.close();
});

it("a phone has its menu at the bottom: pages by a touch, and all others behind More", async () => {
  const { page, complaints, context } = await world.open("bob", { width: 390 });
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
  await context.close();
});

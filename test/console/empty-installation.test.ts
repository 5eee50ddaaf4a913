/** A new installation without any objects: each page says what it is for, and what to do next. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMember } from "../admin/people.ts";
import { arrive } from "./arrive.ts";
import { findingsOnTheWay } from "./axe.ts";
import { visit, type Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "off", config: "providers: []\nmodels: []\n" });
});
afterAll(() => world.close());

/** The tests change nothing, so each person sees all pages in one window. */
const windows: Partial<Record<"root" | "mem" | "bob", Promise<Visit>>> = {};

it("without a provider, Start leads an organization admin to the form that adds one", async () => {
  await world.keyOf(world.root, world.home.id);
  const { page, complaints } = await (windows.root = world.open("root"));
  await page.goto("/start");
  await page.getByText("There is no text model yet.").waitFor();
  expect(await findingsOnTheWay(page)).toEqual([]);
  await page.getByRole("link", { name: "Add a provider" }).click();
  await page.getByRole("dialog", { name: "Add provider" }).waitFor();
  expect(complaints).toEqual([]);
});

it("a member without a callable model is told whom to ask", async () => {
  await world.keyOf(world.mem, world.home.id);
  const { page } = await (windows.mem = world.open("mem"));
  await page.goto("/start");
  await page.getByText("Ask an administrator for a provider").waitFor();
  expect(await page.getByRole("link", { name: "Add a provider" }).count()).toBe(0);
});

it.each([
  ["root", "/providers", "Providers answer the calls that come in"],
  ["mem", "/providers", "An organization admin can add one."],
  ["root", "/playground", "Add a provider that has one, or widen the allowlist"],
  ["mem", "/playground", "Ask an administrator for a provider"],
  ["root", "/settings/callbacks", "The gateway signs callbacks with it"],
  ["root", "/models", "A provider brings its models along:"],
  ["bob", "/keys", "Programs call the gateway with a key"],
  ["bob", "/requests", "This list will show each call of a key"],
  ["bob", "/tasks", "images and videos of the gateway, finished or running"],
  ["bob", "/overview", "This page will show their cost, duration and errors."],
] as const)("the empty page tells %s at %s what it is for", async (who, path, words) => {
  const inside = await (windows[who] ??= world.open(who));
  await arrive(inside, path);
  await inside.page.getByText(words).waitFor();
  expect(inside.complaints).toEqual([]);
});

it("a user without a workspace is told so, and that an administrator can invite them", async () => {
  const { gateway, home } = world;
  const lone = await newMember(gateway, home.id, { email: "lone@example.com", role: "member" });
  world.must(await world.root.call("DELETE", `/workspaces/${home.id}/members/${lone.userId}`));
  const { page, complaints, close } = await visit({ url: gateway.url, cookie: lone.cookie });
  await page.goto("/start");
  await page.getByText("You are not a member of any workspace.").waitFor();
  expect(complaints).toEqual([]);
  await close();
});

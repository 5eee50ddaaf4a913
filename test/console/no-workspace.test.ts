/** Readers without a workspace, and addresses with a workspace that they may not see: nothing is offered that would be refused. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMember } from "../admin/people.ts";
import { arrive } from "./arrive.ts";
import { visit, type Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
const windows: Partial<Record<"lone" | "mem" | "root", Visit>> = {};
beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  const { gateway, home } = world;
  const lone = await newMember(gateway, home.id, { email: "lone@example.com", role: "member" });
  world.must(await world.root.call("DELETE", `/workspaces/${home.id}/members/${lone.userId}`));
  windows.lone = await visit({ url: gateway.url, cookie: lone.cookie });
  windows.mem = await world.open("mem");
  windows.root = await world.open("root");
});
afterAll(() => world.close());

const notMember = "You are not a member of any workspace. Ask an administrator to invite you.";
const mainOf = ({ page }: Visit) => page.getByRole("main");

it.each(["/start", "/playground", "/keys", "/money"])(
  "%s tells a user without a workspace whom to ask, and offers neither keys nor balances",
  async (path) => {
    const lone = windows.lone!;
    await arrive(lone, path);
    const main = mainOf(lone);
    await main.getByText(notMember).waitFor();
    expect(await main.getByText(/Create|Choose a workspace|All 0 together/).count()).toBe(0);
    expect(lone.complaints).toEqual([]);
  },
);

it.each(["/start", "/playground", "/keys"])(
  "%s of a foreign workspace offers no key in it",
  async (path) => {
    const mem = windows.mem!;
    await arrive(mem, `${path}?ws=${world.away.id}`);
    const main = mainOf(mem);
    await main.getByText("does not exist, or you may not see it.").waitFor();
    expect(await main.getByText(/Create/).count()).toBe(0);
    expect(await main.getByText(notMember).count()).toBe(0);
  },
);

it.each([
  ["mem", "/money?ws=$away"],
  ["root", "/money?ws=ws_gone"],
  ["root", "/money/ledger?ws=ws_gone"],
] as const)("%s reads at %s that there is no such workspace, once", async (who, address) => {
  const inside = windows[who]!;
  await arrive(inside, address.replace("$away", world.away.id));
  const main = mainOf(inside);
  const alert = main.getByRole("alert");
  await alert.filter({ hasText: /^There is no such workspace/ }).waitFor();
  await inside.settled();
  expect(await alert.count()).toBe(1);
  expect(await main.getByRole("button", { name: "Add credit" }).count()).toBe(0);
});

it("an address with an empty workspace means all of them, and no other line says that it does not exist", async () => {
  const { page, settled, complaints } = windows.root!;
  await page.goto("/keys?ws=");
  await settled();
  const main = page.getByRole("main");
  await main.getByText("cannot read these parts of the address").waitFor();
  expect(await main.getByText("does not exist").count()).toBe(0);
  expect(complaints).toEqual([]);
});

/** Actions on the members of a workspace, and on its callbacks. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import {
  button,
  choose,
  dialog,
  home,
  press,
  alertWith,
  shows,
  undo,
  type Action,
} from "./action.ts";
import type { Walk } from "./people.ts";

const members = (walk: Walk): string => `/settings/members?ws=${walk.world.home.id}`;
const member = (walk: Walk, userId = walk.world.mel.userId): string =>
  `${home(walk)}/members/${userId}`;

const people: readonly Action[] = [
  {
    place: "members",
    name: "invite somebody, and take that back",
    calls: [
      "POST /admin/v1/workspaces/{id}/members",
      "DELETE /admin/v1/workspaces/{id}/members/{user_id}",
    ],
    right: "member.create",
    may: "+++-",
    offer: (page) => button(page, "Invite"),
    ask: (walk) => [
      "POST",
      `${home(walk)}/members`,
      { email: "joins@example.com", role: "member" },
    ],
    async act(walk) {
      const { page } = walk;
      const email = `invited-by-${walk.who}@example.com`;
      await page.goto(members(walk));
      await button(page, "Invite").click();
      await dialog(page).getByLabel("E-mail").fill(email);
      await press(page, "Invite");
      await page.getByText(/^http.*\/join#gw_inv_/).waitFor();
      await button(page, "Done").click();
      const cell = page.getByRole("cell", { name: email, exact: true });
      await cell.waitFor();
      await button(page, `Withdraw: ${email}`).click();
      await press(page, "Withdraw");
      await alertWith(page, "The invitation is withdrawn.");
      await cell.waitFor({ state: "detached" });
    },
  },
  {
    place: "members",
    name: "change the role and limits of a member, and take that back",
    calls: ["PATCH /admin/v1/workspaces/{id}/members/{user_id}"],
    right: "member.change",
    may: "+++-",
    offer: (page) => page.getByRole("button", { name: /^Change / }).first(),
    ask: (walk) => ["PATCH", member(walk), { role: "admin" }],
    async act(walk) {
      const { page } = walk;
      const { email, userId } = await walk.world.somebody();
      await page.goto(members(walk));
      await button(page, `Change ${email}`).click();
      await choose(page, "Role", "admin");
      await dialog(page).getByLabel("Concurrent calls").fill("3");
      await press(page, "Save");
      await alertWith(page, `${email} is changed`);
      await shows(walk, member(walk, userId), { role: "admin", rate_limits: { concurrency: 3 } });
      await undo(page);
      await shows(walk, member(walk, userId), { role: "member", rate_limits: null });
    },
  },
  {
    place: "members",
    name: "make a link to a new password for a member",
    calls: ["POST /admin/v1/workspaces/{id}/members/{user_id}/reset_password"],
    right: "member.reset_password",
    may: "+++-",
    offer: (page) => page.getByRole("button", { name: /^Reset the password of / }).first(),
    ask: (walk) => ["POST", `${member(walk)}/reset_password`],
    async act(walk) {
      const { page } = walk;
      const { email } = await walk.world.somebody();
      await page.goto(members(walk));
      await button(page, `Reset the password of ${email}`).click();
      await press(page, "Create a link");
      await page.getByText(/^http.*gw_pwr_/).waitFor();
      await button(page, "Done").click();
      expect(await page.getByText(/gw_pwr_/).count()).toBe(0);
    },
  },
  {
    place: "members",
    name: "remove a member, and take that back",
    calls: [
      "DELETE /admin/v1/workspaces/{id}/members/{user_id}",
      "POST /admin/v1/workspaces/{id}/members/{user_id}/restore",
    ],
    right: "member.delete",
    may: "+++-",
    offer: (page) => page.getByRole("button", { name: /^Remove / }).first(),
    ask: (walk) => ["DELETE", member(walk)],
    async act(walk) {
      const { page, world } = walk;
      const { email, userId } = await world.somebody();
      await page.goto(members(walk));
      await button(page, `Remove ${email}`).click();
      await press(page, `Remove ${email}`);
      await alertWith(page, `${email} is removed`);
      expect((await world.gateway.admin("GET", member(walk, userId))).status).toBe(404);
      await undo(page);
      await shows(walk, member(walk, userId), { role: "member" });
      await page.getByRole("cell", { name: email, exact: true }).waitFor();
    },
  },
];

const secret = (walk: Walk): string => `${home(walk)}/signing_secret`;
const open = ({ page, world }: Walk) => page.goto(`/settings/callbacks?ws=${world.home.id}`);

/** The button that sends the newest one again. */
const again = (page: Page) => page.getByRole("button", { name: /^Send again: \w+$/ }).first();

const callbacks: readonly Action[] = [
  {
    place: "callbacks",
    name: "switch callbacks off, and take that back",
    calls: ["PATCH /admin/v1/workspaces/{id}/signing_secret"],
    right: "signing_secret.change",
    may: "+++-",
    offer: (page) => page.getByRole("switch", { name: "Callbacks are sent" }),
    ask: (walk) => ["PATCH", secret(walk), { enabled: false }],
    async act(walk) {
      await open(walk);
      await walk.page.getByRole("switch", { name: "Callbacks are sent" }).click();
      await alertWith(walk.page, "Callbacks are switched off");
      await shows(walk, secret(walk), { enabled: false });
      await undo(walk.page);
      await shows(walk, secret(walk), { enabled: true });
    },
  },
  {
    place: "callbacks",
    name: "see the signing secret",
    calls: [],
    right: "signing_secret.read",
    may: "+++-",
    offer: (page) => button(page, "Reveal"),
    ask: (walk) => ["GET", secret(walk)],
    async act(walk) {
      await open(walk);
      await button(walk.page, "Reveal").click();
      const { secret: value } = await walk.must("GET", secret(walk));
      await walk.page.getByText(value).waitFor();
      await button(walk.page, "Hide").click();
      await walk.page.getByText(value).waitFor({ state: "detached" });
    },
  },
  {
    place: "callbacks",
    name: "replace the signing secret by the typed name",
    calls: ["POST /admin/v1/workspaces/{id}/signing_secret/rotate"],
    right: "signing_secret.rotate",
    may: "+++-",
    offer: (page) => button(page, "Replace"),
    ask: (walk) => ["POST", `${secret(walk)}/rotate`, {}],
    async act(walk) {
      const { page } = walk;
      const before = await walk.must("GET", secret(walk));
      await open(walk);
      await button(page, "Replace").click();
      await dialog(page).getByLabel("Type home to confirm").fill("home");
      await press(page, "Replace secret");
      await alertWith(page, "The secret is replaced");
      await shows(walk, secret(walk), { previous: { secret: before.secret } });
    },
  },
  {
    place: "callbacks",
    name: "send a test to an address",
    calls: ["POST /admin/v1/workspaces/{id}/webhook_test"],
    right: "webhook.test",
    may: "+++-",
    offer: (page) => button(page, "Send a test"),
    ask: (walk) => ["POST", `${home(walk)}/webhook_test`, { url: "https://receiver.invalid/" }],
    async act(walk) {
      const { page } = walk;
      const url = `https://receiver.invalid/${walk.who}`;
      await open(walk);
      await page.getByLabel("Test an address").fill(url);
      await button(page, "Send a test").click();
      await page.getByRole("cell", { name: url }).waitFor();
    },
  },
  {
    place: "callbacks",
    name: "send a callback again",
    calls: ["POST /admin/v1/webhook_deliveries/{id}/redeliver"],
    right: "delivery.redeliver",
    // Members do this on the page of their task.
    may: "+++-",
    offer: (page) => again(page),
    async act(walk) {
      const { page } = walk;
      await open(walk);
      await again(page).click();
      await press(page, "Send again");
      await alertWith(page, "The callback is sent again.");
    },
  },
];

export const memberActions: readonly Action[] = [...people, ...callbacks];

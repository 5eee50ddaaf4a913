/** Actions of each person on their own objects: first steps, tasks, tokens, sessions; and actions before the sign-in. */
import { expect } from "vitest";
import { addMember } from "../../../src/tenancy/index.ts";
import { cookieOf, signIn } from "../../admin/people.ts";
import { call } from "../../admin/support.ts";
import { visit, type Visit } from "../browser.ts";
import { button, press, alertWith, shows, type Action } from "./action.ts";
import type { Walk } from "./people.ts";
import { placeOf } from "./places.ts";

const tasks: readonly Action[] = [
  {
    place: "task that runs",
    name: "cancel a task",
    calls: ["POST /admin/v1/tasks/{id}/cancel"],
    right: "task.cancel",
    may: "++++",
    offer: (page) => button(page, "Cancel task"),
    async act(walk) {
      const { page } = walk;
      const address = await placeOf("task that runs").at(walk);
      await page.goto(address);
      await page.getByText(/^running for /).waitFor();
      await button(page, "Cancel task").click();
      await press(page, "Cancel task");
      await page.getByText(/^canceled after /).waitFor();
      await shows(walk, address, { status: "canceled" });
    },
  },
  {
    place: "task",
    name: "send the callback of a task again",
    calls: ["POST /admin/v1/webhook_deliveries/{id}/redeliver"],
    right: "delivery.redeliver",
    may: "++++",
    offer: (page) => button(page, "Redeliver"),
    async act(walk) {
      const { page, own } = walk;
      await page.goto(`/tasks/${own.task}`);
      await button(page, "Redeliver").click();
      await press(page, "Send again");
      await alertWith(page, "The callback is sent again.");
    },
  },
];

/** Runs `use` with a workspace in which the person has no key yet. */
async function withoutKeys(walk: Walk, use: (workspaceId: string) => Promise<void>) {
  const { world, userId } = walk;
  const internals = await world.gateway.internals();
  const { id } = await world.admin("POST", "/workspaces", { name: walk.fresh("without keys") });
  await addMember(internals, { workspaceId: id, userId, role: "member" });
  await use(id);
  await world.admin("DELETE", `/workspaces/${id}/members/${userId}`);
}

const start: readonly Action[] = [
  {
    place: "start",
    name: "make a first key",
    calls: ["POST /admin/v1/keys"],
    right: "key.create",
    may: "++++",
    // Offered only without a key; with a key, the page shows how to call with it.
    offer: (page) =>
      page.getByRole("button", { name: /^(?:Create a key|Copy the call with curl)$/ }),
    act: (walk) =>
      withoutKeys(walk, async (ws) => {
        await walk.page.goto(`/start?ws=${ws}`);
        await button(walk.page, "Create a key").click();
        await walk.page.getByText("Waiting for the first request").waitFor();
        const { data } = await walk.must("GET", `/keys?workspace_id=${ws}`);
        expect(data).toMatchObject([{ name: "first", created_by: walk.userId }]);
      }),
  },
  {
    place: "start",
    name: "copy a call with the key in it",
    calls: ["POST /admin/v1/keys/{id}/reveal"],
    right: "key.reveal",
    may: "++++",
    offer: (page) => button(page, "Copy the call with curl"),
    async act(walk) {
      const { page, world } = walk;
      await page.goto(`/start?ws=${world.home.id}`);
      await button(page, "Copy the call with curl").click();
      await button(page, "Copied").waitFor();
    },
  },
];

const account: readonly Action[] = [
  {
    place: "account",
    name: "make a personal token",
    calls: ["POST /admin/v1/tokens"],
    right: "token.create",
    may: "++++",
    offer: (page) => button(page, "Create a token"),
    async act({ page, world }) {
      await page.goto("/account");
      await page.getByLabel("Name").fill("laptop");
      await button(page, "Create a token").click();
      const token = await page.getByText(/^gw_pat_/).innerText();
      expect((await call(world.gateway.url, "GET", "/me", { token })).status).toBe(200);
    },
  },
  {
    place: "account",
    name: "revoke a personal token",
    calls: ["DELETE /admin/v1/tokens/{id}"],
    right: "token.revoke",
    may: "++++",
    offer: (page) => page.getByRole("heading", { name: "Personal tokens" }),
    async act(walk) {
      const { page, world } = walk;
      const name = walk.fresh("token");
      const { token } = await walk.must("POST", "/tokens", { name });
      await page.goto("/account");
      await button(page, `Revoke ${name}`).click();
      await press(page, "Revoke token");
      await alertWith(page, `${name} is revoked`);
      expect((await call(world.gateway.url, "GET", "/me", { token })).status).toBe(401);
    },
  },
  {
    place: "account",
    name: "end a session elsewhere",
    calls: ["DELETE /admin/v1/sessions/{id}"],
    right: "session.end",
    may: "++++",
    offer: (page) => page.getByRole("table", { name: "Sessions" }),
    async act(walk) {
      const cookie = await anotherSession(walk);
      await walk.page.goto("/account");
      await walk.page
        .getByRole("button", { name: /^Sign out the session of / })
        .first()
        .click();
      await alertWith(walk.page, "The session has ended.");
      await expect.poll(() => isIn(walk, cookie)).toBe(false);
    },
  },
  {
    place: "account",
    name: "end all sessions elsewhere",
    calls: ["DELETE /admin/v1/sessions"],
    right: "session.end",
    may: "++++",
    offer: (page) => page.getByRole("table", { name: "Sessions" }),
    async act(walk) {
      const cookie = await anotherSession(walk);
      await walk.page.goto("/account");
      await button(walk.page, "Sign out everywhere else").click();
      await press(walk.page, "Sign out others");
      await alertWith(walk.page, "You are signed out everywhere else.");
      expect(await isIn(walk, cookie)).toBe(false);
      expect((await walk.call("GET", "/me")).status).toBe(200);
    },
  },
];

const anotherSession = async ({ world, email, password }: Walk): Promise<string> =>
  cookieOf(await signIn(world.gateway, email, password));

const isIn = async ({ world }: Walk, cookie: string): Promise<boolean> =>
  (await call(world.gateway.url, "GET", "/me", { headers: { cookie } })).status === 200;

/** Runs `use` in another window, without a sign-in. */
async function inAnotherWindow(
  walk: Walk,
  use: (visited: Visit) => Promise<void>,
  cookie?: string,
) {
  const url = walk.world.gateway.url;
  const another = await visit({ url, ...(cookie !== undefined && { cookie }) });
  await walk.watch(another);
  await use(another);
  expect(another.complaints).toEqual([]);
  await another.close();
}

const outside: readonly Action[] = [
  {
    place: "account",
    name: "sign out",
    calls: ["POST /auth/sign-out"],
    may: "++++",
    offer: (page) => button(page, "Sign out"),
    act: async (walk) => {
      const cookie = await anotherSession(walk);
      const leave = async ({ page }: Visit) => {
        await page.goto("/account");
        await button(page, "Sign out").click();
        await page.getByRole("heading", { name: "Sign in to Tollgate" }).waitFor();
        expect(await isIn(walk, cookie)).toBe(false);
      };
      await inAnotherWindow(walk, leave, cookie);
    },
  },
  {
    place: "sign-in",
    name: "sign in with a password",
    calls: ["POST /auth/sign-in/email"],
    may: "++++",
    offer: (page) => button(page, "Sign in"),
    act: (walk) =>
      inAnotherWindow(walk, async ({ page }) => {
        await page.goto("/account");
        await page.getByLabel("E-mail").fill(walk.email);
        await page.getByLabel("Password", { exact: true }).fill(walk.password);
        await button(page, "Sign in").click();
        // The page that they wanted to open.
        await page.getByRole("heading", { name: "Account" }).waitFor();
      }),
  },
  {
    place: "join",
    name: "join another workspace as who one is",
    calls: ["POST /auth/invitations/read", "POST /auth/invitations/accept"],
    may: "++++",
    offer: (page) => button(page, "Join"),
    async act(walk) {
      const { page, userId, world } = walk;
      await page.goto(await placeOf("join").at(walk));
      await page.getByRole("button", { name: /^Join as / }).click();
      await page.getByRole("heading", { name: "Make your first call" }).waitFor();
      const { memberships } = await walk.must("GET", "/me");
      const [newest] = (memberships as { workspace_id: string }[])
        .map((one) => one.workspace_id)
        .toSorted()
        .slice(-1);
      await shows(walk, `/workspaces/${newest}/members/${userId}`, { status: "active" });
      await world.admin("DELETE", `/workspaces/${newest}/members/${userId}`);
    },
  },
  {
    place: "reset",
    name: "choose a new password by a link",
    calls: ["POST /auth/password-resets/read", "POST /auth/password-resets/use"],
    may: "++++",
    offer: (page) => button(page, "Choose password"),
    act: (walk) =>
      inAnotherWindow(walk, async ({ page }) => {
        await page.goto(await placeOf("reset").at(walk));
        await page.getByLabel("New password").fill("a password I keep");
        await button(page, "Choose password").click();
        await page.getByRole("heading", { level: 1, name: "Make your first call" }).waitFor();
      }),
  },
];

/** Runs last: it ends all earlier sessions and tokens. */
const password: Action = {
  place: "password",
  name: "choose another password",
  calls: ["POST /auth/change-password"],
  may: "++++",
  offer: (page) => button(page, "Change password"),
  async act(walk) {
    const { page } = walk;
    const next = `another password of ${walk.who}`;
    await page.goto("/account");
    await page.getByRole("link", { name: "Change password" }).click();
    await page.getByLabel("Current password").fill(walk.password);
    await page.getByLabel("New password").fill(next);
    await button(page, "Change password").click();
    await page
      .getByRole("heading", { level: 1 })
      .getByText(/^(?!Choose a password)/)
      .waitFor();
    walk.password = next;
    expect(await isIn(walk, await anotherSession(walk))).toBe(true);
  },
};

export const ownActions: readonly Action[] = [...tasks, ...start, ...account];
export const outsideActions: readonly Action[] = [...outside, password];

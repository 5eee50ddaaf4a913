/** Settings and the account in the console, in a real browser, by people in every role. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { call } from "../admin/support.ts";
import { isLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import { seriousFindings } from "./axe.ts";
import { visit } from "./browser.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld();
  await furnish(world);
});
afterAll(() => world.close());

const toast = (page: Page, text: string) => page.getByRole("alert").filter({ hasText: text });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

it("a workspace admin invites a member, changes their role with Undo, and removes them", async () => {
  const { page, complaints, close } = await world.open("ann");
  const members = `/workspaces/${world.home.id}/members`;
  await page.goto("/settings");
  await page.getByRole("heading", { name: "Members of home" }).waitFor();
  await button(page, "Invite").click();
  await page.getByLabel("E-mail").fill("joe@nowhere");
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  await page.getByRole("dialog").getByText("must be an e-mail address").waitFor();
  await page.getByLabel("E-mail").fill("joe@example.com");
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const link = await page.getByText(/^http.*gw_inv_/).innerText();
  await button(page, "Done").click();
  const token = link.slice(link.lastIndexOf("gw_inv_"));
  const joined = await call(world.gateway.url, "POST", "/auth/invitations/accept", {
    body: { token, password: "a password of my own" },
  });
  const { user_id: joe } = world.must(joined);
  await page.reload();
  await button(page, "Change joe@example.com").click();
  await page.getByRole("dialog").getByRole("combobox", { name: "Role" }).click();
  await page.getByRole("option", { name: /^admin/ }).click();
  await page.getByLabel("Requests per minute").fill("60");
  await page.getByLabel("Concurrent calls").fill("3");
  await button(page, "Save").click();
  await toast(page, "joe@example.com is changed").waitFor();
  const read = async () => (await world.ann.call("GET", `${members}/${joe}`)).json;
  expect(await read()).toMatchObject({
    role: "admin",
    rate_limits: { requests_per_minute: 60, tokens_per_minute: null, concurrency: 3 },
  });
  await button(page, "Undo").click();
  await expect.poll(async () => (await read()).role).toBe("member");
  expect((await read()).rate_limits).toBeNull();
  const key = { workspace_id: world.home.id, name: "stops too", user_id: joe };
  world.must(await world.ann.call("POST", "/keys", key));
  await button(page, "Remove joe@example.com").click();
  await page.getByRole("dialog").getByText("stops too").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Remove joe@example.com" }).click();
  await toast(page, "joe@example.com is removed").waitFor();
  expect((await world.ann.call("GET", `${members}/${joe}`)).status).toBe(404);
  await page.getByRole("cell", { name: "joe@example.com" }).waitFor({ state: "detached" });
  await toast(page, "joe@example.com is removed").getByRole("button", { name: "Undo" }).click();
  await page.getByRole("cell", { name: "joe@example.com", exact: true }).waitFor();
  expect((await read()).role).toBe("member");
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "a workspace is changed and changed back; an organization admin sets its caps, and disables it after typing its name",
  async () => {
    const path = `/workspaces/${world.home.id}`;
    const read = async () => (await world.root.call("GET", path)).json;
    const ann = await world.open("ann");
    await ann.page.goto("/settings/workspaces");
    await ann.page.getByRole("link", { name: "home" }).click();
    await ann.page.getByRole("heading", { name: "Workspace home" }).waitFor();
    expect(await ann.page.getByLabel("Daily cap (USD)").isDisabled()).toBe(true);
    expect(await ann.page.getByLabel("Tokens per minute").isDisabled()).toBe(true);
    expect(await button(ann.page, "Disable").count()).toBe(0);
    await ann.page.getByLabel("Address for alerts").fill("http://insecure.example.com");
    await button(ann.page, "Save").click();
    await ann.page.getByText(/alert_webhook_url.*https/i).waitFor();
    await ann.page.getByLabel("Address for alerts").fill("https://alerts.example.com/hook");
    await button(ann.page, "Save").click();
    await toast(ann.page, "Saved.").waitFor();
    expect((await read()).alert_webhook_url).toBe("https://alerts.example.com/hook");
    await button(ann.page, "Undo").click();
    await expect.poll(async () => (await read()).alert_webhook_url).toBeNull();
    expect(ann.complaints).toEqual([]);
    await ann.close();

    const { page, complaints, close } = await world.open("root");
    await page.goto(`/settings${path}`);
    await page.getByLabel("Monthly cap (USD)").fill("100");
    await page.getByLabel("Tokens per minute").fill("90000");
    await page.getByLabel("Alerts at (% of a cap)").fill("25, often");
    await button(page, "Save").click();
    await page.getByText(/alert_thresholds/).waitFor();
    await page.getByLabel("Alerts at (% of a cap)").fill("90, 25 %");
    await page.getByLabel("Alert at a balance of (USD)").fill("7.50");
    await button(page, "Save").click();
    await toast(page, "Saved.").waitFor();
    expect(await read()).toMatchObject({
      spend_caps: { monthly: "100" },
      rate_limits: { requests_per_minute: null, tokens_per_minute: 90_000, concurrency: null },
      alert_thresholds: [25, 90],
      low_balance_alert: "7.5",
    });
    const marks = page.locator("[data-threshold]");
    await expect
      .poll(async () => Promise.all((await marks.all()).map((one) => one.getAttribute("style"))))
      .toEqual(["left: 25%;", "left: 90%;"]);
    await button(page, "Disable").click();
    await page.getByLabel("Type home to confirm").fill("home");
    await page.getByRole("dialog").getByRole("button", { name: "Disable workspace" }).click();
    await toast(page, "home is disabled").waitFor();
    expect((await read()).status).toBe("disabled");
    await button(page, "Enable").click();
    await expect.poll(async () => (await read()).status).toBe("active");
    world.must(await world.root.call("PATCH", path, { alert_thresholds: null }));
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)(
  "an administrator creates a workspace in an organization, and limits the organization's models",
  async () => {
    const { page, complaints, close } = await world.open("root");
    await page.goto("/settings/workspaces");
    await button(page, "New workspace").click();
    await page.getByLabel("Name").fill("made here");
    await page.getByRole("combobox", { name: "Organization" }).click();
    await page.getByRole("option", { name: "away" }).click();
    await button(page, "Create").click();
    await page.getByRole("heading", { name: "Workspace made here" }).waitFor();
    await page.getByRole("link", { name: "Organization" }).click();
    await page.getByRole("combobox", { name: "Organization" }).click();
    await page.getByRole("option", { name: "away" }).click();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("away");
    await page.getByRole("combobox", { name: "Models that may be called" }).fill("sandbox/multi");
    await page.getByRole("option", { name: "sandbox/multi" }).click();
    await button(page, "Save").click();
    await toast(page, "Saved.").waitFor();
    const { json } = await world.root.call("GET", `/organizations/${world.away.organizationId}`);
    expect(json.model_allowlist).toEqual(["sandbox/multi"]);
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)(
  "the callback settings hide and replace the secret, switch callbacks off and on, and test an address",
  async () => {
    const { page, complaints, close } = await world.open("ann");
    const read = async () =>
      (await world.ann.call("GET", `/workspaces/${world.home.id}/signing_secret`)).json;
    const before = await read();
    await page.goto("/settings/callbacks");
    await button(page, "Reveal").waitFor();
    expect(await page.getByText(before.secret).count()).toBe(0);
    await button(page, "Reveal").click();
    await page.getByText(before.secret).waitFor();
    await button(page, "Hide").click();
    await button(page, "Replace").click();
    await page.getByLabel("Type home to confirm").fill("home");
    await button(page, "Replace secret").click();
    await toast(page, "The secret is replaced").waitFor();
    expect((await read()).previous.secret).toBe(before.secret);
    await page.getByRole("switch", { name: "Callbacks are sent" }).click();
    await toast(page, "Callbacks are switched off").waitFor();
    expect((await read()).enabled).toBe(false);
    await button(page, "Undo").click();
    await expect.poll(async () => (await read()).enabled).toBe(true);
    await page.getByLabel("Test an address").fill("ftp://example.com");
    await button(page, "Send a test").click();
    await page.getByText(/https/).first().waitFor();
    await page.getByLabel("Test an address").fill("https://receiver.invalid/tried");
    await button(page, "Send a test").click();
    await page.getByRole("cell", { name: "https://receiver.invalid/tried" }).waitFor();
    await page.getByText("Python").click();
    await page.getByText("from standardwebhooks.webhooks import Webhook").waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)(
  "the audit log shows changed fields, filters by the address, and links to keys",
  async () => {
    const { id } = world.must(
      await world.ann.call("POST", "/keys", { workspace_id: world.home.id, name: "audited" }),
    );
    world.must(await world.ann.call("PATCH", `/keys/${id}`, { spend_caps: { daily: "7" } }));
    const { page, complaints, close } = await world.open("ann");
    await page.goto(`/settings/audit?action=key.change&subject=${id}`);
    const row = page.getByRole("row").nth(1);
    await row.getByText("spend_caps.daily: none → 7").waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    expect(await row.innerText()).not.toContain("monthly");
    // The reader needs no ids: the person links to their other actions, and the action to its other entries.
    await page.goto("/settings/audit?period=24h");
    await row.getByRole("link", { name: "key.change" }).click();
    await row.getByRole("link", { name: world.ann.email }).click();
    await expect
      .poll(() => Object.fromEntries(new URL(page.url()).searchParams))
      .toEqual({ period: "24h", action: "key.change", actor: world.ann.userId });
    await page.getByRole("link", { name: "audited", exact: true }).waitFor();
    await page.goto(`/settings/audit?subject=${id}&to=2020-01-01T00:00:00Z`);
    await page.getByText("No changes match these filters.").waitFor();
    await button(page, "Clear").click();
    await page.getByRole("link", { name: "audited", exact: true }).first().click();
    await page.getByRole("heading", { name: "Key audited" }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)("a personal token is created, works, is shown once and is revoked", async () => {
  const { page, complaints, close } = await world.open("mem");
  await page.goto("/account");
  await page.getByLabel("Name").fill("laptop");
  await button(page, "Create a token").click();
  const token = await page.getByText(/^gw_pat_/).innerText();
  const works = () => call(world.gateway.url, "GET", "/me", { token });
  expect((await works()).status).toBe(200);
  await page.reload();
  await button(page, "Revoke laptop").click();
  expect(await page.getByText(token).count()).toBe(0);
  await button(page, "Revoke token").click();
  await toast(page, "laptop is revoked").waitFor();
  expect((await works()).status).toBe(401);
  expect(complaints).toEqual([]);
  await close();
});

it("settings are missing from a member's menu and not found by address; another organization's workspace is not found either", async () => {
  const mem = await world.open("mem");
  const { page, complaints, close } = mem;
  await page.goto("/settings");
  await page.getByRole("heading", { name: "Account" }).waitFor();
  expect(await page.getByRole("link", { name: "Settings" }).count()).toBe(0);
  for (const path of ["members", "workspaces", "organization", "callbacks", "audit"]) {
    await arrive(mem, `/settings/${path}`);
    await page.getByRole("alert").getByText("There is no such page").waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
  }
  await arrive(mem, `/settings/workspaces/${world.home.id}`);
  await page.getByRole("alert").getByText("There is no such page").waitFor();
  expect(complaints).toEqual([]);
  await close();
  const bob = await world.open("bob");
  await bob.page.goto(`/settings/workspaces/${world.home.id}`);
  await bob.page.getByRole("alert").getByText("There is no such workspace").waitFor();
  await arrive(bob, `/settings/members?ws=${world.home.id}`);
  await bob.page.getByRole("alert").getByText("There is no such page").waitFor();
  await bob.close();
});

it.skipIf(!isLong)(
  "markup in names is shown as text in members, workspaces and the audit log",
  async () => {
    const markup = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;
    const { id } = world.must(await world.root.call("POST", "/workspaces", { name: markup }));
    const { page, complaints, close } = await world.open("root");
    for (const path of ["workspaces", `members?ws=${id}`, `workspaces/${id}`, "audit"]) {
      await page.goto(`/settings/${path}`);
      await page.getByText(markup).filter({ visible: true }).first().waitFor();
    }
    await button(page, "Filter").waitFor();
    expect(complaints).toEqual([]);
    expect(await seriousFindings(page)).toEqual([]);
    await close();
  },
);

it("an invited user opens the link, joins with a password and is signed in; the link works once", async () => {
  const ann = await world.open("ann");
  await ann.page.goto("/settings/members");
  await button(ann.page, "Invite").click();
  await ann.page.getByLabel("E-mail").fill("new-joiner@example.com");
  await ann.page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const link = await ann.page.getByText(/^http.*gw_inv_/).innerText();
  expect(new URL(link)).toMatchObject({ pathname: "/join", origin: world.gateway.url });
  await ann.close();

  const { page, complaints, close } = await world.open("nobody");
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(request.url()));
  await page.goto(link);
  await page.getByText("You are invited to home of home.").waitFor();
  expect(await page.getByRole("button", { name: /Join as/ }).count()).toBe(0);
  // Neither the page nor the API was requested with the token in an address.
  expect(asked[0]).toBe(`${world.gateway.url}/join`);
  expect(asked.filter((url) => url.includes("gw_inv_"))).toEqual([]);
  await page.getByLabel("Password", { exact: true }).fill("short");
  await button(page, "Join").click();
  await page.getByLabel("Password", { exact: true }).fill("a password of my own");
  await button(page, "Join").click();
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  const again = await world.open("mem");
  await again.page.goto(link);
  await again.page.getByRole("alert").getByText("This invitation is not valid").waitFor();
  await again.page.goto("/join");
  await again.page.getByRole("alert").getByText("This invitation is not valid").waitFor();
  await again.page.goto("/join#gw_inv_%00../../me");
  await again.page.getByRole("alert").getByText("This invitation is not valid").waitFor();
  expect([...complaints, ...again.complaints]).toEqual([]);
  await again.close();
  await close();
});

it.skipIf(!isLong)("a user with an account joins another workspace with that account", async () => {
  const { invitation } = world.must(
    await world.root.call("POST", `/workspaces/${world.away.id}/members`, {
      email: "mel-there@example.com",
      role: "member",
    }),
  );
  const token = invitation.url.split("#").at(-1);
  const { page, complaints, close } = await visit({
    url: world.gateway.url,
    cookie: world.mel.cookie,
  });
  await page.goto(`/join#${token}`);
  await button(page, "Join as mel@example.com").click();
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  const { json } = await world.mel.call("GET", "/me");
  const places = json.memberships.map((one: { workspace_id: string }) => one.workspace_id);
  expect(places.toSorted()).toEqual([world.home.id, world.away.id].toSorted());
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "admins see the alerts of caps, members those of their own keys, and users of another workspace none",
  async () => {
    const { id, key } = world.must(
      await world.mem.call("POST", "/keys", {
        workspace_id: world.home.id,
        name: "near its cap",
        spend_caps: { total: "0.000001", weekly: "0.000001" },
      }),
    );
    await world.chat(key);
    type Alert = { layer_id: string; window: string; threshold: number };
    const alertsOf = async (who: "ann" | "mem" | "mel" | "bob" | "root", query = "") =>
      (world.must(await world[who].call("GET", `/alerts?${query}`)).data as Alert[])
        .filter(({ layer_id }) => layer_id === id)
        .map(({ window, threshold }) => `${window} ${threshold}`)
        .sort();
    const all = ["total 100", "total 50", "total 80", "weekly 100", "weekly 50", "weekly 80"];
    await expect.poll(() => alertsOf("ann")).toEqual(all);
    expect(await alertsOf("mem")).toEqual(all);
    expect(await alertsOf("root", `workspace_id=${world.home.id}`)).toEqual(all);
    expect(await alertsOf("mel")).toEqual([]);
    expect(await alertsOf("bob")).toEqual([]);
    expect(await alertsOf("bob", `workspace_id=${world.home.id}`)).toEqual([]);
    const paged: string[] = [];
    let cursor = "";
    do {
      const { json } = await world.mem.call("GET", `/alerts?limit=1${cursor}`);
      paged.push(...json.data.map((one: { id: string }) => one.id));
      cursor = json.next_cursor === null ? "" : `&cursor=${json.next_cursor}`;
    } while (cursor !== "");
    expect(new Set(paged).size).toBe(all.length);
    expect(paged.length).toBe(all.length);
    for (const bad of ["x", "1_2", "9999999999999_'; drop table spend_alerts; --"]) {
      const { status, json } = await world.ann.call(
        "GET",
        `/alerts?cursor=${encodeURIComponent(bad)}`,
      );
      expect({ status, param: json.error.param }).toEqual({ status: 400, param: "cursor" });
    }
    const { page, complaints, close } = await world.open("ann");
    await page.goto("/settings/alerts");
    await page.getByRole("row", { name: /key near its cap total reached/ }).waitFor();
    await page.getByRole("link", { name: "key near its cap" }).first().click();
    await page.getByRole("heading", { name: "Key near its cap" }).waitFor();
    await page
      .getByText(/^reached/)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

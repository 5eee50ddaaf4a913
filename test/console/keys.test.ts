/** Keys in the console, in a real browser, by people in every role. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Person } from "../admin/people.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import { findingsOnTheWay } from "./axe.ts";
import { overflowing } from "./beyond.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld();
});
afterAll(() => world.close());

/** A new key of a person in the workspace `home`: its record and its value. */
const newKey = async (person: Person, name: string, more: object = {}) =>
  world.must(
    await person.call("POST", "/keys", { workspace_id: world.home.id, name, ...more }),
  ) as { id: string; key: string; name: string };
const statusOf = async (id: string): Promise<unknown> =>
  (await world.root.call("GET", `/keys/${id}`)).json.status;
/** Makes a call with a key. */
const ask = (key: string) =>
  fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] }),
  });
const toast = (page: Page, text: string) => page.getByRole("alert").filter({ hasText: text });

it("a key is disabled with one click, and Undo enables it again", async () => {
  const { id } = await newKey(world.mem, "leaky");
  const { page, complaints, close } = await world.open("mem");
  await page.goto(`/keys/${id}`);
  // The browser's opinion about its network delays nothing: the gateway may be on this machine. The page shows refusals.
  await page.getByRole("button", { name: "Disable" }).waitFor();
  await page.evaluate("dispatchEvent(new Event('offline'))");
  await page.route("**/disable", (route) => route.fulfill({ status: 403, json: {} }));
  await page.getByRole("button", { name: "Disable" }).click();
  await toast(page, "leaky is not disabled.").getByText("The gateway answered 403.").waitFor();
  await page.unroute("**/disable");
  await page.getByRole("button", { name: "Disable" }).click();
  await toast(page, "leaky is disabled").waitFor();
  expect(await statusOf(id)).toBe("disabled");
  await page.getByRole("button", { name: "Undo" }).click();
  await toast(page, "Undone").waitFor();
  await page.getByRole("button", { name: "Disable" }).waitFor();
  expect(await statusOf(id)).toBe("active");
  expect(complaints).toEqual([]);
  await close();
});

it("only an admin is offered to enable a key that an admin disabled, not its owner", async () => {
  const { id } = await newKey(world.mem, "stopped");
  world.must(await world.ann.call("POST", `/keys/${id}/disable`, {}));
  const enable = (page: Page) => page.getByRole("button", { name: "Enable" });
  const owner = await world.open("mem");
  await owner.page.goto(`/keys/${id}`);
  await owner.page.getByRole("button", { name: "Revoke" }).waitFor();
  expect(await enable(owner.page).count()).toBe(0);
  const admin = await world.open("ann");
  await admin.page.goto(`/keys/${id}`);
  await enable(admin.page).click();
  await toast(admin.page, "stopped works again").waitFor();
  expect([...owner.complaints, ...admin.complaints]).toEqual([]);
  await Promise.all([owner.close(), admin.close()]);
});

it.skipIf(!isLong)(
  "Undo changes nothing if another user changed the key in the meantime, and says so",
  async () => {
    const { id } = await newKey(world.mem, "contested");
    const { page, complaints, close } = await world.open("mem");
    await page.goto(`/keys/${id}`);
    await page.getByRole("button", { name: "Disable" }).click();
    await toast(page, "contested is disabled").waitFor();
    world.must(await world.ann.call("PATCH", `/keys/${id}`, { name: "contested by ann" }));
    await page.getByRole("button", { name: "Undo" }).click();
    await toast(page, "The object was changed since you read it").waitFor();
    expect(await statusOf(id)).toBe("disabled");
    expect(complaints).toEqual([]);
    await close();
  },
);

it("a key is revoked only after its name is typed", async () => {
  const { id } = await newKey(world.mem, "old  one");
  const { page, complaints, close } = await world.open("mem");
  await page.goto("/keys");
  const row = page.getByRole("link", { name: "old one" });
  await row.click();
  await page.getByRole("button", { name: "Revoke" }).click();
  const dialog = page.getByRole("dialog", { name: "Revoke key" });
  // Back closes the dialog about a key that is no longer shown.
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  await row.click();
  await page.getByRole("button", { name: "Revoke" }).click();
  await expect.poll(() => page.locator(":focus").innerText()).toBe("Cancel");
  const typed = dialog.getByLabel("Type old one to confirm");
  await typed.fill("old");
  expect(await dialog.getByRole("button", { name: "Revoke key" }).isDisabled()).toBe(true);
  await typed.press("Enter");
  await typed.fill("old one");
  expect(await statusOf(id)).toBe("active");
  await typed.press("Enter");
  await toast(page, "is revoked").waitFor();
  expect(await statusOf(id)).toBe("revoked");
  await expect.poll(() => page.getByRole("button", { name: /able|Revoke/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)("a key is created in three clicks, and its value can be copied", async () => {
  const { page, complaints, close } = await world.open("mem");
  await page.goto("/keys");
  let clicks = 0;
  const click = async (name: string) => {
    await page.getByRole("button", { name, exact: true }).click();
    clicks += 1;
  };
  await click("New key");
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name").fill("three clicks");
  expect(await dialog.getByLabel("For").count()).toBe(0);
  await click("Create");
  await page.getByText(/^gw_live_\w{20,}$/).waitFor();
  await click("Copy the key");
  expect(clicks).toBe(3);
  await page.getByRole("link", { name: "Open in Start" }).click();
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  const { json } = await world.mem.call("GET", "/keys?q=three%20clicks");
  expect(json.data).toMatchObject([{ name: "three clicks", created_by: world.mem.userId }]);
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "a workspace admin creates a key with caps for a member; an error of the API is shown at its field",
  async () => {
    const { page, complaints, close } = await world.open("ann");
    await page.goto("/keys?new=1");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("for mel");
    await dialog.getByRole("combobox", { name: "For" }).click();
    await page.getByRole("option", { name: "mel@example.com" }).click();
    await dialog.getByLabel("Daily cap (USD)").fill("five");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("Enter an amount such as 5 or 0.50").waitFor();
    // A slip of the pointer loses nothing.
    await page.mouse.click(5, 5);
    await dialog.getByLabel("Daily cap (USD)").fill("5.00");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("for mel@example.com").waitFor();
    expect(await dialog.getByRole("link", { name: "Open in Start" }).count()).toBe(0);
    const { json } = await world.mel.call("GET", "/keys?limit=1");
    expect(json.data).toMatchObject([{ name: "for mel", spend_caps: { daily: "5" } }]);
    expect(complaints).toEqual([]);
    await close();
  },
);

it("a leaked key is found by its last four characters, disabled, inspected and rotated", async () => {
  const { id, key } = await newKey(world.ann, "leaked");
  await world.chat(key);
  const { page, complaints, close } = await world.open("ann");
  await page.goto("/keys");
  let clicks = 0;
  const click = async (role: "button" | "link" | "radio" | "tab", name: string) => {
    await page.getByRole(role, { name, exact: true }).click();
    clicks += 1;
  };
  await page.getByLabel("Name or last four characters").fill(key.slice(-4));
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/keys?q=${key.slice(-4)}`);
  await click("link", "leaked");
  await click("button", "Disable");
  await toast(page, "leaked is disabled").waitFor();
  expect(clicks).toBe(2);
  expect((await ask(key)).status).toBe(401);
  await page.getByRole("table", { name: "Use by model" }).getByText("sandbox/chat").waitFor();
  await page.getByRole("table", { name: "Use by hour" }).waitFor();
  const from = page.getByRole("table", { name: "Used from" });
  await from.getByRole("cell", { name: "127.0.0.1" }).waitFor();
  await from.getByRole("cell", { name: "node", exact: true }).waitFor();
  await click("button", "Rotate");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate key" }).click();
  const value = await page
    .getByRole("region", { name: "the key" })
    .getByText(/^gw_live_/)
    .innerText();
  expect(value).not.toBe(key);
  await click("button", "Enable");
  await toast(page, "leaked works again").waitFor();
  expect((await ask(key)).status).toBe(401);
  expect((await ask(value)).status).toBe(200);
  await click("tab", "History");
  const history = page.getByRole("table", { name: "Audit log, newest first" });
  for (const action of ["key.enable", "key.rotate", "key.disable", "key.create"])
    await history.getByRole("cell", { name: action, exact: true }).waitFor();
  await history.getByText("status: active → disabled").waitFor();
  expect(await history.innerText()).not.toContain(value);
  expect(await statusOf(id)).toBe("active");
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)("a revealed value is hidden when the tab is left", async () => {
  const { id, key } = await newKey(world.mem, "shown");
  const { page, complaints, close } = await world.open("mem");
  await page.goto(`/keys/${id}`);
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.getByText(key).waitFor();
  await page.evaluate(
    "Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true }); document.dispatchEvent(new Event('visibilitychange'))",
  );
  await page.getByText(key).waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "caps are shown as bars, a change can be undone, and the second of two concurrent editors chooses between both changes",
  async () => {
    const { id, key } = await newKey(world.mem, "capped", { spend_caps: { daily: "0.001" } });
    await world.chat(key);
    const { page, complaints, close } = await world.open("ann");
    await page.goto(`/keys/${id}?tab=caps`);
    await page.getByText(/^(reached|0\.\d+ left), resets in \d+ [hm]/).waitFor();
    const daily = page.getByLabel("Daily cap (USD)");
    await daily.fill("2.50");
    await page.getByText("Unsaved changes").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await toast(page, "Saved.").waitFor();
    const capOf = async () => (await world.ann.call("GET", `/keys/${id}`)).json.spend_caps.daily;
    expect(await capOf()).toBe("2.5");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(capOf).toBe("0.001");
    await expect.poll(() => daily.inputValue()).toBe("0.001");
    await daily.fill("3");
    world.must(await world.root.call("PATCH", `/keys/${id}`, { spend_caps: { daily: "4" } }));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Changed by another person" });
    await dialog.getByRole("row", { name: "spend_caps.daily 0.001 4 3" }).waitFor();
    await dialog.getByRole("button", { name: "Take theirs" }).click();
    await expect.poll(() => daily.inputValue()).toBe("4");
    await daily.fill("3");
    world.must(await world.root.call("PATCH", `/keys/${id}`, { name: "renamed" }));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await dialog.getByRole("button", { name: "Save mine" }).click();
    await expect.poll(capOf).toBe("3");
    expect(complaints).toEqual([]);
    await close();
  },
);

it("a minus sign in place of a limit is not taken for no limit", async () => {
  const rate_limits = { requests_per_minute: 5 };
  const { id } = await newKey(world.ann, "kept", { rate_limits });
  const { page, close } = await world.open("ann");
  await page.goto(`/keys/${id}?tab=caps`);
  const field = page.getByLabel("Requests per minute");
  await field.fill("");
  await field.pressSequentially("-7");
  await field.press("Enter");
  await toast(page, "Saved.").waitFor();
  expect((await world.ann.call("GET", `/keys/${id}`)).json.rate_limits).toMatchObject({
    requests_per_minute: 7,
  });
  await field.fill("");
  await field.press("-");
  expect(await field.inputValue()).toBe("");
  await close();
});

it("a member who switches the response cache off is offered no Undo, which would be refused; an admin is", async () => {
  const { id } = await newKey(world.mem, "cached");
  for (const who of ["mem", "ann"] as const) {
    const response_cache = { ttl_seconds: 60, charge_percent: 0 };
    world.must(await world.ann.call("PATCH", `/keys/${id}`, { response_cache }));
    const { page, close } = await world.open(who);
    await page.goto(`/keys/${id}?tab=caps`);
    await page.getByLabel("Response cache (seconds)").fill("");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const saved = toast(page, "Saved.");
    await saved.waitFor();
    const undos = await saved.getByRole("button", { name: "Undo" }).count();
    expect({ who, undos }).toEqual({ who, undos: who === "ann" ? 1 : 0 });
    await close();
  }
});

it("a limit of 0 is refused at its field, not saved as 1", async () => {
  const { id } = await newKey(world.ann, "limited");
  const { page, complaints, close } = await world.open("ann");
  await page.goto(`/keys/${id}?tab=caps`);
  await page.getByLabel("Requests per minute").fill("0");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("`rate_limits.requests_per_minute` must be >= 1.").waitFor();
  expect((await world.ann.call("GET", `/keys/${id}`)).json.rate_limits).toBeNull();
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)(
  "a member limits the concurrent calls of a key, and gets an error in the form for raising a cap",
  async () => {
    const { id } = await newKey(world.mem, "lowered", { spend_caps: { daily: "5" } });
    const { page, complaints, close } = await world.open("mem");
    await page.goto(`/keys/${id}?tab=caps`);
    await page.getByText("Only a workspace admin can raise one").waitFor();
    await page.getByLabel("Concurrent calls").fill("2");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await toast(page, "Saved.").waitFor();
    expect((await world.mem.call("GET", `/keys/${id}`)).json.rate_limits).toMatchObject({
      requests_per_minute: null,
      concurrency: 2,
    });
    await page.getByLabel("Daily cap (USD)").fill("9");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").getByText("does not allow key.loosen_spend_caps").waitFor();
    expect(await page.getByRole("tab", { name: "History" }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)(
  "the routing form previews where a call would go, and marks models out of scope",
  async () => {
    const { id } = await newKey(world.ann, "routed", {
      model_allowlist: ["sandbox/multi", "gone/x"],
    });
    const { page, complaints, close } = await world.open("ann");
    await page.goto(`/keys/${id}?tab=routing`);
    await page.getByRole("combobox", { name: "Model", exact: true }).click();
    await page.getByRole("option", { name: "sandbox/multi" }).click();
    const preview = page.getByRole("table", { name: "Where it would go" });
    await preview.getByRole("row", { name: /sandbox-anthropic\/messages.*number/ }).waitFor();
    await page.getByRole("switch", { name: "Own routing" }).click();
    await page.getByRole("combobox", { name: "Only these providers" }).click();
    await page.getByRole("option", { name: "sandbox-google" }).click();
    await preview.getByRole("row", { name: /sandbox-anthropic.*not among the pinned/ }).waitFor();
    await preview.getByRole("row", { name: /sandbox-google.*number 1/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await toast(page, "Saved.").waitFor();
    const { json } = await world.ann.call("GET", `/keys/${id}`);
    expect(json.routing).toMatchObject({ mode: "custom", pinned_providers: ["sandbox-google"] });
    await page.getByRole("tab", { name: "Models" }).click();
    await page.getByRole("note").locator("s", { hasText: "gone/x" }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

it.skipIf(!isLong)("a member sees only their own keys, and no other by its address", async () => {
  const { id } = await newKey(world.ann, "of ann");
  const { page, complaints, close } = await world.open("mem");
  await page.goto("/keys?sort=name&status=active");
  await page.getByRole("link", { name: "three clicks" }).waitFor();
  expect(await page.getByRole("link", { name: "of ann" }).count()).toBe(0);
  expect(await page.getByRole("combobox", { name: "Owner" }).count()).toBe(0);
  await page.goto("/keys?q=of%20ann");
  await page.getByText("No keys match these filters.").waitFor();
  for (const tab of ["use", "caps", "routing"]) {
    await page.goto(`/keys/${id}?tab=${tab}`);
    await page.getByRole("alert").getByText("There is no such key").waitFor();
  }
  expect(complaints).toEqual([]);
  await close();
});

it("a key's tabs and the dialog of a new key are accessible, also on a phone", async () => {
  const { id } = await newKey(world.ann, "looked at", {
    spend_caps: { daily: "0.001", monthly: "10" },
    model_allowlist: ["sandbox/chat", "gone/x"],
  });
  const { page, settled, complaints, close } = await world.open("root");
  const tabs = shortOrLong(["caps"], ["caps", "models", "routing", "history"]);
  for (const path of ["/keys?new=1", ...tabs.map((tab) => `/keys/${id}?tab=${tab}`)]) {
    await arrive({ page, settled }, path);
    expect({ path, found: await findingsOnTheWay(page) }).toEqual({ path, found: [] });
    await page.setViewportSize({ width: 390, height: 800 });
    await settled();
    // A page that was made narrower adapts after a moment.
    await expect.poll(() => overflowing(page), { message: path }).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  expect(complaints).toEqual([]);
  await close();
});

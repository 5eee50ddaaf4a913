/** Text typed or shown on a page belongs to its object, and stays until it is saved or given up. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { providerBody } from "../providers/support.ts";
import { patiently } from "../support/patience.ts";
import { holdAnswers } from "./held.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => void (world = await startConsoleWorld()));
afterAll(() => world.close());

/** Opens another page of the console by keyboard. */
async function jump(page: Page, text: string, title: string): Promise<void> {
  const search = page.getByPlaceholder("Search or jump");
  await page.keyboard.press("Control+k");
  await search.fill(text);
  await page.locator("[data-selected]", { hasText: text }).waitFor();
  await page.keyboard.press("Enter");
  await search.waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
}

it("a revealed value is not shown on the page of another key", async () => {
  const { must, mem, home } = world;
  const made = ["one", "other"].map(async (name) =>
    must(await mem.call("POST", "/keys", { workspace_id: home.id, name })),
  );
  const [one, other] = await Promise.all(made);
  const { page, complaints, close } = await world.open("mem");
  // The browser keeps what it has read of a visited key: its page then shows at once.
  await page.goto(`/keys/${String(other!["id"])}`);
  await page.getByRole("heading", { level: 1, name: "Key other" }).waitFor();
  await jump(page, String(one!["id"]), "Key one");
  await page.getByRole("button", { name: "Reveal" }).click();
  const value = page.getByRole("region", { name: "the key", exact: true });
  await value.waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Key other" }).waitFor();
  await expect.poll(() => value.count(), patiently).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

it("text that is typed for one provider is not added to another", async () => {
  const { must, root } = world;
  for (const id of ["north", "south"])
    must(await root.call("POST", "/providers", providerBody(id, "https://8.8.8.8")));
  const { page, complaints, close } = await world.open("root");
  await page.goto("/providers/south");
  await page.getByLabel("Address").waitFor();
  await jump(page, "north", "north");
  await page.getByLabel("Name of the key").fill("second");
  await page.getByLabel("Address").fill("https://8.8.4.4/v1");
  await page.goBack();
  await page.getByRole("button", { name: "Leave and discard" }).click();
  await page.getByRole("heading", { level: 1, name: "south", exact: true }).waitFor();
  await expect.poll(() => page.getByLabel("Name of the key").inputValue(), patiently).toBe("");
  await expect
    .poll(() => page.getByLabel("Address").inputValue(), patiently)
    .toBe("https://8.8.8.8/v1");
  expect(complaints).toEqual([]);
  await close();
});

/** Fills a field, saves, and fills another one while the answer is on its way. */
async function typeWhileSaving(page: Page, path: string, [first, later]: readonly Typed[]) {
  const isChange = ({ pathname }: URL) => pathname === `/admin/v1${path}`;
  await page.getByLabel(first!.label).fill(first!.text);
  const late = await holdAnswers(page, isChange);
  await page.getByRole("button", { name: /^Save/ }).click();
  await late.asked();
  await page.getByLabel(later!.label).fill(later!.text);
  await late.release();
  await page.getByRole("alert").getByText("Saved.").waitFor();
  await expect.poll(() => page.getByLabel(later!.label).inputValue(), patiently).toBe(later!.text);
  await page.getByRole("button", { name: /^Save/ }).click();
}

interface Typed {
  readonly label: string;
  readonly text: string;
}

it("text that is typed while a form is saved stays in the form, and is saved with the next click", async () => {
  const { must, root, home } = world;
  const { id } = must(await root.call("POST", "/keys", { workspace_id: home.id, name: "typed" }));
  const { page, complaints, close } = await world.open("root");
  await page.goto(`/keys/${String(id)}?tab=caps`);
  await typeWhileSaving(page, `/keys/${String(id)}`, [
    { label: "Daily cap (USD)", text: "5" },
    { label: "Requests per minute", text: "60" },
  ]);
  const read = async () => must(await root.call("GET", `/keys/${String(id)}`));
  await expect.poll(async () => (await read())["rate_limits"], patiently).not.toBeNull();
  expect(await read()).toMatchObject({
    spend_caps: { daily: "5" },
    rate_limits: { requests_per_minute: 60 },
  });
  expect(complaints).toEqual([]);
  await close();
});

it("text that is typed while a provider is saved stays in the form, and is saved with the next click", async () => {
  const { must, root } = world;
  must(await root.call("POST", "/providers", providerBody("east", "https://8.8.8.8")));
  const { page, complaints, close } = await world.open("root");
  await page.goto("/providers/east");
  await page.getByRole("combobox", { name: "Supply tier" }).click();
  await page.getByRole("option", { name: "partner" }).click();
  await typeWhileSaving(page, "/providers/east", [
    { label: "Address", text: "https://8.8.4.4/v1" },
    { label: "Address", text: "https://1.1.1.1/v1" },
  ]);
  const read = async () => must(await root.call("GET", "/providers/east"));
  await expect.poll(async () => (await read())["base_url"], patiently).toBe("https://1.1.1.1/v1");
  expect((await read())["tier"]).toBe("partner");
  expect(complaints).toEqual([]);
  await close();
});

it("a member is asked about once, however often Remove is clicked, and not on another page", async () => {
  const { mem, home } = world;
  const { page, complaints, settled, close } = await world.open("root");
  const removal = page.getByRole("dialog", { name: "Remove member" });
  const remove = page.getByRole("button", { name: "Remove mem@example.com" });
  const isMember = ({ pathname }: URL) => pathname.endsWith(`/members/${mem.userId}`);
  await page.goto(`/settings/members?ws=${home.id}`);
  let late = await holdAnswers(page, isMember);
  await remove.click({ clickCount: 2 });
  await expect.poll(late.count, patiently).toBe(2);
  await late.release();
  await removal.waitFor();
  await settled();
  await page.keyboard.press("Escape");
  await removal.waitFor({ state: "detached" });
  late = await holdAnswers(page, isMember);
  await remove.click();
  await late.asked();
  await jump(page, "Keys", "Keys");
  await late.release();
  await settled();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

it("another organization is not shown in place of unsaved changes without a question", async () => {
  const { must, root } = world;
  must(await root.call("POST", "/organizations", { name: "Second" }));
  const { page, complaints, close } = await world.open("root");
  await page.goto("/settings/organization");
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Renamed");
  await page.getByRole("combobox", { name: "Organization", exact: true }).fill("Second");
  await page.getByRole("option", { name: "Second" }).click();
  await page.getByRole("button", { name: "Stay" }).click();
  expect(await name.inputValue()).toBe("Renamed");
  await page.getByRole("combobox", { name: "Organization", exact: true }).fill("Second");
  await page.getByRole("option", { name: "Second" }).click();
  await page.getByRole("button", { name: "Leave and discard" }).click();
  await expect.poll(() => name.inputValue(), patiently).toBe("Second");
  await page.reload();
  await expect.poll(() => name.inputValue(), patiently).toBe("Second");
  expect(complaints).toEqual([]);
  await close();
});

it("typed text stays when the times are switched to UTC", async () => {
  const { must, root, home } = world;
  const { id } = must(await root.call("POST", "/keys", { workspace_id: home.id, name: "times" }));
  const { page, complaints, close } = await world.open("root");
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kolkata" });
  await page.goto(`/keys/${String(id)}?tab=caps&tz=local`);
  const cap = page.getByLabel("Daily cap (USD)");
  await cap.fill("5");
  const created = page.getByText(/^created /);
  const before = await created.innerText();
  const utc = page.getByRole("button", { name: "UTC", exact: true });
  await utc.click();
  await expect.poll(() => created.innerText(), patiently).not.toBe(before);
  expect(await cap.inputValue()).toBe("5");
  await utc.click();
  await expect.poll(() => created.innerText(), patiently).toBe(before);
  await devtools.detach();
  expect(complaints).toEqual([]);
  await close();
});

it("an admin who changes one limit of a key, with Undo, does not bind its owner's other limits", async () => {
  const { must, mem, ann, home } = world;
  const limits = { requests_per_minute: 10 };
  const made = { workspace_id: home.id, name: "own", rate_limits: limits };
  const { id } = must(await mem.call("POST", "/keys", made));
  const path = `/keys/${String(id)}`;
  const { page, complaints, close } = await world.open("ann");
  await page.goto(`${path}?tab=caps`);
  await page.getByLabel("Concurrent calls").fill("3");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const read = async () => must(await ann.call("GET", path))["rate_limits"];
  await expect.poll(read, patiently).toMatchObject({ ...limits, concurrency: 3 });
  must(await mem.call("PATCH", path, { rate_limits: { requests_per_minute: 20 } }));
  await page.reload();
  await page.getByLabel("Concurrent calls").fill("2");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  expect(await read()).toMatchObject({ requests_per_minute: 20, concurrency: 3 });
  must(await mem.call("PATCH", path, { rate_limits: { requests_per_minute: 30 } }));
  expect(complaints).toEqual([]);
  await close();
});

it("the dialog of a credit stays until the answer comes, so that the credit is not added twice", async () => {
  const { must, root, home } = world;
  const { page, complaints, close } = await world.open("root");
  await page.goto(`/money?ws=${home.id}`);
  await page.getByRole("button", { name: "Add credit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount (USD)").fill("25");
  await dialog.getByRole("button", { name: "Continue" }).click();
  const late = await holdAnswers(page, ({ pathname }) => pathname.endsWith("/credits"));
  await dialog.getByRole("button", { name: "Add 25 USD" }).click();
  await late.asked();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Close" }).click();
  expect(await dialog.getByText("Available after it:").count()).toBe(1);
  await late.release();
  await page.getByText("The credit is in the ledger.").waitFor();
  await dialog.waitFor({ state: "detached" });
  const { data } = must(await root.call("GET", `/workspaces/${home.id}/ledger?kind=credit`));
  expect((data as { amount: string }[]).filter(({ amount }) => amount === "25")).toHaveLength(1);
  expect(complaints).toEqual([]);
  await close();
});

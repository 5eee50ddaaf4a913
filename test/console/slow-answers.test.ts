/** Answers that are slow or never come: the page says so, and typed text is not lost. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { patiently } from "../support/patience.ts";
import { holdAnswers } from "./held.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
});
afterAll(() => world.close());

const atPath = (path: string) => (url: URL) => url.pathname === `/admin/v1${path}`;

it("a page with slow data says so, after ten seconds also what it waits for, and on a phone completely above the menu bar", async () => {
  const { page, close } = await world.open("root");
  await page.clock.install();
  const keys = await holdAnswers(page, atPath("/keys"));
  await page.goto("/keys");
  await keys.asked();
  const progress = page.getByRole("status", { name: "Progress" });
  await page.clock.runFor(500);
  await expect.poll(() => progress.innerText(), patiently).toBe("Loading");
  await page.clock.runFor(10_000);
  await expect.poll(() => progress.innerText(), patiently).toBe("Still waiting for the gateway");
  await page.setViewportSize({ width: 390, height: 800 });
  await expect
    .poll(async () => {
      const [box, bar] = [await progress.boundingBox(), await page.locator("footer").boundingBox()];
      return box!.width > 150 && bar !== null && box!.y + box!.height <= bar.y + 1;
    }, patiently)
    .toBe(true);
  await keys.release();
  await expect.poll(() => progress.innerText(), patiently).toBe("");
  await close();
});

it("a waiting page has no animation if its reader prefers reduced motion, and has one otherwise", async () => {
  const { page, close } = await world.open("root");
  const usage = await holdAnswers(page, atPath("/usage"));
  await page.goto("/overview");
  await usage.asked();
  await page.locator("main .mantine-Skeleton-root").first().waitFor();
  const moving = () => page.evaluate<number>("document.getAnimations().length");
  await expect.poll(moving).toBe(0);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await expect.poll(moving).toBeGreaterThan(0);
  await usage.release();
  await close();
});

it("copying is announced to screen readers", async () => {
  await world.keyOf(world.root, world.home.id);
  const { page, close } = await world.open("root");
  await page.goto("/start");
  const copy = page.getByRole("button", { name: "Copy the base URL" });
  await copy.click();
  const said = page.getByRole("status").filter({ hasText: /^Copied$/ });
  await expect.poll(() => said.count(), patiently).toBe(1);
  await close();
});

it("a read without an answer fails after a minute, and can be tried again", async () => {
  const { page, close } = await world.open("root");
  await page.clock.install();
  const keys = await holdAnswers(page, atPath("/keys"));
  await page.goto("/keys");
  await keys.asked();
  await page.clock.runFor(61_000);
  // On a busy machine other reads may have been in flight when the clock advanced.
  const alert = page
    .getByRole("alert")
    .filter({ hasText: /Keys could not be read.*did not answer within 60 seconds/s });
  await alert.waitFor();
  const waiting = page.locator("main .mantine-Skeleton-root");
  await expect.poll(() => waiting.count(), patiently).toBe(0);
  const before = keys.count();
  await keys.release();
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => alert.count(), patiently).toBe(0);
  expect(before).toBe(1);
  await close();
});

it("a button without effect so far is disabled: Invite waits for the workspace", async () => {
  const { page, close } = await world.open("root");
  const workspaces = await holdAnswers(page, atPath("/workspaces"));
  await page.goto("/settings/members");
  await workspaces.asked();
  const invite = page.getByRole("button", { name: "Invite", exact: true });
  await invite.waitFor();
  expect(await invite.isDisabled()).toBe(true);
  await workspaces.release();
  await invite.click();
  await page.getByRole("dialog").getByLabel("E-mail").waitFor();
  await close();
});

it("a page whose code loads slowly says so in its place", async () => {
  const { page, close } = await world.open("root");
  await page.goto("/start");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.clock.install();
  const part = await holdAnswers(page, ({ pathname }) => pathname.startsWith("/assets/"));
  await page.getByRole("link", { name: "Money", exact: true }).click();
  await part.asked();
  await page.clock.runFor(1_500);
  await page.locator("main").getByRole("status").getByText("Loading").waitFor();
  expect(await page.getByRole("heading", { level: 1 }).count()).toBe(0);
  await part.release();
  await page.getByRole("heading", { level: 1, name: "Money" }).waitFor();
  await close();
});

it("a playground question without an answer returns to its field", async () => {
  await world.keyOf(world.root, world.home.id);
  const { page, close } = await world.open("root");
  await page.goto("/playground");
  const field = page.getByLabel("You", { exact: true });
  await page.route("**/v1/chat/completions", (route) => route.abort());
  await page.route("**/v1/messages", (route) => route.abort());
  await field.fill("A long question.");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("The gateway cannot be reached.").waitFor();
  await expect.poll(() => field.inputValue(), patiently).toBe("A long question.");
  await page.unrouteAll();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("link", { name: "request" }).first().waitFor();
  expect(await field.inputValue()).toBe("");
  await close();
});

it("a key field says that keys cannot be read, not that there are none", async () => {
  const { page, close } = await world.open("root");
  const message = "Not today.";
  await page.route(atPath("/keys"), (route) =>
    route.fulfill({ status: 403, json: { error: { message, code: "insufficient_permissions" } } }),
  );
  await page.goto("/requests");
  await page.getByRole("combobox", { name: "Key" }).click();
  await page.getByText(`Keys cannot be read: ${message}`).waitFor();
  expect(await page.getByText("No such key").count()).toBe(0);
  await page.unrouteAll();
  await close();
});

it("a click beside the form of a new provider keeps typed text, and so does a look at another form", async () => {
  const { page, close } = await world.open("root");
  await page.goto("/providers?add=1");
  const dialog = page.getByRole("dialog", { name: "Add provider" });
  const key = page.getByRole("tabpanel").getByLabel("Key", { exact: true });
  await key.fill("sk-pasted");
  await page.mouse.click(5, 400);
  expect(await key.inputValue()).toBe("sk-pasted");
  expect(await dialog.count()).toBe(1);
  const typed = async (tab: string, label: string, text?: string): Promise<string> => {
    await page.getByRole("tab", { name: tab }).click();
    const field = page.getByRole("tabpanel").getByLabel(label, { exact: true });
    if (text !== undefined) await field.fill(text);
    return field.inputValue();
  };
  await typed("By hand", "Address", "https://api.example.com/v1");
  await typed("By hand", "Context (tokens)", "1000");
  await page.getByText("Models as JSON").click();
  const models = page.getByRole("tabpanel").getByRole("textbox", { name: "Models" });
  await models.fill("[]");
  expect((await models.boundingBox())!.height).toBeGreaterThan(100);
  expect(await typed("A known vendor", "Key")).toBe("sk-pasted");
  expect(await typed("By hand", "Address")).toBe("https://api.example.com/v1");
  expect(await models.inputValue()).toBe("[]");
  await page.getByText("A text model").click();
  expect(await typed("By hand", "Context (tokens)")).toBe("1000");
  await close();
});

it("Enter selects the first match, even if it arrived after the last letter", async () => {
  const { id } = await world.keyOf(world.root, world.home.id);
  world.must(await world.root.call("PATCH", `/keys/${id}`, { name: "late riser" }));
  const { page, close } = await world.open("root");
  const keys = await holdAnswers(page, atPath("/keys"));
  await page.goto("/requests");
  await keys.asked();
  await page.getByRole("combobox", { name: "Key" }).pressSequentially("late");
  await keys.release();
  await page.getByRole("option", { name: "late riser" }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url(), patiently).toContain(`key=${id}`);
  await close();
});

it("Enter selects the highlighted entry of a list that opened during typing", async () => {
  const { id } = await world.keyOf(world.root, world.home.id);
  world.must(await world.root.call("PATCH", `/keys/${id}`, { name: "early bird" }));
  const { page, settled, close } = await world.open("root");
  await page.goto("/requests");
  await settled();
  // The list opens at the first letter; all letters are typed before the browser does anything else.
  await page.evaluate(`(() => {
    document.querySelector("input[role=combobox][aria-label=Key]").focus();
    document.execCommand("insertText", false, "early");
  })()`);
  await page.getByRole("option", { name: "early bird" }).waitFor();
  await settled();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url(), patiently).toContain(`key=${id}`);
  await close();
});

it("a key's page shows that its usage and its history are loading", async () => {
  const { page, close } = await world.open("root");
  const { id } = await world.keyOf(world.root, world.home.id);
  const place = page.locator("[role=tabpanel] .mantine-Skeleton-root").filter({ visible: true });
  const onItsWay = async (path: string, open: () => Promise<unknown>) => {
    const read = await holdAnswers(page, atPath(path));
    await open();
    await read.asked();
    await expect.poll(() => place.count(), patiently).toBe(1);
    await read.release();
    await expect.poll(() => place.count(), patiently).toBe(0);
  };
  await onItsWay("/usage", () => page.goto(`/keys/${id}?tab=use`));
  await onItsWay("/audit", () => page.getByRole("tab", { name: "History" }).click());
  await close();
});

/** In the short form: a page that reads two things, one that waits for a key, a page of settings, and the page of one object. */
const waitingPages = shortOrLong(
  ["/start", "/playground", "/settings/members", "/keys/$id"],
  [
    "/start",
    "/playground",
    "/tasks",
    "/keys/$id",
    "/models/sandbox/chat",
    "/models/compare?ids=sandbox/chat,sandbox/messages",
    "/providers/sandbox-openai",
    "/money",
    "/settings/members",
    "/settings/workspaces",
    "/settings/organization",
    "/settings/callbacks",
    "/settings/alerts",
    "/settings/audit",
    "/settings/gateways",
    "/settings/hooks",
  ],
);

it.each(waitingPages)("%s is not empty while its data load", async (path) => {
  const { id } = await world.keyOf(world.root, world.home.id);
  const { page, settled, close } = await world.open("root");
  const reads = await holdAnswers(page, ({ pathname }) =>
    /^\/admin\/v1\/(?!me$|events$)/.test(pathname),
  );
  await page.goto(path.replace("$id", id));
  await page.getByRole("heading", { level: 1 }).waitFor();
  await reads.asked();
  const place = page.locator("main .mantine-Skeleton-root");
  await expect.poll(() => place.count(), patiently).toBeGreaterThan(0);
  await reads.release();
  await settled();
  expect(await place.count()).toBe(0);
  await close();
});

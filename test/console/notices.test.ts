/** Messages after a change, by the keyboard alone: Undo is reached in time, and the focus returns. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { patiently } from "../support/patience.ts";
import { interceptCalls, type Paused } from "./between.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => void (world = await startConsoleWorld()));
afterAll(() => world.close());

const focused = ({ page }: Visit) =>
  page.evaluate<string>("document.activeElement.ariaLabel ?? document.activeElement.textContent");

/** Opens the page of a new key, with the time of the page in the test's hands, and disables the key by keyboard. */
async function disableKey(visit: Visit) {
  const { page, settled } = visit;
  const { id } = await world.keyOf(world.root, world.home.id);
  await page.clock.install();
  await page.goto(`/keys/${id}`);
  await settled();
  await page.getByRole("button", { name: "Disable" }).press("Enter");
  const undo = page.getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await expect.poll(() => focused(visit), patiently).toBe("Enable");
  return { id, undo };
}

it("F8 moves to Undo, which stays while it has the focus, and gives the focus back when it is taken", async () => {
  const visit = await world.open("root");
  const { page, complaints, close } = visit;
  const { id, undo } = await disableKey(visit);
  const said = await page.getByRole("alert").filter({ has: undo }).innerText();
  expect(said).toContain("F8 moves to Undo.");
  await page.keyboard.press("F8");
  await expect.poll(() => focused(visit), patiently).toBe("Undo");
  await page.clock.runFor(30_000);
  expect(await undo.count()).toBe(1);
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "Undone." }).waitFor();
  const status = async () =>
    (await world.gateway.admin("GET", `/keys/${id}`)).json.status as string;
  await expect.poll(status, patiently).toBe("active");
  await expect.poll(() => focused(visit), patiently).toBe("Disable");
  expect(complaints).toEqual([]);
  await close();
});

it("Esc closes a message that has the focus; left by Tab, it closes after its time", async () => {
  const visit = await world.open("root");
  const { page, close } = visit;
  const { undo } = await disableKey(visit);
  await page.keyboard.press("F8");
  await expect.poll(() => focused(visit), patiently).toBe("Undo");
  await page.keyboard.press("Escape");
  await expect.poll(() => focused(visit), patiently).toBe("Enable");
  await page.clock.runFor(1_000);
  await expect.poll(() => undo.count(), patiently).toBe(0);
  await page.getByRole("button", { name: "Enable" }).press("Enter");
  await undo.waitFor();
  await page.keyboard.press("F8");
  await expect.poll(() => focused(visit), patiently).toBe("Undo");
  await page.keyboard.press("Shift+Tab");
  await page.clock.runFor(11_000);
  await expect.poll(() => undo.count(), patiently).toBe(0);
  await close();
});

it("Undo shows at once above five unclosed errors, of which none is lost", async () => {
  const visit = await world.open("root");
  const { page, close } = visit;
  const { id } = await world.keyOf(world.root, world.home.id);
  await page.goto(`/keys/${id}`);
  await page.route("**/disable", (route) => route.fulfill({ status: 403, json: {} }));
  const errors = page.getByRole("alert").filter({ hasText: "is not disabled." });
  for (let count = 1; count <= 5; count += 1) {
    await page.getByRole("button", { name: "Disable" }).click();
    await expect.poll(() => errors.count(), patiently).toBe(count);
  }
  await page.unroute("**/disable");
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.keyboard.press("F8");
  await expect.poll(() => focused(visit), patiently).toBe("Undo");
  await page.keyboard.press("Escape");
  await expect.poll(() => errors.count(), patiently).toBe(5);
  await close();
});

it("a refusal that comes after its dialog was closed is shown as a message", async () => {
  const { page, complaints, close } = await world.open("root");
  const { id } = await world.keyOf(world.root, world.home.id);
  await page.goto(`/keys/${id}`);
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("calls");
  const held: Paused[] = [];
  const path = `/admin/v1/keys/${id}/revoke`;
  const end = await interceptCalls(
    page,
    "Request",
    ({ pathname }) => pathname === path,
    (call) => held.push(call),
  );
  await dialog.getByRole("button", { name: "Revoke key" }).click();
  await expect.poll(() => held.length, patiently).toBe(1);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await held[0]!.answer(409, { error: { message: "Not now.", code: "conflict" } });
  const message = page.getByRole("alert").filter({ hasText: "Not done: Revoke key." });
  await expect.poll(() => message.innerText(), patiently).toContain("Not now.");
  await end();
  expect(complaints).toEqual([]);
  await close();
});

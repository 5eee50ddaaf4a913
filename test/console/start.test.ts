/** Start shows code for a model that the key may call. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { dayMs } from "../../src/base/durations.ts";
import { newId } from "../../src/base/ids.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => void (world = await startConsoleWorld({ sandbox: "on" })));
afterAll(() => world.close());

it("a model that the workspace keeps from its keys is not offered, and one that the address names is said to be", async () => {
  const { must, gateway, home, mem } = world;
  await world.keyOf(mem, home.id);
  const model_allowlist = ["sandbox/messages", "sandbox/responses"];
  must(await gateway.admin("PATCH", `/workspaces/${home.id}`, { model_allowlist }));
  const { page, complaints } = await world.open("mem");
  await page.goto("/start");
  const field = page.getByRole("combobox", { name: "Model" });
  await expect.poll(() => field.inputValue()).toBe("sandbox/responses");
  await field.click();
  await expect
    .poll(() => page.getByRole("option").allInnerTexts())
    .toEqual(["sandbox/responses", "sandbox/messages"]);
  const note = page.getByText("This key may not call");
  expect(await note.count()).toBe(0);
  await page.goto("/start?model=sandbox/chat");
  await expect
    .poll(() => note.innerText())
    .toBe("This key may not call sandbox/chat. The code is for sandbox/responses.");
  expect(complaints).toEqual([]);
});

it("Start and Keys say that a workspace is disabled, and so is each of its keys", async () => {
  const { must, gateway, home, mem } = world;
  const { id } = await world.keyOf(mem, home.id);
  const { page, complaints } = await world.open("mem");
  const status = (to: string) => gateway.admin("PATCH", `/workspaces/${home.id}`, { status: to });
  must(await status("disabled"));
  await page.goto("/start");
  await page.getByText("Calls of this key are refused: its workspace is disabled.").waitFor();
  await page.goto("/keys");
  await page.getByRole("cell", { name: "disabled", exact: true }).first().waitFor();
  expect(await page.getByRole("cell", { name: "active", exact: true }).count()).toBe(0);
  await page.goto(`/keys/${id}`);
  await page.getByText("home, which is disabled").waitFor();
  must(await status("active"));
  await page.goto("/start");
  await page.getByRole("combobox", { name: "Key" }).waitFor();
  expect(await page.getByText("Calls of this key are refused").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("the mark of Start has the day of a call that is not of today", async () => {
  const { gateway, home, mem } = world;
  const { id: key } = await world.keyOf(mem, home.id);
  const at = new Date(Date.now() - 3 * dayMs);
  await gateway.database.query(
    `insert into requests (workspace_id, id, key_id, model, status, created_at)
     values ($1, $2, $3, 'vendor/model', 'succeeded', $4)`,
    [home.id, newId("req", at.getTime()), key, at],
  );
  const { page, complaints } = await world.open("mem");
  await page.goto("/start?tz=utc");
  await page.getByRole("link", { name: `${at.toISOString().slice(0, 10)} ` }).waitFor();
  expect(complaints).toEqual([]);
});

/** The main tasks of people in the console, in a real browser, with people in every role. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import { findingsOnTheWay } from "./axe.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";
import { exactUsd } from "../support/exact-usd.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld();
});
afterAll(() => world.close());

it("a member creates a key, copies a call, sends it, sees it arrive and opens it", async () => {
  const { page, complaints, close } = await world.open("mem");
  // Our own policy lets no page read the clipboard, so the test records what is written.
  await page.addInitScript(
    "const write = navigator.clipboard.writeText.bind(navigator.clipboard); navigator.clipboard.writeText = (text) => ((globalThis.copied = text), write(text));",
  );
  await page.goto("/");
  // Twice in a hurry is once.
  await page.getByRole("button", { name: "Create a key" }).dblclick();
  await page.getByText("Waiting for the first request").waitFor();
  await page.getByRole("button", { name: "Copy the call with curl" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate<string>("globalThis.copied");
  await page.getByRole("button", { name: "Copy the base URL" }).click();
  await expect.poll(() => page.evaluate("globalThis.copied")).toBe(world.gateway.url);
  const [, url = "", key = "", body = ""] =
    /^curl (\S+) .*?Bearer (gw_live_\w+)".*-d '(.*)'$/s.exec(copied) ?? [];
  expect(url).toBe(`${world.gateway.url}/v1/chat/completions`);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
  await page.getByRole("status").getByText("ok").waitFor();
  await page.getByRole("status").getByRole("link").click();
  await page.getByText(answer.headers.get("x-request-id")!).waitFor();
  await page.getByText(/^Answered by sandbox-openai\. Charged 0\.\d+ USD\.$/).waitFor();
  await page.getByText(/^reserved 0\.\d+ USD$/).waitFor();
  const price = page.getByRole("table", { name: "Price" });
  const amounts = (await price.locator("tbody td:last-child").allInnerTexts()).map(exactUsd);
  const charged = exactUsd(await price.locator("tfoot th:last-child").innerText());
  expect(amounts.length).toBeGreaterThan(1);
  expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(charged);
  expect((await world.mem.call("GET", "/keys")).json.data).toHaveLength(1);
  // Without TLS a browser has no clipboard API, and the page copies a selection.
  await page.evaluate(
    "Object.defineProperty(navigator, 'clipboard', { value: undefined }); addEventListener('copy', () => (globalThis.copied = document.activeElement.value))",
  );
  await page.getByRole("button", { name: "Copy the id" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("globalThis.copied")).toBe(answer.headers.get("x-request-id"));
  expect(await page.locator(":focus").innerText()).toBe("Copied");
  // In print there is only the page, in light colours.
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  expect(await page.getByRole("navigation").or(page.getByRole("banner")).allInnerTexts()).toEqual(
    [],
  );
  const ink = "getComputedStyle(document.body).color";
  await expect.poll(() => page.evaluate(ink)).toBe("rgb(27, 31, 36)");
  expect(complaints).toEqual([]);
  await close();
});

describe("a call that failed", () => {
  let id: string;
  beforeAll(async () => {
    const { key } = await world.keyOf(world.mem, world.home.id);
    id = await world.chat(key, { status: 500 });
  });

  it.skipIf(!isLong)(
    "is found by a filter, is explained in a sentence, and can be opened by its address",
    async () => {
      const { page, complaints, close } = await world.open("ann");
      await page.goto("/requests");
      await page.getByRole("button", { name: "Failed" }).click();
      await page.getByRole("row").nth(1).getByText("502 upstream_error").waitFor();
      expect(new URL(page.url()).search).toBe("?status=failed");
      await page.getByRole("cell", { name: "calls", exact: true }).first().waitFor();
      await page.getByRole("row").nth(1).click();
      const { json } = await world.ann.call("GET", `/requests/${id}`);
      await page.getByRole("note").getByText(json.error.message).waitFor();
      await page
        .getByText(/^Failed with upstream_error after \d.*Nothing was charged\.$/)
        .waitFor();
      await page.getByRole("table", { name: "Attempts" }).waitFor();
      await page.goBack();
      await page.getByRole("row").nth(1).waitFor();
      expect(new URL(page.url()).search).toBe("?status=failed");
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it("is not found by members of another workspace, not even by its address", async () => {
    const { page, settled, complaints, close } = await world.open("bob");
    await page.goto("/requests");
    await page.getByText("No calls yet.").waitFor();
    await arrive({ page, settled }, `/requests/${id}`);
    await page.getByRole("alert").getByText("There is no such request").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

it.skipIf(!isLong)(
  "a period and a member in the address filter the log, and survive a reload",
  async () => {
    const { page, complaints, close } = await world.open("ann");
    const { key } = await world.keyOf(world.ann, world.home.id);
    const id = await world.chat(key);
    await page.goto(`/requests?member=${world.ann.userId}&period=24h`);
    await page.locator(`a[href*="${id}"]`).waitFor();
    await page.goto(`/requests?member=${world.ann.userId}&to=2026-01-01T00:00:00Z`);
    await page.getByText("No calls match these filters.").waitFor();
    await page.goto("/requests?from=nonsense&period=constructor");
    await page.locator(`a[href*="${id}"]`).waitFor();
    await page.getByRole("combobox", { name: "Period" }).click();
    await page.getByRole("option", { name: "Last 7 days" }).click();
    await page.waitForURL("**/requests?period=7d");
    await page.reload();
    await page.locator(`a[href*="${id}"]`).waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

it("markup in the name of a key or a model is shown as text and runs nothing", async () => {
  const markup = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;
  const made = await world.ann.call("POST", "/keys", {
    workspace_id: world.home.id,
    name: markup,
  });
  await world.chat(world.must(made).key, {}, markup);
  const { page, complaints, close } = await world.open("ann");
  await page.goto("/requests");
  // The names of its key and its model.
  await page.getByRole("cell", { name: markup }).nth(1).waitFor();
  await page.getByRole("combobox", { name: "Key" }).click();
  await page.getByRole("option", { name: markup }).waitFor();
  await page.goto("/start");
  await page.getByRole("combobox", { name: "Key" }).waitFor();
  await page.goto(
    `/requests?model=${encodeURIComponent(markup)}&status=${encodeURIComponent(markup)}`,
  );
  await page
    .getByText("The page cannot read these parts of the address")
    .getByText(markup)
    .waitFor();
  expect(complaints).toEqual([]);
  await close();
});

it.skipIf(!isLong)("a member sees the calls of their own keys only", async () => {
  const { key } = await world.keyOf(world.ann, world.home.id);
  const foreign = await world.chat(key);
  const { page, close } = await world.open("mem");
  await page.goto("/requests");
  await page.getByRole("row").nth(1).waitFor();
  expect(await page.locator(`a[href*="${foreign}"]`).count()).toBe(0);
  await page.goto(`/requests/${foreign}`);
  await page.getByRole("alert").getByText("There is no such request").waitFor();
  await close();
});

it.skipIf(!isLong)("an administrator sees the running gateways; others do not", async () => {
  const admin = await world.open("root");
  await admin.page.goto("/settings/gateways");
  await admin.page.getByRole("cell", { name: "serving" }).waitFor();
  expect(admin.complaints).toEqual([]);
  await admin.close();
  const member = await world.open("mem");
  await member.page.goto("/settings/gateways");
  await member.page.getByRole("alert").waitFor();
  expect(await member.page.getByRole("table").count()).toBe(0);
  await member.close();
});

it("the kept body of a call is shown as text, and filled in when the call is sent again", async () => {
  const { page, complaints, close } = await world.open("mem");
  const markup = "<img src=x onerror=alert(1)>";
  world.must(await world.ann.call("PATCH", `/workspaces/${world.home.id}`, { keep_bodies: "all" }));
  const { key } = await world.keyOf(world.mem, world.home.id);
  const asked = await fetch(`${world.gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({
      model: "sandbox/messages",
      max_tokens: 100,
      system: "Be brief.",
      messages: [{ role: "user", content: [{ type: "text", text: `Say ${markup}` }] }],
    }),
  });
  await asked.text();
  await page.goto(`/requests/${asked.headers.get("x-request-id")}`);
  await page.getByRole("button", { name: "Show request and answer" }).click();
  await page.getByText(/^\d fields were sent as they were asked for/).waitFor();
  await page.getByRole("radiogroup").getByText("Request", { exact: true }).click();
  await page.locator("pre").getByText(markup).waitFor();
  await page.getByText("Answer", { exact: true }).click();
  await page.locator("pre").getByText("You said").waitFor();
  expect(await findingsOnTheWay(page)).toEqual([]);
  await page.getByRole("link", { name: "Send again" }).click();
  await page.getByRole("note").getByText("are filled in").waitFor();
  expect(await page.getByLabel("You", { exact: true }).inputValue()).toBe(`Say ${markup}`);
  expect(await page.getByLabel("System").inputValue()).toBe("Be brief.");
  world.must(await world.ann.call("PATCH", `/workspaces/${world.home.id}`, { keep_bodies: "off" }));
  expect(complaints).toEqual([]);
  await close();
});

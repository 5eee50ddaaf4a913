/** Tasks of real people in the console in which something hindered them before. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { isLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";
import { fileNameOf } from "../../console/src/base/file-name.ts";
import { attemptResults } from "../../console/src/pages/callbacks/answers.ts";

let world: ConsoleWorld;
let root: Visit;
let call: string;
let key: { readonly id: string; readonly key: string };

/** A model whose provider is down, and whose name has a dot, as most names do. */
const config = `
providers:
  - { id: away, dialect: openai, base_url: "http://127.0.0.1:9/v1", api_key: secret, tier: official }
models:
  - { id: vendor/model-1.5, kind: text, endpoints: [chat_completions], context_length: 100000, max_output_tokens: 4096,
      offers: [{ provider: away, protocol: chat, upstream_model: m, price: { input: "1", output: "2" } }] }
`;

beforeAll(async () => {
  world = await startConsoleWorld({ config, environment: { TOLLGATE_SANDBOX: "on" } });
  key = await world.keyOf(world.mem, world.home.id);
  await world.chat(key.key);
  call = await world.chat(key.key);
  await world.chat(key.key, {}, "vendor/model-1.5");
  root = await world.open("root");
});
afterAll(() => world.close());

it("a chart's tooltip works for an hour in which a model with a dot in its name had no calls", async () => {
  const { page, complaints } = root;
  await arrive(root, "/overview?period=24h&metric=requests");
  const chart = page.locator(".recharts-wrapper").first();
  await chart.locator(".recharts-bar-rectangle").first().waitFor({ state: "attached" });
  const box = (await chart.boundingBox())!;
  // The first hour, then the last one, in which both models were called.
  const labels = chart.locator(".mantine-BarChart-tooltip, .mantine-ChartTooltip-tooltip");
  const read = async (x: number) => {
    await page.mouse.move(x, box.y + box.height / 2);
    await page.mouse.move(x + 1, box.y + box.height / 2);
    return (await labels.innerText()).split("\n").slice(1);
  };
  expect(await read(box.x + 75)).toEqual(["sandbox/chat", "0", "vendor/model-1.5", "0"]);
  expect(await read(box.x + box.width - 12)).toEqual([
    "sandbox/chat",
    "2",
    "vendor/model-1.5",
    "1",
  ]);
  expect(complaints).toEqual([]);
});

it("a call and a key show their workspace, and a call shows its key", async () => {
  const { page, complaints } = root;
  const end = key.key.slice(-4);
  await arrive(root, `/requests/${call}`);
  await page.getByText("in home", { exact: true }).waitFor();
  await page.getByRole("link", { name: `Key calls (...${end})` }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Key calls" }).waitFor();
  await page.getByText("in home", { exact: true }).waitFor();
  await page.setViewportSize({ width: 1440, height: 800 });
  await arrive(root, "/keys");
  const row = page.getByRole("row").filter({ hasText: end });
  await row.getByRole("cell", { name: "home", exact: true }).waitFor();
  // With one workspace selected, the column is left out.
  await arrive(root, `/keys?ws=${world.home.id}`);
  await row.waitFor();
  expect(await page.getByRole("columnheader", { name: "Workspace" }).count()).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(complaints).toEqual([]);
});

it("a key opens from the overview with the same period, and its numbers link to its calls", async () => {
  const { page, complaints } = root;
  const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await arrive(root, `/overview?ws=${world.home.id}&from=${from}T00:00:00Z`);
  const keys = page.getByRole("table", { name: "By key", exact: true });
  await keys.getByRole("link", { name: /^calls/ }).press("Enter");
  await page.waitForURL((url) => url.searchParams.get("from") === `${from}T00:00:00Z`);
  const calls = page.getByRole("table", { name: /^Requests, / }).locator("tbody a");
  for (const by of ["model", "hour"]) {
    const first = page
      .getByRole("table", { name: `Use by ${by}` })
      .locator("tbody a")
      .first();
    const count = Number(await first.innerText());
    await first.press("Enter");
    await calls.first().waitFor();
    expect({ by, calls: await calls.count() }).toEqual({ by, calls: count });
    await page.goBack();
  }
  expect(complaints).toEqual([]);
});

it("an undelivered callback is found by its status, links to its task, and can be sent again at once", async () => {
  const { page, complaints } = root;
  const task = await world.video(key.key, { webhook_url: "https://127.0.0.1:9/hook" });
  await arrive(root, `/settings/callbacks?ws=${world.home.id}&status=pending`);
  const row = page.getByRole("row").filter({ hasText: "127.0.0.1:9/hook" });
  await row.getByText("next try at").waitFor();
  await row.getByRole("button", { name: /^Send again/ }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Send again" }).press("Enter");
  await page.getByText("The callback is sent again.").waitFor();
  await row.getByText(/^2 × the receiver cannot be reached/).waitFor();
  await row.getByRole("link", { name: "task.succeeded" }).press("Enter");
  await page.waitForURL(`**/tasks/${task}**`);
  await arrive(root, `/settings/callbacks?ws=${world.home.id}&status=delivered`);
  await page.getByText("No callback is delivered.").waitFor();
  expect(complaints).toEqual([]);
});

it("equal attempt results in a row are shown once, with their number", () => {
  const resultsOf = (...all: (number | string | null)[]) =>
    attemptResults(
      all.map((one) => ({
        http_status: typeof one === "number" ? one : null,
        error: typeof one === "string" ? one : null,
      })),
    );
  expect(resultsOf()).toEqual([]);
  expect(resultsOf(503, 503, "gone, away", 503, 200)).toEqual([
    "2 × 503",
    "gone, away",
    "503",
    "200",
  ]);
  expect(resultsOf(null)).toEqual(["no answer"]);
});

it("an address with an unknown workspace says so, and links to existing ones", async () => {
  const { page, complaints } = root;
  await arrive(root, "/overview?ws=ws_gone&period=30d");
  const line = page.getByText("The workspace of this address, ws_gone, does not exist");
  await line.getByRole("link").press("Enter");
  await line.waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("?period=30d");
  await page.getByRole("combobox", { name: "Workspace" }).waitFor();
  expect(complaints).toEqual([]);
});

it("on a phone an amount in a list shows that it is USD, and its period", async () => {
  const { page, complaints } = root;
  await page.setViewportSize({ width: 390, height: 800 });
  await arrive(root, `/requests?ws=${world.home.id}&status=succeeded`);
  await page
    .getByRole("row", { name: /USD 0\.\d+/ })
    .first()
    .waitFor();
  await arrive(root, `/keys?ws=${world.home.id}`);
  await page.getByRole("row", { name: /USD this month 0\.\d+/ }).waitFor();
  // The same table component draws tasks and calls.
  if (isLong) {
    await arrive(root, `/tasks?view=table&ws=${world.home.id}`);
    await page
      .getByRole("row", { name: /USD 0\.\d+/ })
      .first()
      .waitFor();
  }
  await arrive(root, `/money/ledger?ws=${world.home.id}&kind=charge`);
  await page
    .getByRole("row", { name: /USD -0\.\d{9}.* balance \d+\.\d{9}/ })
    .first()
    .waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(complaints).toEqual([]);
});

it("the palette finds a provider by name, and a task and a key by id", async () => {
  const { page, complaints, settled } = root;
  const task = await world.video(key.key);
  await arrive(root, "/start");
  const jump = async (text: string, path: string) => {
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Search or jump").fill(text);
    await page.locator("[data-selected]", { hasText: text }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${path}`);
    await settled();
  };
  await jump("awa", "/providers/away");
  await jump(task, `/tasks/${task}`);
  await jump(key.id, `/keys/${key.id}`);
  expect(complaints).toEqual([]);
});

it("a downloaded file's name has its content, workspace and period", async () => {
  expect(
    [
      {
        what: "ledger",
        workspace: "R&D / Übersetzung 翻訳",
        from: "2026-10-01T00:00:00Z",
        to: "2026-11-01T00:00:00.000Z",
      },
      {
        what: "ledger",
        workspace: "\u0939\u093F\u0928\u094D\u0926\u0940 1",
        from: "2026-10-01T00:00:00Z",
        to: undefined,
      },
      {
        what: "usage-by-tag:team",
        workspace: undefined,
        from: "2026-11-20T14:19:08.096Z",
        to: undefined,
      },
    ].map(fileNameOf),
  ).toEqual([
    "ledger_R-D-Übersetzung-翻訳_2026-10-01_2026-11-01",
    // Vowel signs are not letters, but belong to them.
    "ledger_\u0939\u093F\u0928\u094D\u0926\u0940-1_2026-10-01",
    "usage-by-tag-team_2026-11-20T1419Z",
  ]);
  const { page, complaints } = root;
  await arrive(
    root,
    `/money/ledger?ws=${world.home.id}&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z`,
  );
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV of ledger" }).press("Enter");
  expect((await download).suggestedFilename()).toBe("ledger_home_2026-01-01_2026-02-01.csv");
  expect(complaints).toEqual([]);
});

it("a key's page says when the daily usage could not be read", async () => {
  const { page, settled, complaints } = root;
  await page.route(/usage\?.*granularity=day/, (route) =>
    route.fulfill({
      status: 400,
      body: JSON.stringify({ error: { code: "no", message: "No." } }),
      contentType: "application/json",
    }),
  );
  await arrive(root, `/keys/${key.id}?period=30d`);
  const alert = page.getByRole("alert").filter({ hasText: "use could not be read" });
  await alert.waitFor();
  await page.unroute(/usage\?.*granularity=day/);
  await alert.getByRole("button", { name: "Try again" }).press("Enter");
  await page.getByRole("table", { name: "Use by day" }).waitFor();
  await settled();
  expect(complaints.splice(0).filter((one) => !one.includes("a status of 400"))).toEqual([]);
});

it("during a database outage a page says where to find the reason", async () => {
  const { page, settled, complaints } = root;
  const error = { code: "database_unavailable", message: "Sessions cannot be checked now." };
  const body = JSON.stringify({ error });
  await page.route("**/admin/v1/keys?**", (route) =>
    route.fulfill({ status: 503, body, contentType: "application/json" }),
  );
  await arrive(root, "/keys?q=nothing-like-it");
  const alert = page.getByRole("alert").filter({ hasText: "Keys could not be read" });
  await alert
    .getByText(/The gateway's log has the reason; \/readyz says when it is ready\./)
    .waitFor();
  await page.unroute("**/admin/v1/keys?**");
  await alert.getByRole("button", { name: "Try again" }).press("Enter");
  await alert.waitFor({ state: "detached" });
  await settled();
  const others = complaints.splice(0).filter((one) => !one.includes("a status of 503"));
  expect(others).toEqual([]);
});

it("the log's period links to its cost, unless the overview lacks the log's filters", async () => {
  const { page, complaints } = root;
  const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const cost = page.getByRole("link", { name: "Cost of these calls" });
  const leads = async (address: string) => {
    await arrive(root, `/requests?ws=${world.home.id}&${address}`);
    await page.getByText(/: \d+ calls?, \d+ failed$/).waitFor();
    return (await cost.count()) === 0 ? undefined : cost.getAttribute("href");
  };
  expect(await leads("")).toBe(`/overview?ws=${world.home.id}&period=24h`);
  expect(await leads("period=today")).toBe(`/overview?ws=${world.home.id}&period=today`);
  expect(await leads(`key=${key.id}`)).toBe(undefined);
  const address = `from=${from}T00:00:00.000Z&to=${from}T10:00:00.000Z`;
  const href = await leads(address);
  expect(decodeURIComponent(href!)).toBe(`/overview?ws=${world.home.id}&${address}`);
  await cost.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(complaints).toEqual([]);
});

it("a model is found by an address with an encoded slash", async () => {
  const { page, complaints } = root;
  await arrive(root, "/models/vendor%2Fmodel-1.5");
  await page.getByRole("heading", { level: 1, name: "vendor/model-1.5", exact: true }).waitFor();
  expect(await page.getByText("There is no such model").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("a key's history says where it is cut, and links to all changes", async () => {
  const { page, complaints } = root;
  await page.route("**/admin/v1/audit?*limit=50*", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as object;
    await route.fulfill({ response, json: { ...body, has_more: true } });
  });
  await page.goto(`/keys/${key.id}?tab=history`);
  await page.getByText(/^These are the last \d+ changes\./).waitFor();
  await page.unroute("**/admin/v1/audit?*limit=50*");
  await page.getByRole("link", { name: "All changes of this key" }).press("Enter");
  await page.waitForURL(`**/settings/audit?*subject=${key.id}*`);
  await page.getByRole("cell", { name: "key.create" }).first().waitFor();
  expect(complaints).toEqual([]);
});

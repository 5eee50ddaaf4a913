/** Pages for a reader who checks a bill: every count of a period, and whose price the lines of a call have. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrive } from "./arrive.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let ann: Visit;
let call: string;
beforeAll(async () => {
  world = await startConsoleWorld();
  const { key } = await world.keyOf(world.ann, world.home.id);
  call = await world.chat(key, { usage: { input: 1_003, output: 207, cache_read: 400 } });
  await world.video(key, { image: { url: "data:image/png;base64,iVBORw0KGgo=" } });
  ann = await world.open("ann");
});
afterAll(() => world.close());

it("the overview shows the exact sum of every count that is not zero", async () => {
  const { data } = world.must(await world.ann.call("GET", "/usage")) as {
    data: Record<string, number>[];
  };
  expect(data[0]).toMatchObject({ input_tokens: 1_003, output_tokens: 207, input_images: 1 });
  const { page, complaints } = ann;
  await arrive(ann, "/overview?period=24h");
  const table = page.getByRole("table", { name: "Counts" });
  await table.waitFor();
  const rows = await table.getByRole("row").allInnerTexts();
  expect(rows.map((row) => row.split(/\s*\t\s*/))).toEqual([
    ["Input tokens", "1,003"],
    ["read from a cache", "400"],
    ["Output tokens", "207"],
    ["Input images", "1"],
    ["Seconds of video", "2"],
  ]);
  expect(complaints).toEqual([]);
});

it("a selected provider narrows the overview to its own calls, and its numbers link to them", async () => {
  const used = await world.ann.call("GET", "/usage?group_by=provider");
  const { data } = world.must(used) as { data: { provider: string; cost: string }[] };
  const [{ provider, cost }] = data as [(typeof data)[0]];
  expect(data).toHaveLength(2);
  const { page, complaints } = ann;
  await arrive(ann, "/overview?period=24h");
  const byModel = page.getByRole("table", { name: "By model" });
  const byProvider = page.getByRole("table", { name: "By provider" });
  await byProvider.getByRole("link", { name: provider, exact: true }).click();
  await page.waitForURL(`**/overview?**provider=${provider}**`);
  await expect.poll(() => byModel.locator("tbody tr").count()).toBe(1);
  const title = await byModel.locator("tfoot [title]").first().getAttribute("title");
  expect(title).toBe(`${cost} USD`);
  expect(await byProvider.count()).toBe(0);
  const spend = page.getByRole("link", { name: /^Spend/ });
  expect(await spend.getAttribute("href")).toContain(`provider=${provider}`);
  await page.getByRole("button", { name: `Remove the filter provider: ${provider}` }).click();
  await byProvider.waitFor();
  await expect.poll(() => byModel.locator("tbody tr").count()).toBe(2);
  expect(complaints).toEqual([]);
});

it("a call says whether its price lines use the stored price, today's price or none", async () => {
  const { database } = world.gateway;
  const { page, complaints } = ann;
  const price = page.getByRole("table", { name: "Price" });
  const today = page.getByText("Shown with today's price");
  await arrive(ann, `/requests/${call}`);
  await price.waitFor();
  expect(await today.count()).toBe(0);
  // As with a version that did not keep the price.
  await database.query("update requests set price = null");
  await database.query("update request_heads set price = null");
  await page.reload();
  await today.waitFor();
  expect(await price.count()).toBe(1);
  await database.query("update requests set provider = 'gone' where id = $1", [call]);
  await page.reload();
  await page.getByText("this call is older than stored prices").waitFor();
  expect(await price.count()).toBe(0);
  expect(complaints).toEqual([]);
});

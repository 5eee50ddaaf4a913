/** What people come to the console for, where they met something that was in their way. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrive } from "./arrive.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let root: Visit;

/** A model whose provider is away, and whose name has a dot as most do. */
const config = `
providers:
  - { id: away, dialect: openai, base_url: "http://127.0.0.1:9/v1", api_key: secret, tier: official }
models:
  - { id: vendor/model-1.5, kind: text, endpoints: [chat_completions], context_length: 100000, max_output_tokens: 4096,
      offers: [{ provider: away, protocol: chat, upstream_model: m, price: { input: "1", output: "2" } }] }
`;

beforeAll(async () => {
  world = await startConsoleWorld({ config, environment: { TOLLGATE_SANDBOX: "on" } });
  const { key } = await world.keyOf(world.mem, world.home.id);
  await world.chat(key);
  await world.chat(key);
  await world.chat(key, {}, "vendor/model-1.5");
  root = await world.open("root");
});
afterAll(() => world.close());

it("a bar is read where a model with a dot in its name had no calls", async () => {
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

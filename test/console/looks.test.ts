/** The looks of pages: tables on a phone, the edges of fields, and the high contrast mode of the system. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrive } from "./arrive.ts";
import { overflowing } from "./beyond.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let root: Visit;
let task: string;
let key: string;

beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  const made = await world.keyOf(world.root, world.home.id);
  key = made.id;
  world.must(await world.root.call("PATCH", `/keys/${key}`, { spend_caps: { monthly: "5" } }));
  task = await world.video(made.key, { webhook_url: "https://127.0.0.1:9/hook" });
  root = await world.open("root");
});
afterAll(() => world.close());

/** The names of the parts that scroll sideways, without code. */
const sideways = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll("main *:not(pre)")]
    .filter((one) => getComputedStyle(one).overflowX === "auto" && one.scrollWidth > one.clientWidth)
    .map((one) => one.getAttribute("aria-label") ?? one.className)`);

it("on a phone no table of the settings scrolls sideways, and each value stands beside its header", async () => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 390, height: 800 });
  const members = `/settings/members?ws=${world.home.id}`;
  const callbacks = `/settings/callbacks?ws=${world.home.id}`;
  const settings = ["workspaces", "gateways", "audit"].map((name) => `/settings/${name}`);
  for (const path of [members, callbacks, ...settings, "/account", `/tasks/${task}`]) {
    await arrive(root, path);
    await page.getByRole("table").first().waitFor();
    await settled();
    await expect.poll(() => sideways(page), { message: path }).toEqual([]);
  }
  await arrive(root, members);
  const row = page.getByRole("row").filter({ hasText: "mem@example.com" });
  await row.getByRole("button", { name: "Remove mem@example.com" }).click({ trial: true });
  const headers = await page.evaluate(
    "[...document.querySelectorAll('main tbody tr:first-child td')].map((cell) => getComputedStyle(cell, '::before').content)",
  );
  expect(headers).toEqual(
    ["E-mail", "Role", "Status", "This month (USD)"].map((one) => `"${one}" / ""`).concat("none"),
  );
});

/** The lowest contrast of the edge of a field or box with what it contains. */
const edges = (page: Page) =>
  page.evaluate<number>(`(() => {
    const light = (color) => {
      const [r, g, b] = color.match(/[\\d.]+/g).map((one) => one / 255).map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const shown = [...document.querySelectorAll("main input:not([type=hidden]), main textarea")].map(getComputedStyle)
      .filter((one) => one.borderTopWidth !== "0px" && one.opacity !== "0");
    return Math.min(...shown.map((one) => {
      const [low, high] = [light(one.borderTopColor), light(one.backgroundColor)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    }));
  })()`);

it.each(["light", "dark"] as const)(
  "the edges of fields and boxes are seen in the %s scheme",
  async (colorScheme) => {
    const { page } = root;
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme });
    await arrive(root, "/models");
    await page.getByRole("checkbox").first().waitFor();
    await expect.poll(() => edges(page)).toBeGreaterThanOrEqual(3);
  },
);

it("in high contrast, bars, switches and what is selected are seen", async () => {
  const { page } = root;
  await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
  const canvas = await page.evaluate<string>(`(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = "Canvas";
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  })()`);
  const styles = (selector: string) =>
    page.evaluate<{ fill: string; edge: string; outline: string }>(`(() => {
      const { backgroundColor: fill, borderTopWidth: edge, outlineStyle: outline } = getComputedStyle(document.querySelector("${selector}"));
      return { fill, edge, outline };
    })()`);
  await arrive(root, "/keys");
  const bar = page.getByRole("progressbar").first();
  await bar.waitFor({ state: "attached" });
  expect((await styles("[role=progressbar]")).fill).not.toBe(canvas);
  expect((await styles("nav [aria-current]")).outline).toBe("solid");
  await arrive(root, `/keys/${key}`);
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("radio", { checked: true }).waitFor();
  const dot = "getComputedStyle(document.querySelector(':checked + .mantine-Radio-icon')).color";
  expect(await page.evaluate(dot)).not.toBe(canvas);
  await page.keyboard.press("Escape");
  await arrive(root, "/requests?status=failed");
  await page.getByRole("button", { name: "Failed", pressed: true }).waitFor();
  expect((await styles("[aria-pressed=true]")).outline).toBe("solid");
  await arrive(root, "/playground");
  await page.getByText("Stream", { exact: true }).waitFor();
  expect((await styles(".mantine-Switch-track")).edge).toBe("1px");
  expect((await styles(".mantine-SegmentedControl-label[data-active]")).outline).toBe("solid");
  await page.emulateMedia({ forcedColors: "none" });
});

it("the smallest and the largest cap make the tree of caps no wider than a small window", async () => {
  const { page, settled } = root;
  const { id, key: value } = await world.keyOf(world.mem, world.home.id);
  const spend_caps = { daily: "0.000000001", monthly: "9999999.123456789" };
  await world.chat(value, { usage: { input: 1, output: 1 } });
  world.must(await world.root.call("PATCH", `/keys/${id}`, { spend_caps }));
  await page.setViewportSize({ width: 320, height: 800 });
  await arrive(root, `/money?ws=${world.home.id}`);
  await page.getByText("/ 9,999,999.12").first().waitFor();
  await settled();
  await expect.poll(() => overflowing(page)).toEqual([]);
});

it("print has light fields and buttons too if the reader has chosen dark, who has dark again afterwards", async () => {
  const { page, close } = await world.open("mem");
  await page.goto("/overview");
  await page.getByRole("button", { name: "Dark" }).click();
  const looks = () =>
    page.evaluate<string[]>(`[
      getComputedStyle(document.querySelector("main input[aria-label=Period]")).backgroundColor,
      getComputedStyle([...document.querySelectorAll("main button")].find((one) => one.textContent === "Refresh")).color,
    ]`);
  const dark = ["rgb(28, 32, 39)", "rgb(255, 255, 255)"];
  const light = ["rgb(255, 255, 255)", "rgb(0, 0, 0)"];
  await expect.poll(looks).toEqual(dark);
  await page.emulateMedia({ media: "print" });
  await expect.poll(looks).toEqual(light);
  await page.emulateMedia({ media: "screen" });
  await expect.poll(looks).toEqual(dark);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await expect.poll(looks).toEqual(light);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await expect.poll(looks).toEqual(dark);
  await page.getByRole("button", { name: "Light" }).click();
  await close();
});

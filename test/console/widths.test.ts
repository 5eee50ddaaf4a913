/** Lists between a phone's width and a wide window, with contents too long for a cell: nothing overlaps, and all text can be read. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fits, fitting } from "../../console/src/ui/fitting.ts";
import { shortOrLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import { overflowing } from "./beyond.ts";
import type { Visit } from "./browser.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

const longName = `a-key-named-after-its-ticket-${"0123456789-".repeat(9)}`;
/** As long as a name may be, without a place for a line break. */
const unbroken = "Donaudampfschifffahrtsgesellschaftskapitaen".repeat(3).slice(0, 100);
let world: ConsoleWorld;
let root: Visit;

beforeAll(async () => {
  world = await startConsoleWorld({ sandbox: "on" });
  const { must, home } = world;
  const { id, key } = await world.keyOf(world.root, home.id);
  must(await world.root.call("PATCH", `/keys/${id}`, { name: longName }));
  must(await world.root.call("PATCH", `/keys/${id}`, { spend_caps: { monthly: "123.45" } }));
  await world.chat(key, { usage: { input: 1001, output: 203 } });
  await world.video(key);
  must(await world.gateway.admin("POST", "/workspaces", { name: unbroken }));
  root = await world.open("root");
});
afterAll(() => world.close());

/** Cells with contents that are wider than the cell and not cut, and headers without enough room. */
const overfullCells = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const over = (cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return getComputedStyle(cell).overflowX === "visible" && range.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1;
    };
    const cells = [...document.querySelectorAll("main tbody td")].filter(over).map((cell) => cell.textContent);
    const heads = [...document.querySelectorAll("main thead th")].filter((head) => head.offsetParent !== null && head.clientWidth < 48).map((head) => head.textContent);
    return [...cells, ...heads];
  })()`);

/** Cells whose words are squeezed into a column of letters. */
const squeezedCells = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const isSqueezed = (cell) => cell.innerText.length > 8 && cell.clientWidth > 0 && cell.clientWidth < 70 && cell.clientHeight > 62;
    return [...document.querySelectorAll("main th, main td")].filter(isSqueezed).map((cell) => cell.innerText);
  })()`);

/** Column headers that are not aligned with the cell of the first row. Blocks of a phone have no columns. */
const misalignedHeaders = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const isRight = (cell) => getComputedStyle(cell).textAlign === "right";
    const hasColumns = (table) => table.tHead === null || getComputedStyle(table.tHead).position !== "absolute";
    return [...document.querySelectorAll("main table")].filter(hasColumns).flatMap((table) => {
      const cells = table.querySelector("tbody tr")?.children ?? [];
      return [...table.querySelectorAll("thead th")]
        .filter((head, at) => head.innerText !== "" && cells[at] !== undefined && isRight(head) !== isRight(cells[at]))
        .map((head) => head.innerText);
    });
  })()`);

/** The computed style property of the first element that matches. */
const styleOf = (page: Page, selector: string, property: string) =>
  page.evaluate<string>(`getComputedStyle(document.querySelector("${selector}")).${property}`);

const lists = [
  "/requests",
  "/keys",
  `/money/ledger?ws=`,
  "/models",
  "/providers",
  "/tasks?view=table",
  "/settings/audit",
];

/** In the short form the widest list, and those with bars and with sentences in their cells. */
it.each(shortOrLong(["/requests", "/keys", "/settings/audit"], lists))(
  "%s has room for its columns at every width",
  async (path) => {
    const { page, settled } = root;
    await page.setViewportSize({ width: 1280, height: 800 });
    await arrive(root, path.endsWith("=") ? path + world.home.id : path);
    await page.getByRole("table").first().waitFor();
    for (const width of shortOrLong([1280, 800], [1440, 1280, 1024, 900, 800])) {
      await page.setViewportSize({ width, height: 800 });
      await settled();
      await expect.poll(() => overflowing(page), { message: `${width}` }).toEqual([]);
      await expect.poll(() => overfullCells(page), { message: `${width}` }).toEqual([]);
    }
  },
);

it("columns that a phone omits are dropped first when room is short, widest need first", () => {
  type Column = Parameters<typeof fits>[0][number] & { readonly header: string };
  const columns: readonly Column[] = [
    { header: "grows" },
    { header: "a", width: 100, wide: true },
    { header: "b", width: 100, wide: true, roomy: true },
    { header: "c", width: 100, wide: true, phone: 2 },
    { header: "d", width: 100 },
    { header: "e", width: 100, wide: true },
  ];
  const at = (room: number) => fitting(columns, room).map(({ header }) => header);
  expect(at(Infinity)).toEqual(["grows", "a", "b", "c", "d", "e"]);
  expect(at(640)).toEqual(["grows", "a", "b", "c", "d", "e"]);
  expect(at(639)).toEqual(["grows", "a", "c", "d", "e"]);
  expect(at(539)).toEqual(["grows", "a", "c", "d"]);
  expect(at(0)).toEqual(["grows", "c", "d"]);
  expect([fits(fitting(columns, 340), 340), fits(fitting(columns, 339), 339)]).toEqual([
    true,
    false,
  ]);
});

/** The tooltip that a browser shows with the pointer at this place. */
async function shownAt(page: Page, x: number, y: number): Promise<string> {
  await page.mouse.move(x, y);
  return page.evaluate<string>(
    `document.elementFromPoint(${x}, ${y}).closest("[title]")?.title ?? ""`,
  );
}

it("a row's tooltip shows the exact amount or a truncated name, and elsewhere the link's title", async () => {
  const { page } = root;
  await page.setViewportSize({ width: 1440, height: 800 });
  await arrive(root, "/requests?model=sandbox/chat");
  const row = page.getByRole("row").nth(1);
  const at = async (text: string) => {
    const box = (await row.getByText(text).first().boundingBox())!;
    return [box.x + 4, box.y + box.height / 2] as const;
  };
  const exact = await row.locator(".number").first().getAttribute("title");
  expect(exact).toMatch(/^0\.\d+ USD$/);
  const amount = (await row.locator(".number").first().boundingBox())!;
  expect(await shownAt(page, amount.x + 4, amount.y + 4)).toBe(exact);
  expect(await shownAt(page, ...(await at(longName)))).toBe(longName);
  expect(await shownAt(page, ...(await at("sandbox/chat")))).toMatch(/^\d{4}-\d\d-\d\dT/);
  // The link has its own title again.
  await page.mouse.move(5, 5);
  expect(await row.getByRole("link").getAttribute("title")).toMatch(/^\d{4}-\d\d-\d\dT/);
});

it("a window of 1280 pixels has room for the audit log, with cells aligned at the top", async () => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 1280, height: 800 });
  await arrive(root, "/settings/audit");
  await page.getByRole("table").waitFor();
  await settled();
  expect(await page.getByRole("group", { name: "Audit log" }).count()).toBe(0);
  expect(await styleOf(page, "main tbody td", "verticalAlign")).toBe("top");
});

it.each(shortOrLong(["/keys"], ["/keys", "/settings/members", "/settings/workspaces"]))(
  "amounts with bars in %s are aligned with their headings",
  async (path) => {
    const { page, settled } = root;
    await page.setViewportSize({ width: 1280, height: 800 });
    await arrive(root, path.replace("members", `members?ws=${world.home.id}`));
    await settled();
    const ends = await page.evaluate<[number, number][]>(`(() => {
      const endOf = (one) => one.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(one).paddingRight || 0);
      return [...document.querySelectorAll("main table thead th")].flatMap((head, at) =>
        !/\\(USD\\)$/.test(head.textContent) ? [] : [...document.querySelectorAll("main tbody tr:not([aria-hidden])")].map((row) =>
          [endOf(head), [...row.children[at].querySelectorAll(".number")].at(-1).getBoundingClientRect().right].map(Math.round)));
    })()`);
    expect(ends.length).toBeGreaterThan(0);
    expect(ends.filter(([head, amount]) => head !== amount)).toEqual([]);
    expect(await misalignedHeaders(page)).toEqual([]);
  },
);

it.each([
  ["12345678.20", "90000000", "12.34M / 90M"],
  ["0.000000001", "0.000000012", "1e-9 / 1.2e-8"],
])("%s spent of %s are not cut off in the list of keys", async (monthly, cap, text) => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.route("**/admin/v1/keys?**", async (route) => {
    const answer = await route.fetch();
    const list = (await answer.json()) as { data: { spend: object; spend_caps: object }[] };
    const data = list.data.map((key) => ({
      ...key,
      spend: { ...key.spend, monthly },
      spend_caps: { ...key.spend_caps, monthly: cap },
    }));
    await route.fulfill({ response: answer, json: { ...list, data } });
  });
  await page.goto("/keys");
  const cell = page.getByRole("cell").filter({ hasText: text }).first();
  await cell.waitFor();
  await settled();
  const [around, first] = [
    await cell.boundingBox(),
    await cell.locator(".number").first().boundingBox(),
  ];
  expect(first!.x).toBeGreaterThanOrEqual(around!.x);
  await page.unrouteAll();
});

it("a key with a long unbreakable name fits the list of choices, and Enter selects it", async () => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 1280, height: 800 });
  const { id } = await world.keyOf(world.root, world.home.id);
  world.must(await world.root.call("PATCH", `/keys/${id}`, { name: unbroken }));
  await page.goto("/requests");
  await settled();
  const field = page.getByRole("combobox", { name: "Key" });
  await field.pressSequentially("Donau");
  const option = page.getByRole("option", { name: unbroken });
  await expect.poll(() => page.getByRole("option").count()).toBe(1);
  await settled();
  const inside = await page.evaluate<number[]>(`(() => {
    const [label] = document.querySelectorAll("[role=option] > *");
    return [label, label.closest("[role=listbox]")].map((one) => one.getBoundingClientRect().right);
  })()`);
  expect(inside[0]).toBeLessThanOrEqual(inside[1]!);
  expect(await option.count()).toBe(1);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**key=${id}*`);
});

it.each(
  shortOrLong(
    ["/overview", "/settings/audit", "/playground"],
    ["/overview", "/money/ledger?ws=", "/settings/audit", "/keys", "/playground"],
  ),
)("%s needs no horizontal scrolling at fourfold zoom", async (path) => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 320, height: 800 });
  await arrive(root, path.endsWith("=") ? path + world.home.id : path);
  await settled();
  await expect.poll(() => overflowing(page)).toEqual([]);
});

it("the last dots of the chart of durations are not cut off", async () => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 1280, height: 800 });
  await arrive(root, "/overview?period=7d");
  await page.locator("main .recharts-line-dot").first().waitFor();
  await settled();
  const ends = await page.evaluate<number[]>(`(() => {
    const rightOf = (one) => one.getBoundingClientRect().right;
    return [...document.querySelectorAll("main .recharts-line-dot")].map((dot) => rightOf(dot.closest("svg")) - rightOf(dot));
  })()`);
  expect(Math.min(...ends)).toBeGreaterThanOrEqual(0);
});

it("no tile or panel of the money page has an empty line on a phone", async () => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 390, height: 800 });
  await arrive(root, `/money?ws=${world.home.id}`);
  const check = page.getByRole("region", { name: "Check of the ledger" });
  await check.getByRole("status").waitFor();
  await settled();
  const tiles = await page.locator("main [class*=tile] > :last-child").allInnerTexts();
  expect(tiles.filter((text) => text.trim() === "")).toEqual([]);
  const [panel, words] = [await check.boundingBox(), await check.getByRole("status").boundingBox()];
  expect(panel!.y + panel!.height - (words!.y + words!.height)).toBeLessThan(20);
});

it("counts of gateways are aligned with their headings", async () => {
  const { page } = root;
  await page.setViewportSize({ width: 1280, height: 800 });
  await arrive(root, "/settings/gateways");
  await page.getByRole("cell", { name: /ms$/ }).waitFor();
  expect(await styleOf(page, "main tbody td:last-child", "textAlign")).toBe("right");
  expect(await misalignedHeaders(page)).toEqual([]);
});

it("a change in the audit log is not broken into single letters in a narrow window", async () => {
  const { page } = root;
  await page.setViewportSize({ width: 1024, height: 800 });
  await arrive(root, "/settings/audit");
  const box = await page.getByRole("columnheader", { name: "Changed" }).boundingBox();
  expect(box!.width).toBeGreaterThan(250);
});

it.each(shortOrLong([1024], [1440, 1280, 1024, 390]))(
  "millions of dollars and billions of tokens fit the columns of the overview at %i pixels",
  async (width) => {
    const { page, settled } = root;
    await page.setViewportSize({ width, height: 800 });
    await page.route("**/admin/v1/usage?**", async (route) => {
      const answer = await route.fetch();
      const body = await answer.text();
      const large = body
        .replaceAll(/"cost":"0\.(\d+)"/g, '"cost":"12345678.$1"')
        .replaceAll(
          /"(input_tokens|output_tokens)":([1-9]\d*)/g,
          (_, name: string, count: string) => `"${name}":${count}1234567`,
        );
      await route.fulfill({ response: answer, body: large });
    });
    // The page's data in memory are not as large.
    await page.goto("/overview?metric=cost");
    for (const metric of ["cost", "tokens"]) {
      await arrive(root, `/overview?metric=${metric}`);
      await page.getByText("12,345,678.10").first().waitFor();
      await settled();
      expect(await overfullCells(page)).toEqual([]);
      expect(await overflowing(page)).toEqual([]);
    }
    await page.unroute("**/admin/v1/usage?**");
  },
);

it("millions of dollars with nano-dollars fit one line of the balance", async () => {
  const { page, settled } = root;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.route("**/balance", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as object;
    await route.fulfill({ response: answer, json: { ...body, credits: "12345678.733778999" } });
  });
  await page.goto(`/money?ws=${world.home.id}`);
  const amount = page.getByText("12,345,678.733778999");
  await amount.waitFor();
  await settled();
  expect((await amount.boundingBox())!.height).toBeLessThan(30);
  await page.unroute("**/balance");
});

it("an unbreakable name widens no page beyond a phone, and numbers are aligned with their headings", async () => {
  const { page } = root;
  const { must, home, gateway } = world;
  const { id, key } = await world.keyOf(world.root, home.id);
  must(await world.root.call("PATCH", `/keys/${id}`, { name: unbroken }));
  const refused = await world.chat(key, {}, `sandbox/${"m".repeat(112)}`);
  const wide = must(await gateway.admin("GET", "/workspaces?limit=100")) as {
    data: { id: string; name: string }[];
  };
  const place = wide.data.find(({ name }) => name === unbroken)!.id;
  const faults: string[][] = [];
  await page.setViewportSize({ width: 360, height: 800 });
  const all = [`/keys/${id}`, `/requests/${refused}`, "/money/ledger", "/money", "/start"];
  for (const path of [...all, `/money?ws=${place}`, `/settings/workspaces/${place}`]) {
    await arrive(root, path);
    faults.push(
      ...[...(await overflowing(page)), ...(await misalignedHeaders(page))].map((what) => [
        path,
        what,
      ]),
    );
  }
  expect(faults).toEqual([]);
});

it("the explanation of an error shows code as code", async () => {
  const { page } = root;
  const { key } = await world.keyOf(world.root, world.home.id);
  await arrive(root, `/requests/${await world.chat(key, {}, "nobody/knows-it")}`);
  const code = page.locator("span.mono", { hasText: /^GET \/v1\/models$/ });
  await code.waitFor();
  expect(await code.locator("..").innerText()).not.toContain("`");
});

it("tokens per second are grouped like other counts", async () => {
  const { page } = root;
  await page.route("**/admin/v1/models**", async (route) => {
    const answer = await route.fetch();
    const body = await answer.text();
    const fast = body.replaceAll(/"tokens_per_second":[\d.]+/g, '"tokens_per_second":28078.4');
    await route.fulfill({ response: answer, body: fast });
  });
  await page.goto("/models/sandbox/chat");
  await expect.poll(() => page.locator("main").innerText()).toMatch(/28,078 tokens a second/);
  await page.unroute("**/admin/v1/models**");
});

it("on a phone vendors' messages and parameters wrap between words, not between letters", async () => {
  const { page } = root;
  const { key } = await world.keyOf(world.root, world.home.id);
  await world.chat(key, { status: 500 });
  const error = "The prompt names a person who is still alive, and nobody asked them.";
  const task = await world.video(key, {
    prompt: `A\n#sandbox ${JSON.stringify({ task_outcome: "failed", error })}`,
  });
  const tables = [
    ["/providers/sandbox-openai", "Errors of the last hour"],
    [`/tasks/${task}`, "Attempts"],
    ["/models/sandbox/chat", "Parameters"],
  ] as const;
  for (const width of shortOrLong([320, 768], [320, 390, 768])) {
    await page.setViewportSize({ width, height: 800 });
    for (const [path, table] of tables) {
      await arrive(root, path);
      await page.getByRole("table", { name: table }).waitFor();
      expect({ path, width, squeezed: await squeezedCells(page) }).toEqual({
        path,
        width,
        squeezed: [],
      });
      expect(await overflowing(page)).toEqual([]);
    }
  }
});

/**
 * Overview and Money in a real browser, after calls of all kinds. Every number equals the ledger's, added up here in BigInt.
 * Every number links to rows with that sum, and each reader sees only their own.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSearch } from "../../console/src/base/search.ts";
import { csvOf, filtersOf } from "../../console/src/pages/requests/filters.ts";
import { eventually } from "../support/patience.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { arrive } from "./arrive.ts";
import { seriousFindings } from "./axe.ts";
import { cellsOf, chargesOf, makeCalls, nanoOf, sumOf, type Charge } from "./made-up-calls.ts";
import { startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let charges: Charge[];
beforeAll(async () => {
  world = await startConsoleWorld();
  await makeCalls(world);
  // The last rows of the log are written a moment after the answers.
  charges = await eventually(async () => {
    const all = await chargesOf(world);
    return all.length > 25 && all.every(({ model }) => model !== null) && all;
  }, "every charge has its row in the log");
});
afterAll(() => world.close());

type Who = "root" | "ann" | "mem";

/** The charges that a person may see. */
const seenBy = (who: Who): Charge[] => {
  if (who === "root") return charges;
  if (who === "mem") return charges.filter(({ member }) => member === world.mem.userId);
  return charges.filter(({ workspace }) => workspace === world.home.id);
};

const tile = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(`^${name}`) });

/** The rows of a table by their first cell: the exact spend, its link, and the number of calls. */
async function rowsOf(page: Page, label: string) {
  const rows = page.getByRole("table", { name: label, exact: true }).locator("tbody tr");
  await rows.first().waitFor();
  const found = [];
  for (const row of await rows.all()) {
    const spend = row.locator("td").nth(1).locator("[title]").first();
    found.push({
      name: await row.locator("td").first().innerText(),
      nano: nanoOf((await spend.getAttribute("title"))!),
      href: await spend.getAttribute("href"),
    });
  }
  return found;
}

/** The summed cost of the log rows at an address, requested as the page requests them. */
async function costAt(who: Who, href: string): Promise<bigint> {
  const search = parseSearch(new URL(href, world.gateway.url).search);
  const query = Object.entries({ ...csvOf(filtersOf(search)), workspace_id: search["ws"] });
  const kept = query.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const answer = await fetch(
    `${world.gateway.url}/admin/v1/requests?${String(new URLSearchParams(kept))}`,
    { headers: { accept: "text/csv", authorization: `Bearer ${world[who].token}` } },
  );
  const [head, ...lines] = (await answer.text()).trimEnd().split("\r\n");
  // The columns before it contain no commas.
  const column = head!.split(",").indexOf("cost");
  return lines.reduce((sum, line) => sum + nanoOf(cellsOf(line)[column]!), 0n);
}

const byName = (all: readonly Charge[], of: (charge: Charge) => string): Map<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const charge of all) sums.set(of(charge), (sums.get(of(charge)) ?? 0n) + charge.nano);
  return sums;
};

const bySize = (one: bigint, other: bigint): number => Number(one - other);

describe("the overview", () => {
  for (const who of shortOrLong<readonly Who[]>(["root"], ["root", "ann", "mem"])) {
    it(`shows ${who} numbers that equal the ledger's and link to rows with that sum`, async () => {
      const seen = seenBy(who);
      const { page, complaints, close } = await world.open(who);
      await page.goto("/overview?period=24h");
      const title = who === "mem" ? "Your use" : "Overview";
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      const spend = tile(page, "Spend");
      expect(nanoOf((await spend.getAttribute("title"))!)).toBe(sumOf(seen));
      expect(await costAt(who, (await spend.getAttribute("href"))!)).toBe(sumOf(seen));
      const emails = new Map(
        (["ann", "mem", "mel", "bob"] as const).map((name) => [
          world[name].userId,
          world[name].email,
        ]),
      );
      const tables: [string, (charge: Charge) => string][] = [
        ["By model", ({ model }) => model!],
        ["By provider", ({ provider }) => provider!],
      ];
      if (who !== "mem") tables.push(["By member", ({ member }) => emails.get(member)!]);
      if (who === "root")
        tables.push([
          "By workspace",
          ({ workspace }) => (workspace === world.home.id ? "home" : "away"),
        ]);
      for (const [label, of] of tables) {
        const rows = await rowsOf(page, label);
        const named = rows.filter(({ nano }) => nano > 0n).map(({ name, nano }) => [name, nano]);
        expect({ label, rows: new Map(named as [string, bigint][]) }).toEqual({
          label,
          rows: byName(seen, of),
        });
        for (const { href, nano, name } of rows.filter((row) => row.href !== null))
          expect({ label, name, cost: await costAt(who, href!) }).toEqual({
            label,
            name,
            cost: nano,
          });
      }
      // All keys of these tests have the same name: compare their sums, in any order.
      const named = await rowsOf(page, "By key");
      expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
      const keys = named.map(({ nano }) => nano).filter((nano) => nano > 0n);
      expect(keys.toSorted(bySize)).toEqual(
        [...byName(seen, ({ key }) => key).values()].toSorted(bySize),
      );
      expect(await page.getByRole("table", { name: "By member" }).count()).toBe(
        who === "mem" ? 0 : 1,
      );
      expect(await page.getByRole("alert").count()).toBe(0);
      expect(complaints).toEqual([]);
      await close();
    });
  }

  it.skipIf(!isLong)(
    "has bars that add up to the period, and errors that link to failed calls",
    async () => {
      const { page, complaints, close } = await world.open("ann");
      await page.goto("/overview?period=24h&table=1");
      const twin = page.getByRole("table", { name: "Over time" });
      await twin.waitFor();
      const titles = await twin.locator("tbody td:last-child [title]").all();
      let sum = 0n;
      for (const one of titles) sum += nanoOf((await one.getAttribute("title"))!);
      expect(sum).toBe(sumOf(seenBy("ann")));
      const errors = page.getByRole("table", { name: "Errors by code" });
      const failed = errors.getByRole("row", { name: "upstream_error" }).getByRole("link");
      const count = Number(await failed.getAttribute("title"));
      expect(count).toBeGreaterThan(3);
      await failed.click();
      await page.waitForURL("**/requests?**");
      await page
        .getByText("502 upstream_error")
        .nth(count - 1)
        .waitFor();
      expect(await page.getByText("502 upstream_error").count()).toBe(count);
      await page.goBack();
      await twin.waitFor();
      await page.keyboard.press("t");
      await page.getByRole("table", { name: "Legend" }).waitFor();
      expect(new URL(page.url()).search).toBe("?period=24h");
      await page.locator('.recharts-bar-rectangle path[height]:not([height="0"])').first().click();
      await page.waitForURL("**/requests?from=*");
      await page.getByRole("row").nth(1).waitFor();
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it.skipIf(!isLong)(
    "compares last week with the week before and downloads it as a file, in three clicks",
    async () => {
      const { page, complaints, close } = await world.open("ann");
      await page.goto("/overview");
      await page.getByRole("combobox", { name: "Period" }).click();
      await page.getByRole("option", { name: "Last week" }).click();
      await page.getByText("No calls in this period, last week; the last one was at").waitFor();
      await page.goto("/overview");
      await page
        .getByRole("table", { name: "By key" })
        .getByRole("button", { name: "Change" })
        .click();
      await page.waitForURL("**/overview?sort=change");
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download CSV of usage-by-key" }).click();
      const file = await (await download).createReadStream();
      let text = "";
      for await (const piece of file) text += String(piece);
      const [head, ...lines] = text.trimEnd().split("\r\n");
      const column = head!.split(",").indexOf("cost");
      const sum = lines.reduce((all, line) => all + nanoOf(cellsOf(line)[column]!), 0n);
      expect(sum).toBe(sumOf(seenBy("ann")));
      const byKey = page.getByRole("table", { name: "By key" });
      await byKey.getByRole("link", { name: "calls" }).first().click();
      await page.waitForURL("**/keys/key_*");
      await page.goBack();
      await byKey.getByRole("link", { name: /^0\./ }).first().click();
      await page.waitForURL("**/requests?**period=7d**");
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it.skipIf(!isLong)("reports what cannot be read, and offers to try again", async () => {
    const { page, complaints, close } = await world.open("mem");
    await page.goto("/overview?period=constructor&by=%3Cscript%3E&metric=__proto__&ws=%27");
    await page.getByText("The page cannot read these parts of the address").waitFor();
    await page.route("**/admin/v1/usage?**", (route) =>
      route.fulfill({ status: 403, body: JSON.stringify({ error: { message: "Not yours." } }) }),
    );
    await page.goto("/overview?period=30d");
    await page.getByRole("alert").first().getByText("Not yours.").waitFor();
    await page.unroute("**/admin/v1/usage?**");
    await page.getByRole("button", { name: "Try again" }).first().click();
    await tile(page, "Spend").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

/** The amounts of a column of the ledger's page, read to the end of the list. */
async function amountsOf(page: Page, column: number): Promise<bigint[]> {
  const rows = page.getByRole("table", { name: "Entries of the ledger" }).locator("tbody tr");
  await rows.locator(".number").first().waitFor();
  const texts = await rows.locator(`td:nth-child(${column}) .number`).allInnerTexts();
  return texts.map(nanoOf);
}
const amountColumn = 5;
const balanceColumn = 6;

const creditsOf = async (ws: string): Promise<bigint> => {
  const [row] = await world.gateway.database.query<{ nano: bigint }>(
    "select coalesce(sum(amount_nano), 0)::bigint as nano from ledger_entries where workspace_id = $1 and kind = 'credit'",
    [ws],
  );
  return row!.nano;
};

describe("the money page", () => {
  const amount = async (page: Page, title: string): Promise<bigint> => {
    const tileOf = page.locator("main").getByText(`${title} (USD)`, { exact: true }).locator("..");
    return nanoOf((await tileOf.innerText()).split("\n")[1]!);
  };

  it.skipIf(!isLong)("shows numbers of a workspace that equal the sum of its entries", async () => {
    const { page, complaints, close } = await world.open("ann");
    // Only rows in view are in the page.
    await page.setViewportSize({ width: 1280, height: 6_000 });
    await page.goto("/money");
    await page.getByRole("heading", { name: "Caps (USD)" }).waitFor();
    const charged = sumOf(seenBy("ann"));
    const credits = await creditsOf(world.home.id);
    await page.getByText("Charged (USD)").waitFor();
    expect(await amount(page, "Charged")).toBe(charged);
    expect(await amount(page, "Credits")).toBe(credits);
    expect(await amount(page, "Available")).toBe(credits - charged);
    expect(await amount(page, "Held")).toBe(0n);
    for (const [title, sum] of [
      ["Charged", -charged],
      ["Credits", credits],
    ] as const) {
      await page.getByRole("link", { name: `${title} (USD)` }).click();
      await page.waitForURL("**/money/ledger?**");
      const amounts = await amountsOf(page, amountColumn);
      expect(amounts.reduce((all, one) => all + one, 0n)).toBe(sum);
      await page.goBack();
    }
    // Each balance is the earlier one plus the entry's amount; the last one is what is left.
    await page.getByRole("link", { name: "Ledger" }).click();
    await page.waitForURL(`**/money/ledger?ws=${world.home.id}`);
    const amounts = await amountsOf(page, amountColumn);
    const balances = await amountsOf(page, balanceColumn);
    expect(balances[0]).toBe(credits - charged);
    const steps = balances.map((balance, place) => balance - (balances[place + 1] ?? 0n));
    expect(steps).toEqual(amounts);
    await page.getByRole("link", { name: /^req_/ }).first().click();
    await page.getByRole("table", { name: "Price" }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it("adds credit once: it shows the amount first, and neither a second click nor a lost answer pays twice", async () => {
    const { page, complaints, close } = await world.open("root");
    const before = await creditsOf(world.away.id);
    await page.goto(`/money?ws=${world.away.id}`);
    await page.getByRole("button", { name: "Add credit" }).click();
    const dialog = page.getByRole("dialog");
    for (const wrong of ["", "1e3", "0", "0.0000000001", "<b>1</b>", "9223372036", "10000000.01"]) {
      await dialog.getByLabel("Amount (USD)").fill(wrong);
      await dialog.getByRole("button", { name: "Continue" }).click();
      await dialog.getByText(/^(Enter an amount .* at most 10,000,000|It must not be 0)/).waitFor();
    }
    await dialog.getByLabel("Amount (USD)").fill("25.50");
    await dialog.getByLabel("Note").fill("<script>alert(1)</script>");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("(25 dollars and 50 cents) to away.").waitFor();
    // The gateway adds the credit, and its answer is lost.
    let lost = 0;
    await page.route("**/credits", async (route) => {
      await route.fetch();
      lost += 1;
      await route.abort();
    });
    await dialog.getByRole("button", { name: "Add 25.5 USD" }).click();
    await dialog.getByText("The gateway cannot be reached.").waitFor();
    expect(lost).toBe(1);
    expect(await creditsOf(world.away.id)).toBe(before + 25_500_000_000n);
    await page.unroute("**/credits");
    await dialog.getByRole("button", { name: "Add 25.5 USD" }).dblclick();
    await dialog.waitFor({ state: "hidden" });
    await page.getByText("The credit is in the ledger.").first().waitFor();
    expect(await creditsOf(world.away.id)).toBe(before + 25_500_000_000n);
    await page.getByText("Credits (USD)").waitFor();
    await eventually(
      async () => (await amount(page, "Credits")) === before + 25_500_000_000n,
      "the page shows it",
    );
    await page.getByRole("link", { name: "Credits (USD)" }).click();
    await page.getByText("<script>alert(1)</script>").waitFor();
    expect(complaints.filter((text) => !text.includes("ERR_FAILED"))).toEqual([]);
    await close();
  });

  it.skipIf(!isLong)(
    "shows an administrator every workspace's balance, and whether the ledger adds up",
    async () => {
      const { page, complaints, close } = await world.open("root");
      await page.goto("/money");
      const home = page.getByRole("row", { name: /^home/ });
      await home.getByRole("cell").nth(3).getByText(/\d/).waitFor();
      expect(nanoOf(await home.getByRole("cell").nth(3).innerText())).toBe(sumOf(seenBy("ann")));
      await page.getByRole("button", { name: "Check now" }).click();
      await page.getByText(/^No difference in \d+ entries, checked /).waitFor();
      await home.getByRole("link").click();
      await page.getByRole("heading", { name: "Caps (USD)" }).waitFor();
      await page.goto("/money/ledger");
      await page.locator("main").getByRole("link", { name: "away" }).click();
      await page.getByRole("table", { name: "Entries of the ledger" }).waitFor();
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it.skipIf(!isLong)("shows caps in one tree, nearest to the limit first", async () => {
    const { ann, mem, home, must, gateway } = world;
    must(
      await gateway.admin("PATCH", `/workspaces/${home.id}`, { spend_caps: { monthly: "500" } }),
    );
    must(
      await ann.call("PATCH", `/workspaces/${home.id}/members/${mem.userId}`, {
        spend_caps: { monthly: "0.00001" },
      }),
    );
    const { page, complaints, close } = await world.open("ann");
    await page.goto("/money");
    const caps = page.getByRole("region", { name: "Caps" });
    await caps.getByText("reached, resets in").waitFor();
    const names = await caps.getByRole("listitem").allInnerTexts();
    expect(names[1]).toContain(mem.email);
    await caps.getByRole("link", { name: mem.email }).click();
    await page.waitForURL(`**/requests?**member=${mem.userId}**`);
    expect(complaints).toEqual([]);
    await close();
  });

  it("shows a member the balance and their own caps, without ledger, credit and check", async () => {
    const { page, settled, complaints, close } = await world.open("mem");
    await page.goto("/money");
    const caps = page.getByRole("region", { name: "Caps" });
    await caps.getByText(world.mem.email).waitFor();
    expect(await caps.getByText(world.ann.email).count()).toBe(0);
    await page.getByText("Available (USD)").waitFor();
    for (const name of ["Add credit", "Check now"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Ledger" }).count()).toBe(0);
    await arrive({ page, settled }, "/money/ledger");
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("row", { name: /charge/ }).count()).toBe(0);
    await arrive({ page, settled }, `/money?ws=${world.away.id}`);
    await page.getByRole("alert").first().getByText("There is no such").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

it.skipIf(!isLong)(
  "Overview and Money with numbers are accessible; every-page.test.ts covers empty ones",
  async () => {
    const { page, complaints, close } = await world.open("ann", { scheme: "dark" });
    for (const path of ["/overview", "/money"]) {
      await page.goto(path);
      await page.locator("main").getByText("(USD)").first().waitFor();
      await page.waitForLoadState("networkidle");
      expect({ path, found: await seriousFindings(page) }).toEqual({ path, found: [] });
    }
    expect(complaints).toEqual([]);
    await close();
  },
);

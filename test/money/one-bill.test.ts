/**
 * One bill: for the same traffic, every place that shows money or counts agrees to the nano-dollar, before and after usage is
 * summed. Places: ledger, balances, spend of layers, log, usage by any grouping, CSV, exports, metrics.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminToken, startAdminGateway, type Answer } from "../admin/support.ts";
import { csvRows } from "../admin-reads/csv-read.ts";
import { usageGroups } from "../../src/base/management.ts";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import { exportDay } from "../../src/exports/day.ts";
import { openExportPlace, type ExportKind } from "../../src/exports/index.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { sendTraffic, startTraffic, type Traffic } from "./mixed-traffic.ts";
import { config as changed } from "./cost-table.ts";
import { exactUsd } from "../support/exact-usd.ts";
import { isLong } from "../support/long.ts";

type Row = Answer["json"];
const period = "from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z";
const sum = (rows: readonly Row[], name = "cost"): bigint =>
  rows.reduce((all, row) => all + parseUsd(row[name] as string), 0n);
const count = (rows: readonly Row[], name: string): number =>
  rows.reduce((all, row) => all + Number(row[name] ?? 0), 0);
let traffic: Traffic;
/** The ledger's charges in total; `byScope` has them per workspace, key and member. */
let charged: bigint;
let byScope: ReadonlyMap<string, bigint>;
let log: readonly Row[];
beforeAll(async () => {
  traffic = await startTraffic();
  await sendTraffic(traffic);
  const entries = await traffic.gateway.database.query<{ scopes: string[]; nano: bigint }>(
    "select array[workspace_id, key_id, member_id] as scopes, amount_nano as nano from ledger_entries where kind = 'charge'",
  );
  charged = entries.reduce((all, { nano }) => all + nano, 0n);
  const scopes = new Map<string, bigint>();
  for (const { scopes: names, nano } of entries)
    for (const name of names) scopes.set(name, (scopes.get(name) ?? 0n) + nano);
  byScope = scopes;
  log = await pages("/requests?");
}, 120_000);
afterAll(() => traffic?.close());

const get = async (path: string): Promise<Row> =>
  traffic.must(await traffic.root.call("GET", path));
async function pages(path: string): Promise<Row[]> {
  const found: Row[] = [];
  for (let cursor = ""; ;) {
    const page = await get(`${path}limit=7${cursor}`);
    found.push(...page.data);
    if (page.has_more !== true) return found;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor as string)}`;
  }
}
const csv = async (path: string): Promise<Row[]> => {
  const headers = { accept: "text/csv", authorization: `Bearer ${traffic.root.token}` };
  return csvRows(await (await fetch(`${traffic.gateway.url}/admin/v1${path}`, { headers })).text());
};

it("BILL-01: the request log has each call once, and its costs add up to the ledger's charges", () => {
  expect(log.length).toBeGreaterThan(100);
  expect(new Set(log.map(({ id }) => id as string)).size).toBe(log.length);
  expect(charged).toBeGreaterThan(0n);
  expect(sum(log)).toBe(charged);
});

/** The exact sum of price lines. */
const sumOfLines = (lines: readonly Row[]): bigint =>
  lines.reduce((total, { amount }) => total + exactUsd(amount as string), 0n);

it("the price lines of each call add up to its cost, and its entry is the one that charged it", async () => {
  for (const { id, cost, price_lines: lines } of log) {
    const row = await get(`/requests/${id}`);
    expect(row.price_lines).toEqual(lines);
    expect({ id, all: sumOfLines(lines) }).toEqual({ id, all: exactUsd(cost as string) });
    expect({ id, from: row.price_lines_from }).toEqual({
      id,
      from: lines.length > 0 ? "call" : null,
    });
    const [entry] = await traffic.gateway.database.query<{ nano: bigint }>(
      "select amount_nano as nano from ledger_entries where 'entry_' || entry = $1",
      [row.ledger_entry_id],
    );
    expect({ id, nano: entry?.nano ?? 0n }).toEqual({ id, nano: parseUsd(cost as string) });
  }
});

it("CAP-01: balance, workspaces, members and keys show the spend that the ledger charged", async () => {
  for (const { id } of [traffic.home, traffic.away]) {
    const { charged: told, credits, available } = await get(`/workspaces/${id}/balance`);
    expect(parseUsd(told as string)).toBe(byScope.get(id));
    expect(parseUsd(available as string)).toBe(parseUsd(credits as string) - byScope.get(id)!);
    const layers = [
      { of: id, ...(await get(`/workspaces/${id}`)) },
      ...(await pages(`/workspaces/${id}/members?`)).map((row) => ({ of: row.user_id, ...row })),
      ...(await pages(`/keys?workspace_id=${id}&`)).map((row) => ({ of: row.id, ...row })),
    ];
    expect(layers.length).toBeGreaterThan(2);
    for (const { of, spend } of layers) {
      const spent = formatUsd(byScope.get(of as string) ?? 0n);
      expect({ of, spend }).toEqual({
        of,
        spend: { total: spent, daily: spent, weekly: spent, monthly: spent },
      });
    }
  }
  for (const { id, key } of traffic.keys) {
    const headers = { authorization: `Bearer ${key}` };
    const own = (await (await fetch(`${traffic.gateway.url}/v1/key`, { headers })).json()) as Row;
    expect(parseUsd(own.spend.total as string)).toBe(byScope.get(id));
  }
});

it("the price lines stay when every price has changed and every earlier model is gone", async () => {
  const { directory } = traffic.gateway;
  const config = changed("http://127.0.0.1:1")
    .replaceAll(/: "(?=[\d.]+")/g, ': "1')
    .replaceAll("acme/", "other/");
  const later = await startAdminGateway({ config, directory });
  try {
    for (const { id, price_lines: lines } of log) {
      const row = traffic.must(await later.admin("GET", `/requests/${id}`));
      expect({ id, lines: row.price_lines }).toEqual({ id, lines });
    }
  } finally {
    await later.close();
  }
});

const groups = ["", ...usageGroups];
const tagGroups = ["tag:team", "tag:end_user"];

describe.each(["before usage is summed", "after it was"])("%s", (when) => {
  beforeAll(async () => {
    const steps = when.startsWith("after") ? 99 : 0;
    let left = steps;
    await foldUsage(traffic.gateway.database, {
      goesOn: () => (left -= 1) >= 0,
      tags: ["team", "end_user"],
      most: 50,
    });
  });

  it("usage adds up to the ledger and the log, by any grouping", async () => {
    const queries = ["hour", "day", "total"].flatMap((granularity) => [
      `granularity=${granularity}&tz_offset=5`,
      ...[...groups, ...(granularity === "hour" ? [] : tagGroups)].map(
        (group) => `granularity=${granularity}${group && `&group_by=${group}`}`,
      ),
    ]);
    queries.push("granularity=month", "group_by=model&top=2", "group_by=tag:team&top=1");
    const usage = (name: string) =>
      log.reduce((all, row) => all + Number(row.usage?.[name] ?? 0), 0);
    const wanted = {
      cost: charged,
      requests: log.length,
      errors: log.filter(({ status }) => status === "failed" || status === "expired").length,
      left: log.filter(({ status }) => status === "client_closed").length,
      input: usage("input_tokens") + usage("input_text_tokens") + usage("input_image_tokens"),
      cacheRead: usage("cache_read_tokens"),
      cacheWrite: usage("cache_write_tokens"),
      output: usage("output_tokens") + usage("output_text_tokens") + usage("output_image_tokens"),
      reasoning: usage("reasoning_tokens"),
      images: usage("output_images"),
      seconds: usage("seconds").toFixed(6),
      tokens: usage("tokens"),
    };
    const others = {
      cacheWrite1h: usage("cache_write_1h_tokens"),
      imagesIn: usage("input_images"),
      imageTokensIn: usage("input_image_tokens"),
      imageTokensOut: usage("output_image_tokens"),
    };
    expect(others.cacheWrite1h).toBeGreaterThan(0);
    expect(others.imageTokensOut).toBeGreaterThan(0);
    Object.assign(wanted, others);
    // The short form runs half of the queries before, and the other half after.
    const turn = when.startsWith("after") ? 1 : 0;
    for (const query of queries.filter((_query, index) => isLong || index % 2 === turn)) {
      const rows = (await get(`/usage?${query}`)).data as Row[];
      expect({ query, ...countsOf(rows) }).toEqual({ query, ...wanted });
    }
    expect(countsOf(await csv(`/usage?${period}&group_by=model&granularity=day`))).toEqual(wanted);
  });

  const countsOf = (rows: readonly Row[]) => ({
    cost: sum(rows),
    requests: count(rows, "requests"),
    errors: count(rows, "errors"),
    left: count(rows, "client_closed"),
    input: count(rows, "input_tokens"),
    cacheRead: count(rows, "cache_read_tokens"),
    cacheWrite: count(rows, "cache_write_tokens"),
    output: count(rows, "output_tokens"),
    reasoning: count(rows, "reasoning_tokens"),
    images: count(rows, "output_images"),
    seconds: count(rows, "output_video_seconds").toFixed(6),
    tokens: count(rows, "output_video_tokens"),
    cacheWrite1h: count(rows, "cache_write_1h_tokens"),
    imagesIn: count(rows, "input_images"),
    imageTokensIn: count(rows, "image_input_tokens"),
    imageTokensOut: count(rows, "image_output_tokens"),
  });

  it("`verify` finds no difference", async () => {
    expect(await verifyLedger(traffic.gateway.database)).toEqual([]);
  });
});

it("CSV and exports have the same rows and sums as the API", async () => {
  const requests = await csv(`/requests?${period}`);
  expect(requests.map(({ id }) => id as string)).toEqual(log.map(({ id }) => id as string));
  expect(sum(requests)).toBe(charged);
  const linesIn = (rows: readonly Row[]) =>
    rows.map(({ price_lines: lines }) => (typeof lines === "string" ? JSON.parse(lines) : lines));
  expect(linesIn(requests)).toEqual(linesIn(log));
  const of = (rows: readonly Row[]) =>
    sum(
      rows.filter(({ kind }) => kind === "charge"),
      "amount",
    );
  const ledgers = [traffic.home, traffic.away].map(({ id }) =>
    csv(`/workspaces/${id}/ledger?${period}`),
  );
  expect(of((await Promise.all(ledgers)).flat())).toBe(charged);
  const files = { requests: await exported("requests"), ledger: await exported("ledger") };
  expect(files.requests).toHaveLength(log.length);
  const byId = new Map(files.requests.map((row) => [row.id, row.price_lines]));
  expect(log.map(({ id }) => byId.get(id))).toEqual(linesIn(log));
  expect([sum(files.requests), of(files.ledger)]).toEqual([charged, charged]);
});

/** Exports the days on which the traffic may have been, and reads the files back. */
async function exported(kind: ExportKind): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bill-"));
  const place = await openExportPlace({ to: folder });
  const days = [-1, 0].map((day) =>
    new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10),
  );
  const lines: Row[] = [];
  for (const day of days) {
    const { file } = await traffic.gateway.database.transaction((tx) =>
      exportDay(tx, place, { kind, day }),
    );
    const text = gunzipSync(readFileSync(join(folder, file))).toString();
    lines.push(
      ...text
        .split("\n")
        .filter(Boolean)
        .map((line): Row => JSON.parse(line)),
    );
  }
  rmSync(folder, { recursive: true });
  return lines;
}

it("metrics count the same cost and the same calls", async () => {
  const headers = { authorization: `Bearer ${adminToken}` };
  const text = await (await fetch(`${traffic.gateway.url}/metrics`, { headers })).text();
  const of = (name: string) =>
    text
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.split(" ").at(-1)!);
  const cost = of("tollgate_cost_usd_total").reduce(
    (all, value) => all + parseUsd(withoutExponent(value)),
    0n,
  );
  expect(cost).toBe(charged);
  const tokens = (type: string) =>
    text
      .split("\n")
      .filter(
        (line) =>
          line.startsWith("gen_ai_client_token_usage_total{") && line.includes(`type="${type}"`),
      )
      .reduce((all, line) => all + Number(line.split(" ").at(-1)), 0);
  // Metrics have no tokens of tasks.
  const used = (name: string) =>
    log.reduce(
      (all, row) => all + Number(row.protocol === "tasks" ? 0 : (row.usage?.[name] ?? 0)),
      0,
    );
  for (const side of ["input", "output"])
    expect({ side, tokens: tokens(side) }).toEqual({
      side,
      tokens: used(`${side}_tokens`) + used(`${side}_text_tokens`) + used(`${side}_image_tokens`),
    });
  const calls = [...of("tollgate_calls_total"), ...of("tollgate_tasks_total")].map(Number);
  expect(calls.reduce((one, other) => one + other, 0)).toBe(log.length);
});

/** Writes `6e-8` as "0.00000006", digit by digit: `parseUsd` then refuses what is below a nano-dollar. */
function withoutExponent(value: string): string {
  const [, first, more = "", zeros] = /^(\d)(?:\.(\d+))?e-(\d+)$/.exec(value) ?? [];
  return first === undefined ? value : `0.${"0".repeat(Number(zeros) - 1)}${first}${more}`;
}

it("small amounts in metrics are read exactly", () => {
  expect(
    ["6e-8", "1.25e-7", "3e-9", "0.5"].map((value) => parseUsd(withoutExponent(value))),
  ).toEqual([60n, 125n, 3n, 500_000_000n]);
  for (const tooSmall of ["1e-10", "1.5e-9"])
    expect(() => parseUsd(withoutExponent(tooSmall))).toThrow(RangeError);
});

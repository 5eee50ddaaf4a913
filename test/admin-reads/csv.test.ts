/** Lists and usage as CSV: the rows of the JSON answers, with any content, for the same readers. Also the filters of the ledger. */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { csvCell } from "../../src/http/admin/csv.ts";
import type { Person } from "../admin/people.ts";
import { eventually } from "../support/patience.ts";
import { csvRows } from "./csv-read.ts";
import { startWorld, type World } from "./support.ts";

const period = "from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z";

it.each([
  ["=1+1", "'=1+1"],
  ["+SUM(A1)", "'+SUM(A1)"],
  ["@cmd", "'@cmd"],
  ["-2+3", "'-2+3"],
  ["\t=1", "'\t=1"],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ["\r=1", `"'\r=1"`],
  ["\uFF1Dcmd", "'\uFF1Dcmd"],
  [" =1", "' =1"],
  ['x;=HYPERLINK("http://x")', `"x;'=HYPERLINK(""http://x"")"`],
  ["a\t+1|@x; -2", "a\t'+1|'@x; '-2"],
  ["a\n=1", `"a\n'=1"`],
  ["a;b - c", "a;b - c"],
  ["2026-11-23T10:00:00.000Z", "2026-11-23T10:00:00.000Z"],
  ["a,b", '"a,b"'],
  ["a\r\nb", '"a\r\nb"'],
  ["-5.000000001", "-5.000000001"],
  ["12", "12"],
  [12.5, "12.5"],
  [null, ""],
  [["x"], '"[""x""]"'],
])("the CSV cell of %j is %j", (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

describe("CSV", () => {
  let world: World;
  let keys: Record<"mem" | "mel" | "bob", { id: string; key: string }>;
  beforeAll(async () => {
    world = await startWorld();
    const { home, away, root } = world;
    keys = {
      mem: await world.keyOf(world.mem, home.id),
      mel: await world.keyOf(world.mel, home.id),
      bob: await world.keyOf(world.bob, away.id),
    };
    for (let count = 0; count < 105; count += 1) await world.chat(keys.mem.key);
    await world.chat(keys.mel.key, {}, "=cmd|' /C calc'!A0");
    await world.chat(keys.bob.key);
    for (const amount of ["5.00", "-3.00"])
      await root.call("POST", `/workspaces/${home.id}/credits`, { amount, note: '=1+1, "so"' });
  });
  afterAll(() => world.gateway.close());

  const get = async (person: Person, path: string, accept = "text/csv") => {
    const answer = await fetch(`${world.gateway.url}/admin/v1${path}`, {
      headers: { accept, authorization: `Bearer ${person.token}` },
    });
    return {
      status: answer.status,
      type: answer.headers.get("content-type"),
      text: await answer.text(),
    };
  };
  const rowsOf = async (person: Person, path: string) => {
    const { status, type, text } = await get(person, path);
    expect([status, type]).toEqual([200, "text/csv; charset=utf-8"]);
    return csvRows(text);
  };
  const all = async (person: Person, path: string) => {
    const found: Record<string, unknown>[] = [];
    for (let cursor = ""; ;) {
      const { json } = await person.call("GET", `${path}&limit=100${cursor}`);
      found.push(...json.data);
      if (json.has_more !== true) return found;
      cursor = `&cursor=${json.next_cursor}`;
    }
  };

  it("requests has the rows of all pages, with formulas escaped", async () => {
    const rows = await rowsOf(world.root, `/requests?${period}`);
    const json = await all(world.root, `/requests?${period}`);
    expect(rows.map(({ id }) => id)).toEqual(json.map(({ id }) => id));
    expect(rows).toHaveLength(107);
    const models = rows.map(({ model }) => model);
    expect(models).toContain("'=cmd|' /C calc'!A0");
    expect(rows.at(-1)!["usage.input_tokens"]).toBe("1000");
  });

  it("requests has new columns after the earlier ones", async () => {
    const { text } = await get(world.root, `/requests?${period}&model=none`);
    const columns = text.trimEnd().split(",");
    expect(columns.slice(columns.indexOf("usage.image_tool_output_tokens") + 1)).toEqual([
      "explanation.error",
      "tags",
      "end_user",
      "price_lines",
      "price_lines_from",
      "usage.unbilled",
      "usage.file_searches",
      "usage.map_searches",
      "usage.attachment_searches",
      "usage.code_runs",
      "usage.x_posts",
      "usage.x_profiles",
      "usage.explicit_cache",
    ]);
  });

  it("requests reads at most one page for HEAD", async () => {
    const queries = vi.spyOn(world.gateway.database, "query");
    const answer = await fetch(`${world.gateway.url}/admin/v1/requests?${period}`, {
      method: "HEAD",
      headers: { accept: "text/csv", authorization: `Bearer ${world.root.token}` },
    });
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    // By now any query that it started has run.
    await world.gateway.get("/v1/key");
    const pages = queries.mock.calls.filter(([sql]) => sql.includes("join request_log x"));
    expect(pages).toHaveLength(1);
    queries.mockRestore();
  });

  it("requests has all billed quantities, the error, the tags and the end user of a call", async () => {
    const { gateway, root, home } = world;
    const { key } = await world.keyOf(world.ann, home.id);
    const usage = { input: 900, output: 70, cache_read: 300, cache_write: 200, reasoning: 30 };
    await world.chat(key, { usage });
    await world.video(key);
    const post = (path: string, body: object) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${key}`,
          prefer: "wait=30",
          "x-gw-metadata": '{"team":"=1"}',
          "x-gw-end-user": "@u",
        },
        body: JSON.stringify({ prompt: "A boat", ...body }),
      }).then((answer) => answer.text());
    await post("/v1/images/generations", { model: "sandbox/image-model-a" });
    await post("/v1/tasks", { model: "sandbox/task-image-model-1", n: 2 });
    await post("/v1/images/generations", { model: "no/such" });
    const path = `/requests?${period}&workspace_id=${home.id}`;
    const counts = [0, 5, 5, 4, 6];
    // Rows are written after the callers' answers.
    const json = await eventually(async () => {
      const found = (await all(root, path)).slice(0, 5);
      const isWhole = isDeepStrictEqual(
        found.map(({ usage: told }) => Object.keys(told ?? {}).length),
        counts,
      );
      return isWhole && found;
    }, "all calls are in the log");
    const rows = (await rowsOf(root, path)).slice(0, 5);
    const usageOf = (row: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(row).flatMap(([name, cell]) =>
          name.startsWith("usage.") && cell !== "" ? [[name.slice(6), cell]] : [],
        ),
      );
    const asText = (counts: object | null) =>
      Object.fromEntries(
        Object.entries(counts ?? {}).map(([name, count]) => [name, String(count)]),
      );
    expect(rows.map(usageOf)).toEqual(json.map((row) => asText(row["usage"] as object | null)));
    expect(rows.map((row) => Object.keys(usageOf(row)).length)).toEqual(counts);
    expect(rows[0]).toMatchObject({
      "explanation.error": "invalid_value",
      tags: '{"team":"=1"}',
      end_user: "'@u",
    });
  });

  it("ledger has amounts as numbers, notes as escaped text, and adds up", async () => {
    const path = `/workspaces/${world.home.id}/ledger?${period}`;
    const rows = await rowsOf(world.root, path);
    expect(rows).toHaveLength((await all(world.root, path)).length);
    expect(rows.find(({ amount }) => amount === "-3")).toMatchObject({ note: `'=1+1, "so"` });
    const balance = rows.reduce((sum, { kind, amount }) => {
      const nano = parseUsd(amount!);
      return kind === "credit" ? sum + nano : sum - nano;
    }, 0n);
    expect(balance).toBe(parseUsd(rows[0]!["balance_after"]!));
  });

  it("usage has the same costs as the JSON answer", async () => {
    const path = `/usage?${period}&granularity=day&group_by=key`;
    const rows = await rowsOf(world.root, path);
    const json = (await world.root.call("GET", path)).json.data as { cost: string }[];
    expect(rows.map(({ cost }) => cost)).toEqual(json.map(({ cost }) => cost));
    expect(rows.map(({ key_id }) => key_id)).toEqual(
      json.map((row) => (row as { key_id?: string }).key_id),
    );
  });

  it("has the same rights and the same rows as JSON", async () => {
    const own = await rowsOf(world.mel, `/requests?${period}`);
    expect(own.map(({ key_id }) => key_id)).toEqual([keys.mel.id]);
    expect(await rowsOf(world.bob, `/requests?${period}&workspace_id=${world.home.id}`)).toEqual(
      [],
    );
    expect((await get(world.bob, `/workspaces/${world.home.id}/ledger?${period}`)).status).toBe(
      404,
    );
    expect((await get(world.mem, `/workspaces/${world.home.id}/ledger?${period}`)).status).toBe(
      403,
    );
  });

  it.each([
    ["/requests?from=2020-01-01T00:00:00Z", "to"],
    ["/requests?to=2020-01-01T00:00:00Z", "from"],
    ["/usage", "from"],
    [`/usage?${period}&also_by=model`, "also_by"],
    [`/requests?${period}&view=list`, "view"],
  ])(
    "%s: 400 that names the parameter that CSV requires or does not support",
    async (path, param) => {
      const { status, text } = await get(world.root, path);
      expect([status, (JSON.parse(text) as { error: { param: string } }).error.param]).toEqual([
        400,
        param,
      ]);
    },
  );

  it("is not sent for `accept: */*`, which gets JSON", async () => {
    const { type } = await get(world.root, "/requests", "*/*");
    expect(type).toMatch(/^application\/json/);
  });

  it("F1: the ledger is filtered by kind, key, member, reference and time, page by page", async () => {
    const path = `/workspaces/${world.home.id}/ledger`;
    const entries = (await all(world.root, `${path}?${period}`)) as {
      id: string;
      kind: string;
      key_id: string | null;
      member_id: string | null;
      reference: string;
      created_at: string;
    }[];
    const some = entries.find(({ key_id }) => key_id === keys.mem.id)!;
    const ids = async (query: string) =>
      (await all(world.root, `${path}?${query}`)).map(({ id }) => id);
    const where = (fits: (entry: (typeof entries)[number]) => boolean) =>
      entries.filter(fits).map(({ id }) => id);
    expect(await ids("kind=credit")).toEqual(where(({ kind }) => kind === "credit"));
    expect(await ids(`key_id=${keys.mem.id}`)).toEqual(
      where(({ key_id }) => key_id === keys.mem.id),
    );
    expect(await ids(`member_id=${world.mel.userId}`)).toEqual(
      where(({ member_id }) => member_id === world.mel.userId),
    );
    expect(await ids(`reference=${some.reference}`)).toEqual([some.id]);
    expect(await ids(`from=${some.created_at}&kind=charge`)).toEqual(
      where((entry) => entry.kind === "charge" && entry.created_at >= some.created_at),
    );
    expect(await ids(`to=${some.created_at}`)).toEqual(
      where((entry) => entry.created_at < some.created_at),
    );
    expect(await ids(`key_id=${keys.bob.id}`)).toEqual([]);
  });
});

/** The request log over the management API: its fields, its filters, and which reader sees which rows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { ids, startWorld, usageTold, type World } from "./support.ts";

describe("the request log", () => {
  let world: World;
  /** Keys of mem, mel (home) and bob (away). */
  let keys: Record<"mem" | "mel" | "bob", { id: string; key: string }>;
  let rows: Record<"mem" | "mel" | "bob" | "failed" | "video", string>;
  beforeAll(async () => {
    world = await startWorld();
    const { home, away } = world;
    keys = {
      mem: await world.keyOf(world.mem, home.id),
      mel: await world.keyOf(world.mel, home.id),
      bob: await world.keyOf(world.bob, away.id),
    };
    rows = {
      mem: await world.chat(keys.mem.key),
      mel: await world.chat(keys.mel.key, {}, "sandbox/messages"),
      bob: await world.chat(keys.bob.key),
      failed: await world.chat(keys.mel.key, { status: 400, error: "no" }),
      video: await world.video(keys.mem.key),
    };
  });
  afterAll(() => world.gateway.close());

  it("has all documented fields of a call right after its answer", async () => {
    const id = await world.chat(keys.mem.key);
    const { status, json } = await world.mem.call("GET", `/requests/${id}`);
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(
      (
        "id created_at workspace_id key_id model provider protocol upstream_protocol status http_status usage " +
        "usage_source cost duration_ms first_token_ms dropped notes attempts explanation tags end_user stream error reserved " +
        "ledger_entry_id changes workspace_name key_name key_last4 price_lines price_lines_from"
      ).split(" "),
    );
    expect(json).toMatchObject({
      id,
      workspace_id: world.home.id,
      key_id: keys.mem.id,
      model: "sandbox/chat",
      protocol: "chat",
      upstream_protocol: "chat",
      status: "succeeded",
      http_status: 200,
      usage: {
        input_tokens: usageTold.input,
        output_tokens: usageTold.output,
        cache_write_1h_tokens: 0,
      },
      usage_source: "upstream",
      cost: expect.stringMatching(/^0\.\d+$/) as string,
      dropped: [],
      attempts: [{ outcome: "ok", status: 200 }],
      explanation: { plan: { model: "sandbox/chat" } },
    });
    const entry = await world.gateway.database.query<{ amount_nano: bigint }>(
      "select amount_nano from ledger_entries where reference = $1",
      [id],
    );
    expect(BigInt(Math.round(Number(json.cost) * 1e9))).toBe(entry[0]!.amount_nano);
  });

  it("shows credentials, upstream models and vendors' messages to organization admins only", async () => {
    const inside = await world.root.call("GET", `/requests/${rows.failed}`);
    expect(inside.json.attempts[0]).toMatchObject({
      credential: expect.any(String) as string,
      upstream_model: expect.any(String) as string,
    });
    for (const person of [world.ann, world.mel]) {
      const { json } = await person.call("GET", `/requests/${rows.failed}`);
      expect(Object.keys(json.attempts[0])).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/credential|upstream_model|message/)]),
      );
      expect(json.attempts[0].provider).toBe(inside.json.attempts[0].provider);
    }
  });

  it("shows each user their own rows; another user's call gets the answer of an unknown one", async () => {
    const seenBy = async (person: World["mem"]) => ids(await person.call("GET", "/requests"));
    expect(await seenBy(world.root)).toEqual(expect.arrayContaining(Object.values(rows)));
    const { bob, ...atHome } = rows;
    expect(await seenBy(world.ann)).toEqual(expect.arrayContaining(Object.values(atHome)));
    expect(await seenBy(world.ann)).not.toContain(bob);
    expect(await seenBy(world.mem)).toEqual(expect.arrayContaining([rows.mem, rows.video]));
    expect(await seenBy(world.mem)).not.toContain(rows.mel);
    expect(await seenBy(world.bob)).toEqual([bob]);
    for (const [person, id] of [
      [world.ann, rows.bob],
      [world.mem, rows.mel],
      [world.bob, rows.mem],
    ] as const) {
      const foreign = await person.call("GET", `/requests/${id}`);
      const missing = await person.call("GET", "/requests/req_00000000000000000000000000");
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(missing.text);
    }
  });

  it("lists calls and tasks newest first, page by page", async () => {
    const all = await world.root.call("GET", "/requests?limit=100");
    const times = (all.json.data as { id: string }[]).map(({ id }) => id.split("_")[1]!);
    expect(times).toEqual([...times].sort().reverse());
    const paged: string[] = [];
    let cursor = "";
    do {
      const page = await world.root.call("GET", `/requests?limit=2${cursor}`);
      paged.push(...ids(page));
      expect(page.json.has_more).toBe(page.json.next_cursor !== null);
      cursor = page.json.next_cursor === null ? "" : `&cursor=${page.json.next_cursor}`;
    } while (cursor !== "");
    expect(paged).toEqual(ids(all));
  });

  it.each(["fail", "error", "", "failed,", "failed, expired", "FAILED"])(
    "refuses an unknown status instead of answering with an empty list: %j",
    async (status) => {
      const query = `status=${encodeURIComponent(status)}`;
      for (const path of ["/requests", `/requests/${rows.mel}/neighbours`]) {
        const answer = await world.root.call("GET", `${path}?${query}`);
        expect([answer.status, answer.json.error]).toEqual([
          400,
          expect.objectContaining({
            code: "invalid_value",
            param: "status",
            message:
              "`status` must be one or more of these, separated by commas: succeeded, failed, client_closed, expired, canceled.",
          }),
        ]);
      }
    },
  );

  it("filters by workspace, key, model, provider, status, from and to", async () => {
    const list = async (query: string) => ids(await world.root.call("GET", `/requests?${query}`));
    expect(await list(`workspace_id=${world.away.id}`)).toEqual([rows.bob]);
    expect(await list(`key_id=${keys.mel.id}`)).toEqual([rows.failed, rows.mel]);
    expect(await list(`key_id=${keys.mel.id}&status=failed`)).toEqual([rows.failed]);
    expect(await list("model=sandbox/video-model-v1")).toEqual([rows.video]);
    expect(await list("model=sandbox/messages")).toEqual([rows.mel]);
    const { json } = await world.root.call("GET", `/requests/${rows.bob}`);
    const { provider, created_at } = json as { provider: string; created_at: string };
    expect(await list(`provider=${provider}&workspace_id=${world.away.id}`)).toEqual([rows.bob]);
    expect(await list("provider=nobody")).toEqual([]);
    const before = encodeURIComponent(created_at);
    expect(await list(`to=${before}`)).not.toContain(rows.bob);
    expect(await list(`from=${before}&workspace_id=${world.away.id}`)).toEqual([rows.bob]);
    const after = new Date(Date.parse(created_at) + 1).toISOString();
    expect(await list(`from=${after}`)).not.toContain(rows.bob);
    expect(await list("workspace_id=ws_nowhere")).toEqual([]);
  });

  it("filters by member, protocol, HTTP status, error and cost, within what its reader sees", async () => {
    const list = async (query: string, who = world.root) =>
      ids(await who.call("GET", `/requests?view=list&${query}`));
    expect(await list(`member_id=${world.bob.userId}`)).toEqual([rows.bob]);
    expect(await list(`member_id=${world.bob.userId}`, world.ann)).toEqual([]);
    expect(await list(`member_id=${world.mel.userId}`)).toEqual([rows.failed, rows.mel]);
    const failed = world.must(await world.root.call("GET", `/requests/${rows.failed}`));
    expect(await list(`http_status=${failed.http_status}`)).toEqual([rows.failed]);
    expect(await list(`error_code=${failed.error.code}`)).toEqual([rows.failed]);
    expect(await list("error_code=none_such")).toEqual([]);
    const video = world.must(await world.root.call("GET", `/requests/${rows.video}`));
    expect(await list(`protocol=${video.protocol}`)).toEqual([rows.video]);
    expect(await list(`min_cost=${video.cost}`)).toEqual([rows.video]);
    expect(await list("min_cost=999999999")).toEqual([]);
  });

  it("filters by text in the error, by duration, and by whether anything was changed", async () => {
    const list = async (query: string, who = world.root) =>
      ids(await who.call("GET", `/requests?view=list&${query}`));
    const { error } = world.must(await world.root.call("GET", `/requests/${rows.failed}`));
    const word = (error.message as string).split(" ")[0]!;
    expect(await list(`q=${encodeURIComponent(word.toUpperCase())}`)).toEqual([rows.failed]);
    expect(await list(`q=${error.code.slice(2, 8)}`)).toEqual([rows.failed]);
    expect(await list(`q=${error.code}`, world.bob)).toEqual([]);
    // Characters with a meaning in SQL are plain text here.
    for (const hostile of ["%", "_", "\\", "' or true --", "%' escape '", "a%"])
      expect(await list(`q=${encodeURIComponent(hostile)}`)).toEqual(
        `${error.code} ${error.message}`.includes(hostile) ? [rows.failed] : [],
      );
    const slow = await world.chat(keys.bob.key, { delay_ms: 700 });
    expect(await list("min_duration_ms=650")).toContain(slow);
    expect(await list("min_duration_ms=650")).not.toContain(rows.bob);
    const changed = await world.gateway.post("/v1/chat/completions", {
      model: "sandbox/messages",
      messages: [{ role: "user", content: "Hi" }],
      logit_bias: { "1": 1 },
    });
    const id = changed.headers.get("x-request-id")!;
    expect(changed.headers.get("x-request-id")).toMatch(/^req_/);
    expect(await list("changed=true")).toEqual([id]);
    const unchanged = await list("changed=false&limit=100");
    expect(unchanged).toContain(rows.mem);
    expect(unchanged).not.toContain(id);
    const both = await world.root.call("GET", `/requests?changed=true&q=none&min_duration_ms=1`);
    expect(both.json).toMatchObject({ data: [], has_more: false, scanned_to: null });
  });

  it("has small rows for view=list, with the key's name and the error's code", async () => {
    const { json } = await world.mel.call("GET", "/requests?view=list&status=failed");
    expect(json.scanned_to).toBeNull();
    expect(json.data[0]).toMatchObject({
      id: rows.failed,
      key_name: "calls",
      error: expect.any(String) as string,
      stream: false,
      attempts_count: 1,
      dropped_count: 0,
      cost: "0",
    });
    expect(json.data[0]).not.toHaveProperty("explanation");
    expect(json.data[0]).not.toHaveProperty("attempts");
    expect(JSON.stringify(json.data[0]).length).toBeLessThan(600);
    const whole = await world.mel.call("GET", "/requests?status=failed");
    expect(whole.json.data[0].attempts).toHaveLength(1);
    expect(whole.headers.get("etag")).toBeNull();
  });

  it("sorts by cost, dearest first, page by page, with filters and within what its reader sees", async () => {
    const from = new Date(Date.now() - 86_400_000).toISOString();
    const dear = await world.video(keys.mel.key, { duration: 4 });
    await expect
      .poll(async () => (await world.root.call("GET", `/requests/${dear}`)).status)
      .toBe(200);
    const newest = await world.mel.call("GET", "/requests?limit=100");
    const costs = (newest.json.data as { id: string; cost: string }[]).map(({ id, cost }) => ({
      id,
      nano: parseUsd(cost),
    }));
    const sorted = costs.toSorted((one, other) => {
      if (one.nano !== other.nano) return one.nano < other.nano ? 1 : -1;
      return one.id.slice(one.id.indexOf("_")) < other.id.slice(other.id.indexOf("_")) ? 1 : -1;
    });
    const found: string[] = [];
    let cursor = "";
    do {
      const page = await world.mel.call(
        "GET",
        `/requests?view=list&sort=cost&from=${from}&limit=2${cursor}`,
      );
      found.push(...ids(page));
      expect(page.json.scanned_to).toBeNull();
      cursor = page.json.has_more ? `&cursor=${page.json.next_cursor}` : "";
    } while (cursor !== "");
    expect(found).toEqual(sorted.map(({ id }) => id));
    expect(found[0]).toBe(dear);
    expect(found).not.toContain(rows.mem);
    const failed = await world.mel.call("GET", `/requests?sort=cost&from=${from}&status=failed`);
    expect(ids(failed)).toEqual([rows.failed]);
    const csv = await fetch(
      `${world.gateway.url}/admin/v1/requests?sort=cost&from=${from}&to=${from}`,
      { headers: { accept: "text/csv", authorization: `Bearer ${world.root.token}` } },
    );
    expect(csv.status).toBe(400);
  });

  it("gives the neighbours of a call in its list, with the same filters, order and visibility", async () => {
    const from = `from=${new Date(Date.now() - 86_400_000).toISOString()}`;
    const lists = [
      ["root", ""],
      ["ann", "status=failed,succeeded&model=sandbox/chat"],
      ["mel", "min_duration_ms=0"],
      ["mem", from],
      ["root", `sort=cost&${from}`],
      ["mel", `sort=cost&${from}&status=succeeded`],
      ["bob", ""],
    ] as const;
    for (const [who, query] of lists) {
      const list = ids(await world[who].call("GET", `/requests?view=list&limit=100&${query}`));
      expect(list.length).toBeGreaterThan(0);
      for (const [at, id] of list.entries()) {
        const { json } = await world[who].call("GET", `/requests/${id}/neighbours?${query}`);
        const expected = { previous: list[at - 1] ?? null, next: list[at + 1] ?? null };
        expect({ who, query, id, ...json }).toEqual({ who, query, id, ...expected });
      }
    }
    // A call outside the filters still has neighbours; a call that the reader may not see does not exist for that reader.
    const beside = await world.mel.call("GET", `/requests/${rows.mel}/neighbours?status=failed`);
    expect(beside.json).toEqual({ previous: rows.failed, next: null });
    const foreign = await world.mem.call("GET", `/requests/${rows.mel}/neighbours`);
    expect([foreign.status, foreign.json.error.code]).toEqual([404, "not_found"]);
    for (const wrong of ["limit=1", "cursor=req_1", "sort=cost", "from=yesterday"])
      expect(
        (await world.mel.call("GET", `/requests/${rows.mel}/neighbours?${wrong}`)).status,
      ).toBe(400);
  });

  it("finds calls by any provider that was attempted, whichever answered", async () => {
    const list = async (query: string, who = world.root) =>
      ids(await who.call("GET", `/requests?view=list&limit=100&${query}`));
    // One attempt is stored in the row's head, several in the row.
    const again = await world.chat(keys.mel.key, { status: 503 });
    const tries = async (id: string) =>
      world.must(await world.root.call("GET", `/requests/${id}`)).attempts as {
        provider: string;
      }[];
    const [one, several] = [await tries(rows.failed), await tries(again)];
    expect([one.length, several.length > 1]).toEqual([1, true]);
    for (const [id, attempts] of [
      [rows.failed, one],
      [again, several],
    ] as const) {
      const asked = `attempted_provider=${attempts[0]!.provider}`;
      expect(await list(`${asked}&status=failed`)).toContain(id);
      expect(await list(asked, world.mem)).not.toContain(id);
    }
    expect(await list("attempted_provider=nobody")).toEqual([]);
  });

  it.each([
    ["http_status=9", "http_status"],
    ["min_cost=much", "min_cost"],
    ["min_duration_ms=-1", "min_duration_ms"],
    ["changed=perhaps", "changed"],
    ["q=", "q"],
    ["q=%00", "q"],
    ["view=all", "view"],
    ["sort=model", "sort"],
    ["sort=cost", "from"],
    ["sort=cost&from=2026-01-01T00:00:00Z&to=2026-02-02T00:00:00Z", "from"],
    ["sort=cost&from=2099-01-01T00:00:00Z&cursor=1.req_1", "cursor"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["cursor=yesterday", "cursor"],
    ["from=yesterday", "from"],
    ["colour=blue", "colour"],
  ])("%s: 400 that names the parameter", async (query, param) => {
    const { status, json } = await world.root.call("GET", `/requests?${query}`);
    expect(status).toBe(400);
    expect(json.error.param).toBe(param);
  });
});

// The response cache of a key: which caller gets which answer again, its cost, and what an attacker in another workspace gets.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sweepAnswers } from "../../src/calls/index.ts";
import { changeKey, createKey, createWorkspace, disableKey } from "../../src/tenancy/index.ts";
import { calls, expectBooks, logged } from "../hooks/support.ts";
import { eventually } from "../support/patience.ts";
import { scripted, startBench, type Bench } from "../task-http/support.ts";

let bench: Bench;
/** The workspace of the current test. Late writes of earlier tests go to other workspaces. */
let workspaceId: string;
let context: Awaited<ReturnType<Bench["internals"]>>;
beforeAll(async () => {
  bench = await startBench();
  context = await bench.internals();
});
afterAll(() => bench?.close());
beforeEach(async () => {
  workspaceId = await newWorkspace();
  await bench.received(/./);
});

/** Creates a workspace with one dollar. */
async function newWorkspace(): Promise<string> {
  const { id } = await createWorkspace(context, { name: "Cached", organizationId: null });
  await bench.ledger.credit({ workspaceId: id, amountNano: 1_000_000_000n, reference: id });
  return id;
}

const cache = { ttlSeconds: 600, chargePercent: 0 };

/** Creates a key in the test's workspace, or in `place`. */
async function newKey(
  settings: Partial<Parameters<typeof createKey>[1]> = {},
  place = workspaceId,
) {
  const made = await createKey(context, {
    workspaceId: place,
    name: "cached",
    createdBy: null,
    responseCache: cache,
    ...settings,
  });
  return { key: made.key, id: made.record.id };
}

interface Answered {
  readonly status: number;
  readonly cache: string | null;
  readonly text: string;
  readonly id: string;
  readonly body: { error?: { code: string } };
}

async function call(
  key: string,
  body: unknown,
  { path = "/v1/chat/completions", headers = {} } = {},
): Promise<Answered> {
  const answer = await fetch(bench.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    cache: answer.headers.get("x-gw-cache"),
    text,
    id: answer.headers.get("x-request-id")!,
    body: text.startsWith("{") ? (JSON.parse(text) as Answered["body"]) : {},
  };
}

async function stored(...places: string[]): Promise<number> {
  const where = "where workspace_id = any($1)";
  return (await bench.database.query(`select 1 from cached_answers ${where}`, [places])).length;
}

const kept = async (count: number, ...others: string[]) =>
  eventually(async () => (await stored(workspaceId, ...others)) >= count, `${count} answers kept`);

/** Resolves when everything is stored that is kept of a call: answers are stored in turn, and that of a later call is stored by then. */
async function allStored(earlier: Answered): Promise<void> {
  await logged(bench, earlier.id);
  const id = await newWorkspace();
  const { key } = await newKey({}, id);
  expect((await call(key, chat("Later"))).status).toBe(200);
  await eventually(async () => (await stored(id)) === 1, "the later answer stored");
}

const chat = (text: string, more: object = {}) => ({
  model: "sandbox/chat",
  messages: [{ role: "user", content: text }],
  ...more,
});

const charged = (id: string) =>
  eventually(async () => {
    const [row] = await bench.database.query<{ amount_nano: bigint }>(
      "select amount_nano from ledger_entries where reference = $1 and kind = 'charge'",
      [id],
    );
    return row && { nano: row.amount_nano };
  }, `the charge of ${id}`);

const forms = calls.flatMap(([endpoint, path, body]) => [
  { endpoint, path, body: body("Hello"), stream: false },
  ...(endpoint === "embeddings"
    ? []
    : path.includes("generateContent")
      ? ["?alt=sse", ""].map((query) => ({
          endpoint,
          path: path.replace("generateContent", `streamGenerateContent${query}`),
          body: body("Hello"),
          stream: true,
        }))
      : [{ endpoint, path, body: body("Hello", { stream: true }), stream: true }]),
]);

it.each(forms)("a repeat is answered from the cache ($endpoint, stream $stream)", async (form) => {
  const { key } = await newKey();
  const first = await call(key, form.body, form);
  expect([first.status, first.cache]).toEqual([200, "miss"]);
  await kept(1);
  const second = await call(key, form.body, form);
  expect([second.status, second.cache]).toEqual([200, "hit"]);
  expect(second.text).toBe(first.text);
  expect(second.id).not.toBe(first.id);
  expect(await bench.received(/./)).toHaveLength(1);
  const row = await logged(bench, second.id);
  expect(row).toMatchObject({ status: "succeeded", cost_nano: 0n, usage: null });
  expect(row["explanation"]).toMatchObject({ cache: "hit" });
});

describe("the comparison of requests", () => {
  it("ignores the order of members and blanks, and compares all digits of numbers", async () => {
    const { key } = await newKey();
    const at = (seed: string) =>
      `{"model":"sandbox/chat","messages":[{"role":"user","content":"Hi"}],"seed":${seed}}`;
    await call(key, at("1"));
    await kept(1);
    const turned = `{ "seed": 1, "messages": [{"content":"Hi","role":"user"}], "model":"sandbox/chat" }`;
    expect((await call(key, turned)).cache).toBe("hit");
    await call(key, at("9007199254740993"));
    await kept(2);
    expect((await call(key, at("9007199254740992"))).cache).toBe("miss");
  });

  it.each([
    ["a word", chat("Hello."), {}],
    ["a field", chat("Hello", { temperature: 0.5 }), {}],
    ["a stream", chat("Hello", { stream: true }), {}],
    ["the model", chat("Hello", { model: "sandbox/multi" }), {}],
    ["a suffix", chat("Hello", { model: "sandbox/chat:sandbox-openai" }), {}],
    ["other models", chat("Hello"), { "x-gw-fallback-models": "sandbox/multi" }],
  ])("misses if %s differs", async (_what, body, headers) => {
    const { key } = await newKey();
    await call(key, chat("Hello"));
    await kept(1);
    expect((await call(key, body, { headers })).cache).toBe("miss");
  });

  it("misses for a key with another routing, and hits for one with the same routing", async () => {
    const [one, same, other] = await Promise.all([
      newKey(),
      newKey(),
      newKey({ modelAllowlist: ["sandbox/chat"] }),
    ]);
    await call(one.key, chat("Hello"));
    await kept(1);
    expect((await call(same.key, chat("Hello"))).cache).toBe("hit");
    expect((await call(other.key, chat("Hello"))).cache).toBe("miss");
    const { key: plain } = await newKey({ responseCache: null });
    expect((await call(plain, chat("Hello"))).cache).toBe(null);
  });
});

describe("an answer that must not be kept", () => {
  it.each([
    ["a refusal", chat(scripted({ status: 400, error: { message: "no" } }))],
    ["a failure", chat(scripted({ status: 500 }))],
    ["a stream that breaks", chat(scripted({ cut_after_chunks: 1, reply: "one two three four" }))],
    ["a long answer", chat(scripted({ reply: "x".repeat(200_000), chunk_chars: 20 }))],
    ["one of many bytes", chat(scripted({ reply: "三".repeat(300_000), chunk_chars: 300 }))],
  ])("is not stored: %s", async (_what, body) => {
    const { key } = await newKey();
    await allStored(await call(key, { ...body, stream: true }));
    const again = await call(key, { ...body, stream: true });
    expect([null, "miss"]).toContain(again.cache);
    await allStored(again);
    expect(await stored(workspaceId)).toBe(0);
  });

  it("is not stored for no-store; neither no-store nor no-cache reads the cache", async () => {
    const { key } = await newKey();
    const saying = (said: string) =>
      call(key, chat("Hello"), { headers: { "cache-control": said } });
    const first = await saying("no-store");
    expect(first.cache).toBe("bypass");
    await allStored(first);
    expect(await stored(workspaceId)).toBe(0);
    expect((await call(key, chat("Hello"))).cache).toBe("miss");
    await kept(1);
    expect((await saying("no-store")).cache).toBe("bypass");
    expect((await saying("no-cache")).cache).toBe("bypass");
    expect((await saying("max-age=5")).cache).toBe("hit");
    // One of them is that of `allStored`.
    expect(await bench.received(/./)).toHaveLength(5);
  });
});

describe("the price of a cache hit", () => {
  it.each([0, 1, 33, 50, 100])(
    "T59: is %i percent of the first charge, rounded up",
    async (percent) => {
      const { key } = await newKey({ responseCache: { ttlSeconds: 60, chargePercent: percent } });
      const body = chat(`Hello ${percent}\n#sandbox {"usage":{"input":7,"output":3}}`);
      const first = await call(key, body);
      const { nano } = await charged(first.id);
      expect(nano).toBe(9_500n);
      await kept(1);
      const second = await call(key, body);
      expect(second.cache).toBe("hit");
      const share = (nano * BigInt(percent) + 99n) / 100n;
      expect((await logged(bench, second.id))["cost_nano"]).toBe(share);
      // A charge of zero makes no ledger entry.
      const entry = share > 0n ? (await charged(second.id)).nano : 0n;
      expect(entry).toBe(share);
    },
  );
});

it("a hit is logged with the model and provider of the first answer, also after a fallback", async () => {
  const { key } = await newKey({ responseCache: { ttlSeconds: 60, chargePercent: 50 } });
  const models = ["sandbox/messages"];
  const body = chat('Hello\n#sandbox {"status":500,"only":["chat"]}', { models });
  const first = await call(key, body);
  expect([first.status, first.cache]).toEqual([200, "miss"]);
  await kept(1);
  const second = await call(key, body);
  expect([second.cache, second.text]).toEqual(["hit", first.text]);
  const named = { model: models[0], provider: "sandbox-anthropic" };
  for (const { id } of [first, second]) expect(await logged(bench, id)).toMatchObject(named);
});

describe("a cache hit", () => {
  async function warm(settings: Partial<Parameters<typeof createKey>[1]> = {}) {
    const made = await newKey(settings);
    expect((await call(made.key, chat("Hello"))).cache).toBe("miss");
    await kept(1);
    expect((await call(made.key, chat("Hello"))).cache).toBe("hit");
    return made;
  }

  it("fails with 401 for a disabled key", async () => {
    const { key, id } = await warm();
    await disableKey(context, { id });
    expect(await call(key, chat("Hello"))).toMatchObject({
      status: 401,
      body: { error: { code: "api_key_disabled" } },
    });
  });

  it("fails with 402 for a key above its cap", async () => {
    const { key, id } = await warm();
    await changeKey(context, { id }, { spendCaps: { totalNano: 1n } });
    expect(await call(key, chat("Hello"))).toMatchObject({
      status: 402,
      body: { error: { code: "key_total_spend_cap_reached" } },
    });
  });

  it("fails with 403 for a model outside the allowlist", async () => {
    const { key, id } = await warm();
    await changeKey(context, { id }, { modelAllowlist: ["sandbox/multi"] });
    expect((await call(key, chat("Hello"))).status).toBe(403);
  });

  it("becomes an ordinary call for a key whose cache is switched off", async () => {
    const { key, id } = await warm();
    await changeKey(context, { id }, { responseCache: null });
    expect(await call(key, chat("Hello"))).toMatchObject({ status: 200, cache: null });
  });
});

describe("another workspace", () => {
  it("gets none of this workspace's answers, neither by the same request nor by moved rows", async () => {
    const other = await newWorkspace();
    const [own, theirs] = [await newKey(), await newKey({}, other)];
    const body = chat("What is our plan?");
    await call(own.key, body);
    await kept(1);
    expect((await call(theirs.key, body)).cache).toBe("miss");
    await kept(2, other);
    // An attacker who can write rows replaces the answer with another workspace's sealed one.
    await bench.database.query(
      `update cached_answers t set sealed = o.sealed from cached_answers o
       where t.workspace_id = $1 and o.workspace_id = $2`,
      [other, workspaceId],
    );
    expect((await call(theirs.key, body)).cache).toBe("miss");
    await bench.database.query("update cached_answers set sealed = '\\x0102'");
    expect(await call(own.key, body)).toMatchObject({ status: 200, cache: "miss" });
    const rows = await bench.database.query<{ sealed: Buffer }>(
      "select sealed from cached_answers where workspace_id = $1",
      [workspaceId],
    );
    for (const { sealed } of rows) expect(sealed.toString("latin1")).not.toContain("plan");
  });
});

describe("the age and number of cached answers", () => {
  it("are limited: an answer older than the key's time is requested anew, and expired answers are swept", async () => {
    const { key } = await newKey();
    await call(key, chat("Hello"));
    await kept(1);
    await bench.database.query(
      "update cached_answers set created_at = now() - interval '601 seconds' where workspace_id = $1",
      [workspaceId],
    );
    expect((await call(key, chat("Hello"))).cache).toBe("miss");
    await eventually(async () => {
      const rows = await bench.database.query<{ fresh: boolean }>(
        "select created_at > now() - interval '1 minute' as fresh from cached_answers where workspace_id = $1",
        [workspaceId],
      );
      return rows[0]?.fresh;
    }, "kept anew");
    // Removes the answers of other tests' workspaces, whose keys have no cache any more.
    await sweepAnswers(bench.database);
    expect(await sweepAnswers(bench.database)).toBe(0);
    await bench.database.query(
      "update cached_answers set expires_at = now() - interval '1 second' where workspace_id = $1",
      [workspaceId],
    );
    expect(await sweepAnswers(bench.database)).toBe(1);
    expect(await sweepAnswers(bench.database)).toBe(0);
  });

  it("fall to zero when the last cache of a workspace's keys is switched off", async () => {
    const [one, two] = [await newKey(), await newKey()];
    await call(one.key, chat("Hello"));
    await kept(1);
    const left = async () => {
      while ((await sweepAnswers(bench.database)) > 0);
      return stored(workspaceId);
    };
    await changeKey(context, { id: one.id }, { responseCache: null });
    expect(await left()).toBe(1);
    await changeKey(context, { id: two.id }, { responseCache: null });
    expect(await left()).toBe(0);
  });

  it("are limited: a full workspace stores nothing new, and still serves its stored answers", async () => {
    const { key } = await newKey();
    await call(key, chat("Hello"));
    await kept(1);
    await bench.database.query(
      `insert into cached_answers (workspace_id, digest, expires_at, bytes, sealed)
       select $1, n::text, now() + interval '1 hour', 1, '\\x'
       from generate_series(1, 10000) n`,
      [workspaceId],
    );
    await allStored(await call(key, chat("One more")));
    expect((await call(key, chat("One more"))).cache).toBe("miss");
    expect(await stored(workspaceId)).toBe(10_001);
    expect((await call(key, chat("Hello"))).cache).toBe("hit");
  });
});

it("hits and misses are counted, and the books balance", async () => {
  const metrics = await (await fetch(`${bench.url}/metrics`)).text();
  for (const outcome of ["hit", "miss", "bypass"])
    expect(metrics).toMatch(
      new RegExp(`tollgate_response_cache_total\\{outcome="${outcome}"\\} [1-9]`),
    );
  await expectBooks(bench);
});

it("an administrator sets and reads a key's cache by the API", async () => {
  const admin = (method: string, path: string, body?: object) =>
    bench.send(method, `/admin/v1${path}`, { key: context.secrets.adminToken(), body });
  const { id } = await newKey({ responseCache: null });
  const patched = await admin("PATCH", `/keys/${id}`, {
    response_cache: { ttl_seconds: 60, charge_percent: 10 },
  });
  expect(await patched.json()).toMatchObject({
    response_cache: { ttl_seconds: 60, charge_percent: 10 },
  });
  const more = await admin("PATCH", `/keys/${id}`, { response_cache: { ttl_seconds: 90 } });
  expect(await more.json()).toMatchObject({
    response_cache: { ttl_seconds: 90, charge_percent: 10 },
  });
  const wrong = await admin("PATCH", `/keys/${id}`, { response_cache: { charge_percent: 101 } });
  expect(wrong.status).toBe(400);
  expect(await wrong.text()).toContain("charge_percent");
  const off = await admin("PATCH", `/keys/${id}`, { response_cache: null });
  expect(await off.json()).toMatchObject({ response_cache: null });
});

// Money when the cache, hooks before and after, caps, failing vendors and callers that leave all act together. An oracle knows
// which costs each call may have. It compares them with the log, the ledger, and the reports to the after-call hook.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../../src/tenancy/index.ts";
import { parseUsd } from "../../src/base/money.ts";
import {
  decide,
  eventOf,
  expectBooks,
  logged,
  secret,
  startHooked,
  type HookBench,
} from "../hooks/support.ts";
import { formOf, maskOf, modelA, picture } from "../images/support.ts";
import { randomOf } from "../ledger/model/random.ts";
import { eventually } from "../support/patience.ts";

let hooked: HookBench;
beforeAll(async () => {
  hooked = await startHooked(
    (url) => `
  - { name: guard, at: before, url: "${url}/guard", secret: ${secret}, timeout_ms: 2000, on_failure: refuse }
  - { name: lenient, at: before, url: "${url}/lenient", secret: ${secret}, timeout_ms: 2000, on_failure: allow }
  - { name: ear, at: after, url: "${url}/ear", secret: ${secret}, timeout_ms: 5000 }
`,
  );
  hooked.hook.answer(
    decide(({ hook, body }) => {
      const text = JSON.stringify(body);
      if (hook === "lenient" && text.includes("lenient fails")) return { action: "none" };
      if (hook === "guard" && text.includes("guard refuses")) return { action: "refuse" };
      if (hook === "guard" && text.includes("guard fails")) return { action: "none" };
      if (hook === "guard" && text.includes("guard changes")) {
        const redacted: unknown = JSON.parse(text.replace(/guard changes \d/, "changed"));
        return { action: "change", body: redacted };
      }
      return { action: "allow" };
    }),
  );
});
afterAll(() => hooked?.close());

/** A scripted usage and its price, at $0.50 per million tokens of input and $2.00 of output. */
const priced = '{"usage":{"input":7,"output":3}}';
const priceNano = 9_500n;

/** The texts of the calls, and whether a provider's answer to each is charged. */
const texts: readonly (readonly [text: string, isPaid: boolean])[] = [
  ["plain", true],
  ["another", true],
  ["guard changes 1", true],
  ["guard changes 2", true],
  ["lenient fails", true],
  ["guard refuses", false],
  ["guard fails", false],
  ["vendor fails", false],
  ["vendor refuses", false],
];
const scriptOf = (text: string): string => {
  if (text === "vendor fails") return '{"status":500}';
  return text === "vendor refuses" ? '{"status":400}' : priced;
};

/** The cap of the keys that have one. It allows ten calls, each with the most that a call reserves. */
const capNano = 10n * priceNano;
const percents = [0, 33, 100] as const;

interface FinishedCall {
  readonly id: string;
  readonly status: number;
  readonly cache: string | null;
  readonly percent: number;
  readonly key: number;
  readonly isPaid: boolean;
  readonly left: boolean;
}

async function keysOf({ bench }: HookBench) {
  const context = await bench.internals();
  return Promise.all(
    [...percents, ...percents].map(async (chargePercent, index) => {
      const isCapped = index >= percents.length;
      const { key, record } = await createKey(context, {
        workspaceId: bench.workspaceId,
        name: `mixed ${index}`,
        createdBy: null,
        responseCache: { ttlSeconds: 600, chargePercent },
        ...(isCapped && { spendCaps: { totalNano: capNano, hard: true } }),
      });
      return { key, id: record.id, percent: chargePercent, isCapped };
    }),
  );
}

/** Makes one call. Some callers leave once the answer has begun. */
async function callAs(
  { bench }: HookBench,
  { key, percent }: Awaited<ReturnType<typeof keysOf>>[number],
  index: number,
  random: () => number,
): Promise<FinishedCall> {
  const [text, isPaid] = texts[Math.floor(random() * texts.length)]!;
  const stream = random() < 0.5;
  const left = random() < 0.1;
  const control = random() < 0.15 ? ["no-cache", "no-store"][Math.floor(random() * 2)] : undefined;
  const answer = await bench.send("POST", "/v1/chat/completions", {
    key,
    body: {
      model: "sandbox/chat",
      max_tokens: 20,
      stream,
      messages: [{ role: "user", content: `${text}\n#sandbox ${scriptOf(text)}` }],
    },
    headers: control === undefined ? {} : { "cache-control": control },
  });
  const done = {
    id: answer.headers.get("x-request-id")!,
    status: answer.status,
    cache: answer.headers.get("x-gw-cache"),
    percent,
    key: index,
    isPaid,
    left,
  };
  if (left) await answer.body?.cancel();
  else await answer.text();
  return done;
}

interface Row {
  readonly id: string;
  readonly key_id: string;
  readonly status: string;
  readonly cost_nano: bigint;
  readonly explanation: { readonly cache?: string } | null;
}

const byId = <One extends { readonly id: string }>(rows: readonly One[]): Map<string, One> =>
  new Map(rows.map((one) => [one.id, one]));

const isHit = ({ explanation }: Row): boolean => explanation?.cache === "hit";

/**
 * The costs that a call may have. A call of a capped key may be refused. A call whose caller left half-way is charged as far as
 * it came.
 */
function allowedFor(call: FinishedCall, row: Row): bigint[] {
  const { status, cost_nano: costNano } = row;
  const isServed = status === "succeeded" || status === "client_closed";
  if (!call.isPaid || !isServed) return [0n];
  if (isHit(row)) return [(priceNano * BigInt(call.percent) + 99n) / 100n];
  return call.left && costNano <= priceNano ? [priceNano, costNano] : [priceNano];
}

/** Makes all calls: twelve rounds of sixteen at once. */
async function callAll(keys: Awaited<ReturnType<typeof keysOf>>): Promise<FinishedCall[]> {
  const random = randomOf(20_261_123);
  const calls: FinishedCall[] = [];
  for (let round = 0; round < 12; round += 1) {
    const asking = Array.from({ length: 16 }, () => {
      const index = Math.floor(random() * keys.length);
      return callAs(hooked, keys[index]!, index, random);
    });
    calls.push(...(await Promise.all(asking)));
  }
  return calls;
}

const sumOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((sum, amount) => sum + amount, 0n);

it("T59: each call is charged once: the full price, the share of a cache hit, or nothing", async () => {
  const { bench, hook } = hooked;
  const before = await bench.available();
  const keys = await keysOf(hooked);
  const calls = await callAll(keys);
  const ids = calls.map(({ id }) => id);
  const rows = await eventually(async () => {
    const found = await bench.database.query<Row>(
      "select id, key_id, status, cost_nano, explanation from request_log where id = any($1)",
      [ids],
    );
    return found.length === ids.length && byId(found);
  }, "the log of all calls");
  const entries = await bench.database.query<{ id: string; amount_nano: bigint }>(
    "select reference as id, amount_nano from ledger_entries where kind = 'charge' and reference = any($1)",
    [ids],
  );
  const charged = byId(entries);
  expect(charged.size, "no call is charged twice").toBe(entries.length);
  const checked = calls.map((call) => {
    const row = rows.get(call.id)!;
    const isAllowed = allowedFor(call, row).includes(row.cost_nano);
    const isInLedger = (charged.get(call.id)?.amount_nano ?? 0n) === row.cost_nano;
    const isAnswered = call.isPaid || call.status >= 400;
    return { call, row, isRight: isAllowed && isInLedger && isAnswered };
  });
  expect(checked.filter(({ isRight }) => !isRight)).toEqual([]);
  expect(checked.filter(({ row }) => isHit(row)).length).toBeGreaterThan(20);

  const spent = sumOf(entries.map(({ amount_nano: nano }) => nano));
  // Allowances of idle keys are returned a moment later.
  await eventually(
    async () => before - (await bench.available()) === spent,
    "all but the charges is there again",
  );
  for (const { id } of keys.filter((one) => one.isCapped)) {
    const own = [...rows.values()].filter((row) => row.key_id === id);
    expect(sumOf(own.map((row) => row.cost_nano))).toBeLessThanOrEqual(capNano);
  }

  const reports = await eventually(() => {
    const events = hook.requests.filter(({ path }) => path === "/ear").map(eventOf);
    return events.length >= ids.length && events;
  }, "the hook hears of every call");
  expect(new Set(reports.map(({ id }) => id)).size, "each once").toBe(reports.length);
  const charges = reports.map(({ id, charge_usd: usd }) => [id, parseUsd(usd as string)] as const);
  expect(charges.filter(([id, nano]) => rows.get(id)!.cost_nano !== nano)).toEqual([]);
  await expectBooks(bench);
});

it("a cache hit reports hook changes of its own request, to the caller and in the log", async () => {
  const { bench } = hooked;
  const key = await cachedKey("truth");
  const ask = async (text: string, stream: boolean) => {
    const body = { model: "sandbox/chat", stream, messages: [{ role: "user", content: text }] };
    const answer = await bench.send("POST", "/v1/chat/completions", { key, body });
    const said = `${answer.headers.get("x-gw-dropped-params") ?? ""} ${await answer.text()}`;
    const row = await logged(bench, answer.headers.get("x-request-id")!);
    return {
      cache: answer.headers.get("x-gw-cache"),
      isSaid: /messages(?!")|droppedParams":\["messages/.test(said),
      notes: row["notes"] ?? null,
    };
  };
  const note = ['messages: changed by the hook "guard"'];
  const changed = (cache: string) => ({ cache, isSaid: true, notes: note });
  const plain = (cache: string) => ({ cache, isSaid: false, notes: null });
  for (const stream of [false, true]) {
    const until = (text: string) =>
      eventually(async () => {
        const found = await ask(text, stream);
        return found.cache === "hit" && found;
      }, "a hit");
    expect(await ask("truth: guard changes 1", stream)).toEqual(changed("miss"));
    expect(await until("truth: guard changes 2")).toEqual(changed("hit"));
    // The same text that the hook wrote into the other call.
    expect(await ask("truth: changed", stream)).toEqual(plain("miss"));
    expect(await until("truth: changed")).toEqual(plain("hit"));
  }
});

/** Creates a key with a cache whose hits are free. */
async function cachedKey(name: string): Promise<string> {
  const { bench } = hooked;
  const { key } = await createKey(await bench.internals(), {
    workspaceId: bench.workspaceId,
    name,
    createdBy: null,
    responseCache: { ttlSeconds: 600, chargePercent: 0 },
  });
  return key;
}

describe("an incomplete answer", () => {
  const text = "one two three four five six seven eight nine ten";
  const asking = {
    "/v1/chat/completions": (content: string) => ({
      model: "sandbox/chat",
      messages: [{ role: "user", content }],
    }),
    "/v1/messages": (content: string) => ({
      model: "sandbox/messages",
      max_tokens: 50,
      messages: [{ role: "user", content }],
    }),
    "/v1/responses": (content: string) => ({ model: "sandbox/responses", input: content }),
  };
  const troubles: readonly (readonly [
    script: object,
    stream: boolean,
    path: keyof typeof asking,
  ])[] = [
    [{ end_after_chunks: 1 }, true, "/v1/chat/completions"],
    [{ cut_after_chunks: 1 }, true, "/v1/chat/completions"],
    [{ cut_after_chunks: 1 }, false, "/v1/chat/completions"],
    [{ stream_error: 1 }, true, "/v1/chat/completions"],
    [{ malformed: "json" }, true, "/v1/chat/completions"],
    [{ malformed: "empty" }, false, "/v1/chat/completions"],
    [{ finish: "failed" }, false, "/v1/responses"],
    [{ finish: "failed" }, true, "/v1/responses"],
    [{ no_end_marker: true }, true, "/v1/responses"],
    [{ end_after_chunks: 2 }, true, "/v1/messages"],
    [{ stream_error: 1 }, true, "/v1/messages"],
  ];
  it.each(troubles)("is not cached: %j, stream %s, %s", async (script, stream, path) => {
    const { bench } = hooked;
    const key = await cachedKey("troubles");
    const content = `Count\n#sandbox ${JSON.stringify({ reply: text, ...script })}`;
    const seen = [];
    for (let at = 0; at < 2; at += 1) {
      const body = { ...asking[path](content), stream };
      const answer = await bench.send("POST", path, { key, body });
      await answer.text().catch(() => "cut");
      const row = await logged(bench, answer.headers.get("x-request-id")!);
      seen.push({
        isHit: answer.headers.get("x-gw-cache") === "hit",
        status: row["status"],
        cost: row["cost_nano"],
      });
    }
    const failed = { isHit: false, status: "failed", cost: 0n };
    expect(seen).toEqual([failed, failed]);
  });

  it("is not cached if its caller left, nor is an answer above the size limit", async () => {
    const { bench } = hooked;
    const key = await cachedKey("left");
    const slow = { reply: text, chunk_chars: 4, chunk_delay_ms: 100 };
    const body = (script: object, stream: boolean) => ({
      ...asking["/v1/chat/completions"](`Count\n#sandbox ${JSON.stringify(script)}`),
      stream,
    });
    const ask = (wanted: object) =>
      bench.send("POST", "/v1/chat/completions", { key, body: wanted });
    const left = await ask(body(slow, true));
    const reader = left.body!.getReader();
    await reader.read();
    await reader.cancel();
    const row = await logged(bench, left.headers.get("x-request-id")!);
    expect(row["status"]).toBe("client_closed");
    const after = await ask(body(slow, true));
    expect(after.headers.get("x-gw-cache")).toBe("miss");
    await after.text();
    const long = body({ flood: 1_100_000 }, false);
    const short = body({ reply: "short" }, false);
    const missed = async (wanted: object): Promise<void> => {
      const answer = await ask(wanted);
      expect([answer.status, answer.headers.get("x-gw-cache")]).toEqual([200, "miss"]);
      await answer.text();
    };
    await missed(long);
    await missed(short);
    // The cache keeps answers one after the other.
    await eventually(async () => {
      const answer = await ask(short);
      await answer.text();
      return answer.headers.get("x-gw-cache") === "hit";
    }, "the short one is kept");
    await missed(long);
  });
});

it("a hook gets the type and size of each picture", async () => {
  const { bench, hook } = hooked;
  const [first, mask] = [await picture("jpeg"), await maskOf()];
  const form = formOf({ model: modelA, prompt: "A boat" }, { image: first, mask });
  const answer = await bench.send("POST", "/v1/images/edits", { body: form });
  const id = answer.headers.get("x-request-id");
  await answer.text();
  const asked = hook.requests.map(eventOf).find((event) => event.id === id);
  expect(asked).toMatchObject({
    endpoint: "images_edits",
    pictures: [
      { media_type: "image/jpeg", bytes: first.length },
      { media_type: "image/png", bytes: mask.length },
    ],
  });
});

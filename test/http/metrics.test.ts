/** The text of /metrics, as Prometheus reads it. docs/operate.md. */
import { expect, it } from "vitest";
import { formatUsd } from "../../src/base/money.ts";
import { createMetrics } from "../../src/http/index.ts";
import { startRecord, type CallRecord } from "../../src/calls/record.ts";

const usage = {
  inputTokens: 30,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 12,
  reasoningTokens: 0,
};

function record(more: Partial<CallRecord>): CallRecord {
  const start = { id: "req_1", startedMs: 0, workspaceId: "ws_1", keyId: "key_1" };
  return {
    ...startRecord({ ...start, protocol: "chat", stream: false, model: "acme/talk" }),
    status: "succeeded",
    provider: "acme",
    durationMs: 60,
    firstTokenMs: 40,
    metered: { usage, source: "upstream" },
    costNano: 1_500_000_000n,
    ...more,
  };
}

const linesOf = async (records: readonly CallRecord[], name: string): Promise<string[]> => {
  const metrics = createMetrics();
  for (const one of records) metrics.observe(one);
  return (await metrics.render()).split("\n").filter((line) => line.includes(name));
};

it("calls are counted by status, model and provider", async () => {
  const calls = [record({}), record({}), record({ status: "failed" }), record({ provider: null })];
  expect(await linesOf(calls, "tollgate_calls_total")).toEqual([
    "# HELP tollgate_calls_total Calls that are answered at once, by how they ended.",
    "# TYPE tollgate_calls_total counter",
    'tollgate_calls_total{protocol="chat",model="acme/talk",provider="acme",status="succeeded"} 2',
    'tollgate_calls_total{protocol="chat",model="acme/talk",provider="acme",status="failed"} 1',
    'tollgate_calls_total{protocol="chat",model="unknown",provider="none",status="succeeded"} 1',
  ]);
});

it("durations are counted in cumulative buckets", async () => {
  const name = "gen_ai_server_request_duration_seconds";
  const calls = [
    record({ durationMs: 10 }),
    record({ durationMs: 70 }),
    record({ durationMs: 1e6 }),
  ];
  const lines = await linesOf(calls, name);
  const labels = 'protocol="chat",model="acme/talk"';
  expect(lines).toContain(`# TYPE ${name} histogram`);
  expect(lines).toContain(`${name}_bucket{le="0.01",${labels}} 1`);
  expect(lines).toContain(`${name}_bucket{le="0.05",${labels}} 1`);
  expect(lines).toContain(`${name}_bucket{le="0.1",${labels}} 2`);
  expect(lines).toContain(`${name}_bucket{le="300",${labels}} 2`);
  expect(lines).toContain(`${name}_bucket{le="+Inf",${labels}} 3`);
  expect(lines).toContain(`${name}_sum{${labels}} 1000.08`);
  expect(lines).toContain(`${name}_count{${labels}} 3`);
});

/** The quantile that Prometheus' histogram_quantile computes: it assumes evenly spread values within a bucket. */
function quantileOf(lines: readonly string[], part: number): number {
  const buckets = lines.flatMap((line) => {
    const [, bound, count] = /_bucket\{le="([^"]+)".*\} (\d+)$/.exec(line) ?? [];
    return bound === undefined
      ? []
      : [{ bound: Number(bound.replace("+", "")), count: Number(count) }];
  });
  const rank = part * buckets.at(-1)!.count;
  const at = buckets.findIndex(({ count }) => count >= rank);
  const { bound: from, count: below } = buckets[at - 1] ?? { bound: 0, count: 0 };
  const { bound, count } = buckets[at]!;
  return from + ((bound - from) * (rank - below)) / (count - below);
}

it.each([1.1, 2, 3.2, 5.5, 9.9, 10, 11, 16, 21])(
  "the 0.95 quantile of waits of %f s for the first token is less than half off, and 10 s is an exact bound",
  async (seconds) => {
    const calls = Array.from({ length: 20 }, () => record({ firstTokenMs: seconds * 1_000 }));
    const lines = await linesOf(calls, "gen_ai_server_time_to_first_token_seconds");
    const read = quantileOf(lines, 0.95);
    expect(read).toBeGreaterThan(seconds * 0.65);
    expect(read).toBeLessThan(seconds * 1.5);
    // The alert TollgateSlow needs an exact bound at 10 seconds.
    expect(read > 10).toBe(seconds > 10);
  },
);

it("the buckets of the time to first token keep all earlier bounds", async () => {
  const lines = await linesOf([record({})], "gen_ai_server_time_to_first_token_seconds_bucket");
  const bounds = lines.map((line) => /le="([^"]+)"/.exec(line)![1]);
  const before = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, "+Inf"].map(String);
  expect(before.filter((bound) => !bounds.includes(bound))).toEqual([]);
});

it("tokens and cost are counted by model and provider", async () => {
  const calls = [
    record({}),
    record({ metered: undefined, costNano: 0n }),
    // An answer of the response cache uses no tokens, but may cost something.
    record({ metered: undefined, costNano: 500_000_000n, cache: "hit" }),
    record({ protocol: "messages" }),
  ];
  const labels = 'model="acme/talk",provider="acme"';
  expect(await linesOf(calls, "token_usage_total{")).toEqual([
    `gen_ai_client_token_usage_total{${labels},type="input"} 60`,
    `gen_ai_client_token_usage_total{${labels},type="output"} 24`,
  ]);
  expect(await linesOf(calls, "cost_usd_total{")).toEqual([
    `tollgate_cost_usd_total{${labels}} 3.5`,
  ]);
});

it("costs add up exactly to the nano-USD, for any number of calls", async () => {
  const costs = Array.from({ length: 1_000 }, (_, index) => 100_000_001n * BigInt(index % 7));
  const sum = costs.reduce((one, other) => one + other, 0n);
  const calls = costs.map((costNano) => record({ costNano, tags: { endUser: "u" } }));
  const cost = async (lines: Promise<readonly string[]>) =>
    (await lines)
      .find((line) => line.includes("cost_usd_total"))!
      .split(" ")
      .at(-1);
  expect(await cost(linesOf(calls, "cost_usd_total{"))).toBe(formatUsd(sum));
  expect(await cost(taggedLines(["end_user"], calls))).toBe(formatUsd(sum));
  const metrics = createMetrics();
  for (const costNano of costs)
    metrics.observeTask({ workspaceId: "w", id: "t", createdAt: new Date(), costNano });
  expect(
    await cost(
      metrics.render().then((text) => text.split("\n").filter((line) => !line.startsWith("#"))),
    ),
  ).toBe(formatUsd(sum));
});

it("text and image tokens are counted together; usage in other units adds no tokens", async () => {
  const pictures = {
    unit: "image_tokens",
    inputTextTokens: 1,
    inputImageTokens: 20,
    outputTextTokens: 300,
    outputImageTokens: 4_000,
  } as const;
  const images = { unit: "images", outputImages: 2, inputImages: 1 } as const;
  const counted = async (usage: object) => {
    const metered = { usage, source: "upstream" } as unknown as CallRecord["metered"];
    const lines = await linesOf([record({ metered })], "token_usage_total{");
    return lines.map((line) => line.split(" ").at(-1));
  };
  expect(await counted(pictures)).toEqual(["21", "4300"]);
  expect(await counted(images)).toEqual(["0", "0"]);
});

it("label values are escaped", async () => {
  const lines = await linesOf([record({ provider: 'a"b\\c\nd' })], "cost_usd_total{");
  expect(lines).toEqual([
    String.raw`tollgate_cost_usd_total{model="acme/talk",provider="a\"b\\c\nd"} 1.5`,
  ]);
});

const tagged = (tags: Record<string, string>, more: Partial<CallRecord> = {}) =>
  record({ tags: { tags, endUser: "u" }, ...more });

async function taggedLines(names: readonly string[], records: readonly CallRecord[]) {
  const metrics = createMetrics(undefined, names);
  for (const one of records) metrics.observe(one);
  return (await metrics.render()).split("\n").filter((line) => line.startsWith("tollgate_tagged"));
}

it("an event that is dropped before its hook is asked is counted, and does not count in the duration of the hook", async () => {
  const metrics = createMetrics();
  const hook = { hook: "audit", at: "after" };
  metrics.observeHook({ ...hook, outcome: "heard" }, 700);
  for (let index = 0; index < 99; index += 1)
    metrics.observeHook({ ...hook, outcome: "dropped" }, undefined);
  const text = await metrics.render();
  expect(text).toContain(
    'tollgate_hook_questions_total{hook="audit",at="after",outcome="dropped"} 99\n',
  );
  expect(text).toContain('tollgate_hook_duration_seconds_count{hook="audit",at="after"} 1\n');
});

it("calls are counted by the allowed tags only", async () => {
  const calls = [
    tagged({ team: "search", secret: "s" }),
    tagged({ team: "search" }, { provider: null, status: "failed", costNano: 0n }),
    record({}),
  ];
  expect(await taggedLines(["team", "end_user"], calls)).toEqual([
    'tollgate_tagged_calls_total{tag="team",value="search",status="succeeded"} 1',
    'tollgate_tagged_calls_total{tag="end_user",value="u",status="succeeded"} 1',
    'tollgate_tagged_calls_total{tag="team",value="search",status="failed"} 1',
    'tollgate_tagged_calls_total{tag="end_user",value="u",status="failed"} 1',
    'tollgate_tagged_cost_usd_total{tag="team",value="search"} 1.5',
    'tollgate_tagged_cost_usd_total{tag="end_user",value="u"} 1.5',
  ]);
  expect(await taggedLines([], calls)).toEqual([]);
});

it("tag values are limited in number and length, and cannot break a line", async () => {
  const many = Array.from({ length: 150 }, (_, index) => tagged({ team: `t${index}` }));
  const lines = await taggedLines(["team"], many);
  expect(lines).toHaveLength(2 * 101);
  expect(lines).toContain(
    'tollgate_tagged_calls_total{tag="team",value="other",status="succeeded"} 50',
  );
  const hostile = await taggedLines(
    ["team", "__proto__", "constructor"],
    [tagged({ team: `a"} 7\nx\r\u0000\u2028\ud800${"y".repeat(500)}` })],
  );
  expect(hostile).toHaveLength(2);
  expect(hostile[0]).toMatch(
    /^tollgate_tagged_calls_total\{tag="team",value="a\\"\} 7 x {2}.\ufffdy{1,128}",status="succeeded"\} 1$/su,
  );
});

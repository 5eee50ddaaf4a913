/**
 * The cost of a call to the nano-dollar, from the upstream's usage, in each protocol, whole and streamed. The ledger entry, the
 * key's spend and the request log must have the same amount.
 */
import { expect, it } from "vitest";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import { json, sse } from "../support/recorder.ts";
import { config, rows } from "./cost-table.ts";
import {
  answering,
  completion,
  delta,
  describeGateways,
  errorOf,
  eventually,
  idOf,
  sleep,
  usageOf,
  type Bench,
} from "./support.ts";

/** Makes a call, and checks its cost in all three places. */
async function expectCost(
  bench: Bench,
  call: () => Promise<Response>,
  expected: { costNano: bigint; usage?: Record<string, number>; source?: string },
): Promise<void> {
  const before = parseUsd((await bench.keySpend()).total);
  const availableBefore = await bench.availableNano();
  const response = await call();
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  const id = idOf(response);
  const entry = await bench.entry(id);
  expect(entry).toMatchObject({ kind: "charge", amount_nano: expected.costNano });
  expect(entry!.held_nano).toBeGreaterThanOrEqual(0n);
  const spend = await bench.keySpend();
  const spent = formatUsd(before + expected.costNano);
  expect(spend).toEqual({ total: spent, daily: spent, weekly: spent, monthly: spent });
  expect(await bench.availableNano()).toBe(availableBefore - expected.costNano);
  const row = await bench.logRow(id);
  expect(row).toMatchObject({
    status: "succeeded",
    http_status: 200,
    cost_nano: expected.costNano,
    usage_source: expected.source ?? "upstream",
  });
  expect(row.usage).toEqual(expected.usage ?? row.usage);
}

describeGateways("the cost of a call", { config }, (bench) => {
  it.each(rows)("BILL-01: $name", async (row) => {
    bench().up.answer(json(row.whole));
    await expectCost(bench(), () => bench().post(row.path, row.body), row);
    bench().up.answer(sse(row.stream));
    const body = row.streamPath ? row.body : { ...row.body, stream: true };
    await expectCost(bench(), () => bench().post(row.streamPath ?? row.path, body), row);
  });

  it("T64: a call above the long-context threshold costs the higher tier for all of its tokens", async () => {
    const call = () =>
      bench().post("/v1/chat/completions", {
        model: "acme/long",
        messages: [{ role: "user", content: "Hi" }],
      });
    bench().up.answer(json(completion(usageOf(200_000, 1_000))));
    await expectCost(bench(), call, { costNano: 200_000n * 1_000n + 1_000n * 4_000n });
    bench().up.answer(json(completion(usageOf(200_001, 1_000))));
    await expectCost(bench(), call, { costNano: 200_001n * 2_000n + 1_000n * 6_000n });
  });

  it("T61: a usage of zero charges only the price per call, and nothing is estimated", async () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    for (const stream of [false, true]) {
      bench().up.answer(answering(zero, ["A text that would cost something if it were counted."]));
      await expectCost(
        bench(),
        () =>
          bench().post("/v1/chat/completions", {
            model: "acme/chat",
            stream,
            messages: [{ role: "user", content: "Hi" }],
          }),
        { costNano: 1_001n },
      );
    }
  });

  it("an answer without usage is charged by the tokens of its text, and the log says so", async () => {
    for (const stream of [false, true]) {
      bench().up.answer(answering(undefined, ["Hello", " there"]));
      const response = await bench().post("/v1/chat/completions", {
        model: "acme/long",
        stream,
        messages: [{ role: "user", content: "Hi" }],
      });
      await response.text();
      const row = await bench().logRow(idOf(response));
      expect(row).toMatchObject({ usage_source: "estimated", status: "succeeded" });
      expect(row.usage!["outputTokens"]).toBe(2);
      const nano = BigInt(row.usage!["inputTokens"]!) * 1_000n + 2n * 4_000n;
      expect(row.cost_nano).toBe(nano);
      expect(await bench().entry(row.id)).toMatchObject({ kind: "charge", amount_nano: nano });
    }
  });

  it("T44 T48: a messages stream without reported usage ends with the output tokens that are charged", async () => {
    const row = rows.find(({ path }) => path === "/v1/messages")!;
    const frames = row.stream.replaceAll(/,?"usage":\{(?:[^{}]|\{[^{}]*\})*\}/g, "");
    const cut = frames.slice(0, frames.indexOf("event: message_delta"));
    for (const stream of [frames, `${cut}event: message_stop\ndata: {"type":"message_stop"}\n\n`]) {
      bench().up.answer(sse(stream));
      const response = await bench().post(row.path, { ...row.body, stream: true });
      const reportedUsage = [
        ...(await response.text()).matchAll(/^data: (.*"message_delta".*)$/gm),
      ].map(([, data]) => (JSON.parse(data!) as { usage?: object }).usage);
      const { usage, usage_source: source } = await bench().logRow(idOf(response));
      expect(source).toBe("estimated");
      expect(usage!["outputTokens"]).toBeGreaterThan(0);
      expect(reportedUsage).toEqual([{ output_tokens: usage!["outputTokens"] }]);
    }
  });

  it("BILL-22 T60: an upstream's error text is not output: nothing is charged, and the hold is released", async () => {
    const long = "The engine is overloaded, please try again later. ".repeat(200);
    const failures = [
      { answer: json({ error: { message: long } }, 500), status: 502 },
      { answer: json({ error: { message: long } }, 400), status: 400 },
      { answer: sse(`data: ${JSON.stringify({ error: { message: long } })}\n\n`), status: 502 },
      {
        answer: sse(
          delta("A beginning") + `data: ${JSON.stringify({ error: { message: long } })}\n\n`,
        ),
        status: 200,
      },
    ];
    const before = await bench().keySpend();
    for (const { answer, status } of failures) {
      bench().up.answer(answer);
      const response = await bench().post("/v1/chat/completions", {
        model: "acme/chat",
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      });
      expect(response.status).toBe(status);
      const text = await response.text();
      expect(text).toContain('"error"');
      expect(text).not.toContain("[DONE]");
      const row = await bench().logRow(idOf(response));
      expect(row).toMatchObject({ status: "failed", cost_nano: 0n });
      expect(await bench().entry(row.id)).toMatchObject({ kind: "void", amount_nano: 0n });
    }
    expect(await bench().keySpend()).toEqual(before);
    await bench().expectClean();
  });

  it("T64: parallel long calls are reserved at the higher tier, and never exceed a hard cap together", async () => {
    const long = "x".repeat(900_000); // about 300,000 tokens: 0.60 USD at the long-context tier, 0.30 at the other
    const spent = parseUsd((await bench().keySpend()).total);
    await bench().setCaps("key", { totalNano: spent + parseUsd("1.90"), hard: true });
    const open: (() => void)[] = [];
    const answer = json(completion(usageOf(300_000, 0)));
    bench().up.answer((request, response) => {
      open.push(() => void answer(request, response));
    });
    const count = bench().up.requests.length;
    const calls = Array.from({ length: 5 }, () =>
      bench().post("/v1/chat/completions", {
        model: "acme/long",
        max_tokens: 100,
        messages: [{ role: "user", content: long }],
      }),
    );
    let refused = 0;
    for (const call of calls)
      void call.then((response) => (refused += response.status === 402 ? 1 : 0));
    await eventually(
      () => (refused === 2 && open.length === 3 ? true : undefined),
      "three in, two out",
    );
    await sleep(50);
    expect(bench().up.requests.length - count).toBe(3);
    for (const release of open) release();
    const responses = await Promise.all(calls);
    const ok = responses.filter((response) => response.status === 200);
    expect(ok).toHaveLength(3);
    for (const response of ok)
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: parseUsd("0.6") });
    for (const response of responses.filter((one) => one.status !== 200)) {
      expect(await errorOf(response)).toMatchObject({ code: "key_total_spend_cap_reached" });
    }
    await bench().setCaps("key", null);
    await bench().expectClean();
  });

  it("BILL-02: a call changes the ledger of its key's workspace and no other", async () => {
    bench().up.answer(json(completion(usageOf(10, 10))));
    const other = await bench().addWorkspace("5");
    await bench().availableNano();
    const before = await bench().ledger.balance(bench().workspaceId);
    const response = await bench().post(
      "/v1/chat/completions",
      { model: "acme/long", messages: [{ role: "user", content: "Hi" }] },
      { authorization: `Bearer ${other.key}` },
    );
    expect(response.status).toBe(200);
    await response.text();
    expect(await bench().ledger.balance(bench().workspaceId)).toEqual(before);
    await expect
      .poll(() => bench().ledger.balance(other.workspaceId))
      .toMatchObject({ creditsNano: parseUsd("5"), chargedNano: 50_000n, heldNano: 0n });
  });
});

/**
 * Refusals of Claude's safety classifiers. Anthropic does not bill those before any output, except in some categories, and says that
 * their counts are only information. docs/models.md "Prices".
 */
import { afterEach, expect, it } from "vitest";
import { adminToken, startAdminGateway } from "../admin/support.ts";
import { csvRows } from "../admin-reads/csv-read.ts";
import { json, sse, startRecorder } from "../support/recorder.ts";
import { config } from "./cost-table.ts";
import { describeGateways, idOf } from "./support.ts";

const frame = (event: string, data: object) =>
  `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`;

type Details = { readonly category: string | null } | undefined;
const head = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
const stopOf = (details: Details) => ({
  stop_reason: "refusal",
  stop_sequence: null,
  ...(details && { stop_details: { type: "refusal", explanation: "No.", ...details } }),
});
const counts = { input_tokens: 412, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const whole = (details: Details, output: number) => ({
  ...head,
  ...stopOf(details),
  usage: { ...counts, output_tokens: output },
});
const stream = (details: Details, output: number) =>
  frame("message_start", {
    message: { ...head, stop_reason: null, usage: { ...counts, output_tokens: 3 } },
  }) +
  frame("message_delta", { delta: stopOf(details), usage: { output_tokens: output } }) +
  frame("message_stop", {});

const messages = [{ role: "user", content: "Hi" }];
const paths = ["/v1/messages", "/v1/chat/completions"];
const input = 412n * 3_000n;

describeGateways("a refusal of Claude", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  it.each<[string, Details, output: number, costNano: bigint]>([
    ["in the category cyber", { category: "cyber" }, 0, 0n],
    ["in a new category", { category: "general_harms" }, 0, 0n],
    ["without a category", { category: null }, 0, 0n],
    ["without details", undefined, 0, 0n],
    ["in a billed category", { category: "frontier_llm" }, 0, input],
    ["after output", { category: "cyber" }, 7, input + 7n * 15_000n],
  ])("BILL-01: %s costs what Anthropic bills", async (_name, details, output, costNano) => {
    for (const path of paths) {
      for (const streamed of [false, true]) {
        bench().up.answer(streamed ? sse(stream(details, output)) : json(whole(details, output)));
        const asked = path.endsWith("completions") && streamed;
        const options = asked ? { stream_options: { include_usage: true } } : {};
        const limits = { max_tokens: 100, stream: streamed, ...options };
        const body = { model: "acme/messages", messages, ...limits };
        const response = await bench().post(path, body);
        const text = await response.text();
        expect({ status: response.status, text }).toMatchObject({
          status: 200,
          text: expect.stringMatching(/refusal|content_filter/) as string,
        });
        // The vendor's counts are reported to callers, billed or not.
        expect(text).toMatch(/"(?:input|prompt)_tokens":412\b/);
        const row = await bench().logRow(idOf(response));
        expect(row).toMatchObject({ cost_nano: costNano, usage_source: "upstream" });
        expect((await bench().entry(idOf(response)))?.amount_nano ?? 0n).toBe(costNano);
      }
    }
  });
});

it("BILL-01: the log and its CSV say which counts the vendor does not bill", async () => {
  const up = await startRecorder(json(whole(undefined, 0)));
  const gateway = await startAdminGateway({ config: config(up.url) });
  try {
    await gateway.credit("1");
    const asked = { model: "acme/messages", messages, max_tokens: 100 };
    await (await gateway.post("/v1/messages", asked)).text();
    const path = "/requests?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z";
    const { json: told } = await gateway.admin("GET", path);
    expect(told).toMatchObject({
      data: [{ cost: "0", price_lines: [], usage: { input_tokens: 412, unbilled: 1 } }],
    });
    const headers = { accept: "text/csv", authorization: `Bearer ${adminToken}` };
    const file = await fetch(`${gateway.url}/admin/v1${path}`, { headers });
    expect(csvRows(await file.text())).toMatchObject([
      { cost: "0", "usage.input_tokens": "412", "usage.unbilled": "1" },
    ]);
  } finally {
    await gateway.close();
    await up.close();
  }
});

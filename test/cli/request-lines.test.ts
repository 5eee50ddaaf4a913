/** One call as lines for people. docs/cli.md. */
import { expect, it } from "vitest";
import { requestLines } from "../../src/cli/request-lines.ts";

const record = {
  id: "req_1",
  status: "succeeded",
  http_status: 200,
  created_at: "2026-11-23T10:00:00.000Z",
  workspace_id: "ws_1",
  key_id: "key_1",
  model: "acme/talk",
  provider: "acme",
  protocol: "chat",
  end_user: null,
  tags: null,
  duration_ms: 8,
  reserved: "0.01",
  cost: "0.00105",
  error: null,
  explanation: null,
  attempts: [],
  changes: [],
  usage: { input_tokens: 100, cache_read_tokens: 0, output_tokens: 50 },
  usage_source: "upstream",
  price_lines: [
    {
      name: "input_tokens",
      quantity: "100",
      unit_price: "3",
      per: "million_tokens",
      amount: "0.0003",
    },
  ],
};
const textOf = (more: object) => requestLines({ ...record, ...more }).join("\n");

it("a call shows the usage that it was billed by, and whether that is an estimate", () => {
  expect(textOf({})).toMatch(/\nused +input_tokens 100, output_tokens 50\n/);
  expect(textOf({ usage_source: "estimated" })).toMatch(
    /\nused +input_tokens 100, output_tokens 50 \(estimated: the provider did not tell\)\n/,
  );
  for (const usage of [null, { input_tokens: 0 }]) expect(textOf({ usage })).not.toContain("used");
});

it("a call shows whether its lines use the stored price, and why a charged call has none", () => {
  expect(textOf({})).toContain("input_tokens: 100 at $3 per million tokens = $0.0003");
  expect(textOf({ price_lines_from: "call" })).not.toContain("today's price");
  expect(textOf({ price_lines_from: "catalog" })).toContain("by today's price");
  expect(textOf({ price_lines: null })).toMatch(
    /\nPrice\n +This call is from before prices were kept with calls, and its price has changed/,
  );
  expect(textOf({ price_lines: [] })).not.toContain("Price");
});

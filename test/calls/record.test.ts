/** The request-log row of a call record, and the header that names dropped parameters. OBS; TXT. */
import { expect, it } from "vitest";
import { requestRow } from "../../src/calls/record.ts";
import { droppedHeader } from "../../src/calls/reply.ts";
import { noUsage } from "../../src/base/usage.ts";
import { recordAt } from "./support.ts";

const notes = [
  { param: "seed", kind: "dropped", detail: "not supported, dropped" },
  { param: "stop", kind: "rewritten", detail: "named stop_sequences" },
] as const;

it("dropped parameters are logged by name and in words; a call that lost nothing has no such fields", () => {
  const record = recordAt(1_000);
  expect(requestRow(record)).not.toHaveProperty("notes");
  record.notes = notes;
  expect(requestRow(record)).toMatchObject({
    dropped: ["seed", "stop"],
    notes: ["seed: not supported, dropped", "stop: named stop_sequences"],
  });
});

it("a row has what is known of its call, and nothing else", () => {
  const record = recordAt(1_000);
  const known = (...names: (keyof typeof row)[]) => names.filter((name) => row[name] !== undefined);
  let row = requestRow(record);
  const names = ["provider", "upstreamProtocol", "usage", "usageSource", "firstTokenMs"] as const;
  expect(known(...names, "price")).toEqual([]);
  // A price without usage is that of an attempt that failed.
  record.price = { input: 1n, output: 2n };
  row = requestRow(record);
  expect(row.price).toBeUndefined();
  const usage = { ...noUsage, inputTokens: 3 };
  Object.assign(record, { provider: "p", upstreamProtocol: "chat", firstTokenMs: 0 });
  record.metered = { usage, source: "estimated" };
  record.costNano = 7n;
  row = requestRow(record);
  expect(row).toMatchObject({
    provider: "p",
    upstreamProtocol: "chat",
    firstTokenMs: 0,
    usage,
    usageSource: "estimated",
    costNano: 7n,
    price: { input: "1", output: "2" },
  });
  record.price = undefined;
  expect(requestRow(record).price).toBeUndefined();
});

it("hooks and the response cache are logged next to the plan, each only if it was asked", () => {
  const plan = { order: ["first"] };
  const record = recordAt(1_000);
  record.plan = plan;
  record.cache = "miss";
  expect(requestRow(record).explanation).toEqual({ plan, cache: "miss" });
  record.cache = undefined;
  record.hooks = [];
  expect(requestRow(record).explanation).toEqual({ plan, hooks: [] });
});

it("the plan is logged with its call, next to the error of a failed call", () => {
  const record = recordAt(1_000);
  expect(requestRow(record).explanation).toBeUndefined();
  record.errorCode = "upstream_error";
  expect(requestRow(record).explanation).toEqual({ error: "upstream_error" });
  const plan = { order: ["first", "second"] };
  record.plan = plan;
  expect(requestRow(record).explanation).toEqual({ plan, error: "upstream_error" });
  record.errorCode = null;
  expect(requestRow(record).explanation).toStrictEqual({ plan });
});

it("calls with one plan share its log entry, and calls with other plans do not", () => {
  const [one, two, other] = [recordAt(1_000), recordAt(2_000), recordAt(3_000)];
  one.plan = two.plan = { order: ["first"] };
  other.plan = { order: ["second"] };
  expect(requestRow(one).explanation).toBe(requestRow(two).explanation);
  expect(requestRow(other).explanation).toEqual({ plan: { order: ["second"] } });
});

it("the header lists changed parameters, and is absent if there are none", () => {
  expect(droppedHeader(notes)).toEqual({ "x-gw-dropped-params": "seed, stop" });
  expect(droppedHeader([])).toEqual({});
});

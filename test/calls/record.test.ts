/** The request-log row of a call record, and the header that names dropped parameters. OBS; TXT. */
import { expect, it } from "vitest";
import { requestRow } from "../../src/calls/record.ts";
import { droppedHeader } from "../../src/calls/reply.ts";
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

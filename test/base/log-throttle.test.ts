/** Log lines that repeat the same problem. */
import { expect, it } from "vitest";
import { createLogThrottle } from "../../src/base/log-throttle.ts";

const minuteMs = 60_000;

it("the same error with the same message is logged once a minute, with the number of repetitions", () => {
  let nowMs = 5;
  const repeats = createLogThrottle(() => nowMs);
  const err = new Error("connect ECONNREFUSED");
  const say = (): object | undefined => repeats({ err }, "due tasks could not be looked for");
  expect(say()).toEqual({ err });
  expect([say(), say(), say()]).toEqual([undefined, undefined, undefined]);
  nowMs += minuteMs;
  expect(say()).toEqual({ err, again: 3 });
  expect(say()).toBeUndefined();
  nowMs += minuteMs;
  expect(say()).toEqual({ err, again: 1 });
  nowMs += minuteMs;
  expect(say()).toEqual({ err });
});

it("a message of the embedded database is logged once a minute too", () => {
  const repeats = createLogThrottle(() => 0);
  const say = (database: string) => repeats({ database }, "the embedded database reports an error");
  expect(say("FATAL:  no space")).toEqual({ database: "FATAL:  no space" });
  expect(say("FATAL:  no space")).toBeUndefined();
  expect(say("FATAL:  another")).toEqual({ database: "FATAL:  another" });
});

it("other errors, other messages and lines with further fields are always logged", () => {
  const repeats = createLogThrottle(() => 0);
  const err = new Error("no");
  const lines: readonly (readonly [object, string])[] = [
    [{ err }, "one"],
    [{ err }, "two"],
    [{ err: new Error("yes") }, "one"],
    [{ err, request: "req_1" }, "one"],
    [{ err, request: "req_1" }, "one"],
    [{ reason: "no" }, "one"],
    [{ reason: "no" }, "one"],
    [{}, "one"],
    [{}, "one"],
  ];
  for (const [fields, message] of lines) expect(repeats(fields, message)).toBe(fields);
});

it("memory is bounded: if all texts differ, the oldest is forgotten", () => {
  const repeats = createLogThrottle(() => 0);
  const say = (text: string): object | undefined => repeats({ err: new Error(text) }, "failed");
  expect(say("first")).toBeDefined();
  expect(say("first")).toBeUndefined();
  for (let at = 0; at < 200; at += 1) say(`text ${at}`);
  expect(say("first")).toBeDefined();
});

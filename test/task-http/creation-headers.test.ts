// Idempotency-Key and Prefer, and the fingerprint of a request.
import { describe, expect, it } from "vitest";
import {
  fingerprint,
  idempotencyKeyOf,
  waitSecondsOf,
} from "../../src/http/forms/creation-headers.ts";
import { parseJsonObject } from "../../src/base/json.ts";
import { costMs } from "../support/cost.ts";

describe("Prefer: wait", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["wait=1", 1],
    ["wait=60", 60],
    ["wait=61", 60],
    ["wait=99999999999", 60],
    ["wait=99999999999999999999", 60],
    ["wait", 60],
    ["Wait = 5", 5],
    ['wait="7"', 7],
    ["wait=0", undefined],
    ["wait=-1", undefined],
    ["wait=1.5", undefined],
    ["wait=ten", undefined],
    ["waiting=3", undefined],
    ["respond-async", undefined],
    ["respond-async, wait=10", 10],
    ["wait=10;x=1, respond-async", 10],
    ["wait=3, wait=50", 3],
    ["handling=lenient,wait=4", 4],
    ["wait=5 x, wait=6", 6],
    ["wait;x=1", 60],
    ['wait=" ', 60],
  ])("TASK-17: %j waits %j seconds", (prefer, seconds) => {
    expect(waitSecondsOf({ prefer })).toBe(seconds);
  });

  it("a long header is parsed quickly", async () => {
    const blanks = " ".repeat(15_000);
    const texts = [
      "wait ".repeat(3000),
      ",".repeat(15_000),
      `wait=${blanks}`,
      // The pattern once tried every split of the blanks before an invalid character: ten such headers took 5 s.
      ...Array.from({ length: 10 }, () => `wait${blanks}x`),
    ];
    const read = () => {
      for (const prefer of texts) waitSecondsOf({ prefer });
    };
    expect(await costMs(read)).toBeLessThan(200);
  });
});

describe("Idempotency-Key", () => {
  it("takes 1 to 255 printable characters", () => {
    expect(idempotencyKeyOf({})).toBeUndefined();
    for (const key of ["a", "x".repeat(255), "order 17/3: ~"])
      expect(idempotencyKeyOf({ "idempotency-key": key })).toBe(key);
    for (const key of ["", "x".repeat(256), "caf\u00e9", "a\tb"])
      expect(() => idempotencyKeyOf({ "idempotency-key": key })).toThrow(/Idempotency-Key/);
  });

  it("the fingerprint depends on method, path and content, but not on the order of members", () => {
    const one = fingerprint("POST", "/v1/tasks", { a: 1, b: { c: [1, 2], d: "x" } });
    expect(fingerprint("POST", "/v1/tasks", { b: { d: "x", c: [1, 2] }, a: 1 })).toBe(one);
    const others = [
      fingerprint("POST", "/v1/videos/generations", { a: 1, b: { c: [1, 2], d: "x" } }),
      fingerprint("POST", "/v1/tasks", { a: 1, b: { c: [2, 1], d: "x" } }),
      fingerprint("POST", "/v1/tasks", { a: "1", b: { c: [1, 2], d: "x" } }),
      fingerprint("POST", "/v1/tasks", { a: 1 }),
    ];
    expect(new Set([one, ...others]).size).toBe(5);
  });

  it("the fingerprint distinguishes integers beyond a double's precision, but not two spellings of a number", () => {
    const of = (text: string) =>
      fingerprint("POST", "/v1/tasks", parseJsonObject(Buffer.from(text)));
    const one = of('{"n":1,"metadata":{"id":12345678901234567890,"b":[9007199254740993]}}');
    expect(of('{"metadata":{"b":[9007199254740993],"id":12345678901234567890 },"n":1}')).toBe(one);
    expect(of('{"n":1.0,"b":1e2}')).toBe(of('{"b":100,"n":1}'));
    const others = [
      of('{"n":1,"metadata":{"id":12345678901234567891,"b":[9007199254740993]}}'),
      of('{"n":1,"metadata":{"id":12345678901234567890,"b":[9007199254740992]}}'),
      of('{"n":1,"metadata":{"id":{"rawJSON":"12345678901234567890"},"b":[9007199254740993]}}'),
    ];
    expect(new Set([one, ...others]).size).toBe(4);
  });
});

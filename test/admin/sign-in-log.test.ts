/** What strangers make the library for sessions say. docs/operate.md. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { signInLog } from "../../src/admin/sign-in-log.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const logged = () => {
  const lines: (readonly [object, string])[] = [];
  const write = signInLog({
    warn: (fields: object, text?: string) => void lines.push([fields, text ?? ""]),
  });
  return { lines, write };
};

it("a thousand bad callbacks are one warning a minute, with their number; another kind is said at once", () => {
  const { lines, write } = logged();
  for (let count = 0; count < 1_000; count += 1) write("error", "State not found", {});
  write("warn", "Code not found");
  expect(lines).toEqual([
    [{ level: "error", count: 1 }, "sign-in: State not found"],
    [{ level: "warn", count: 1 }, "sign-in: Code not found"],
  ]);
  vi.advanceTimersByTime(60_000);
  write("error", "State not found", {});
  expect(lines.at(-1)).toEqual([{ level: "error", count: 1_000 }, "sign-in: State not found"]);
});

it("texts that a stranger varies are bounded too", () => {
  const { lines, write } = logged();
  for (let count = 0; count < 1_000; count += 1) write("error", `no provider ${count}`);
  expect(lines).toHaveLength(21);
});

it("the reason is told: an identity provider's refusal in its own words, and an error's message, within bounds", () => {
  const { lines, write } = logged();
  const refusal = { status: 401, error: "invalid_client", error_description: "basic only" };
  write("error", "", refusal);
  write("error", "Failed to parse state", new Error("x".repeat(1_000)));
  expect(lines.map(([fields]) => fields)).toEqual([
    { level: "error", count: 1, reason: "401: invalid_client: basic only" },
    { level: "error", count: 1, reason: "x".repeat(300) },
  ]);
});

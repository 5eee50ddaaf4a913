/** Errors that end a command: one line if an operator can fix the cause, and a stack trace if only we can. docs/cli.md. */
import { expect, it } from "vitest";
import { explain } from "../../src/cli/explain.ts";

const coded = (code: string, rest = {}) => Object.assign(new Error(code), { code, ...rest });

it("a pooler with too few sessions for a start is explained in one line, with the setting to raise", async () => {
  const { text, exitCode } = await explain(new Error("timeout exceeded when trying to connect"));
  expect(text).toMatch(/^the database cannot be used: timeout exceeded .*default_pool_size/);
  expect(exitCode).toBe(1);
});

it("a server that stops during a start is explained in one line", async () => {
  const { text } = await explain(coded("57P01"));
  expect(text).toBe(
    "the database cannot be used: 57P01; wait: the server stops or starts; its own log says why",
  );
});

it("a role that lost its rights is explained in one line", async () => {
  const { text } = await explain(coded("42501"));
  expect(text).toMatch(/^the database cannot be used: 42501; .*GRANT/);
});

it.each([
  [new Error("something of ours"), undefined],
  [coded("42P01"), undefined],
  [coded("ECONNRESET", { syscall: "read" }), undefined],
  [coded("EPIPE", { syscall: "write" }), "whoever read the output has gone"],
  [
    coded("EACCES", { syscall: "open", path: "/exports/.part-1" }),
    "/exports/.part-1 cannot be used: this user has no right to it (EACCES)",
  ],
])("%s keeps its stack trace, or gets its usual explanation", async (error, text) => {
  expect(await explain(error)).toEqual({ text, exitCode: 1 });
});

// The source of rows fails before anyone reads the lines: the reader gets the error, and the process goes on.
import { buffer } from "node:stream/consumers";
import { expect, it, vi } from "vitest";
import { jsonLinesOf } from "../../src/exports/json-lines.ts";

async function* failing(): AsyncGenerator<readonly object[]> {
  yield await Promise.reject<readonly object[]>(new Error("the database is away"));
}

it("T68: rows that fail before the file begins fail their export, and do not crash the process", async () => {
  const ended = vi.fn();
  process.on("uncaughtExceptionMonitor", ended);
  const lines = jsonLinesOf(failing());
  await expect.poll(() => lines.closed).toBe(true);
  await expect(buffer(lines)).rejects.toThrow("the database is away");
  process.off("uncaughtExceptionMonitor", ended);
  expect(ended).not.toHaveBeenCalled();
});

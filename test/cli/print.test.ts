/** Tables of commands. */
import { expect, it, vi } from "vitest";
import { printTable } from "../../src/cli/print.ts";

it("a table may have any number of rows", () => {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  printTable(
    ["id", "name"],
    Array.from({ length: 200_000 }, (_, at) => [`key_${at}`, "a"]),
  );
  log.mockRestore();
  expect(lines).toHaveLength(200_001);
  expect(lines[1]).toBe("key_0       a");
});

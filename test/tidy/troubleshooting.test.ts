/** docs/troubleshooting.md quotes what the program says: each text stands in the source as it is quoted. */
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url).pathname;
const page = readFileSync(`${root}docs/troubleshooting.md`, "utf8");

/** The source as its texts are read: sums of strings joined, and … for what differs. */
const source = globSync(["src/**/*.ts", "scripts/*.mjs"], { cwd: root })
  .map((file) => readFileSync(root + file, "utf8"))
  .join("\n")
  .replaceAll(/[`"]\s*\+\s*[`"]/g, "")
  .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…");

const quoted = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, text]) => text!);

it("quotes at least thirty texts", () => {
  expect(quoted.length).toBeGreaterThan(30);
});

it.each(quoted)("%s", (text) => {
  const parts = text.split("…").filter((part) => part.trim().length > 3);
  expect(parts.length).toBeGreaterThan(0);
  expect(parts.filter((part) => !source.includes(part.trim()))).toEqual([]);
});

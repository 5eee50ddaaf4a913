/** docs/troubleshooting.md quotes messages of the program: each text is in the source as quoted. */
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url).pathname;
const page = readFileSync(`${root}docs/troubleshooting.md`, "utf8");

/** The source with concatenated strings joined, and … for variable parts. */
const source = globSync(["src/**/*.ts", "scripts/*.mjs"], { cwd: root })
  .map((file) => readFileSync(root + file, "utf8"))
  .join("\n")
  .replaceAll(/[`"]\s*\+\s*[`"]/g, "")
  .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…");

const quoted = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, text]) => text!);

it("docs/troubleshooting.md quotes more than thirty messages", () => {
  expect(quoted.length).toBeGreaterThan(30);
});

it.each(quoted)("the message is in the source: %s", (text) => {
  const parts = text.split("…").filter((part) => part.trim().length > 3);
  expect(parts.length).toBeGreaterThan(0);
  expect(parts.filter((part) => !source.includes(part.trim()))).toEqual([]);
});

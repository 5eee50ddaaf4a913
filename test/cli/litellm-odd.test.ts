/** `tollgate convert litellm` with arbitrary values in a field: the output passes our own check, and contains no secret. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { parse, stringify } from "yaml";
import { convertLitellm } from "../../src/cli/litellm/convert.ts";
import { shortOrLong } from "../support/long.ts";

const samples = new URL("litellm/", import.meta.url).pathname;
const odd = fc.constantFrom<unknown>(
  null,
  "",
  "0",
  "-1",
  "1e400",
  "${HOME}",
  "os.environ/",
  "os.environ/A-B",
  "a b:c/d",
  "__proto__",
  "*",
  "*/*",
  "openai/",
  "/x",
  "http://",
  "https://u:p@h/x?y=z#f",
  "é\u0000\ud800",
  [],
  {},
  [["x"]],
  { constructor: { x: [null] } },
  "x".repeat(5_000),
);
const documents = readdirSync(samples)
  .filter((name) => name !== "wildcards.yaml")
  .map((name) => parse(readFileSync(join(samples, name), "utf8")) as Record<string, unknown>);
type Tree = Record<string, unknown>;

/** Sets a value at some place of a copy. The numbers choose the path down, until they end or a leaf is reached. */
function changed(document: Tree, way: readonly number[], value: unknown): Tree {
  const copy = structuredClone(document);
  let at: Tree = copy;
  for (const [depth, step] of way.entries()) {
    const keys = Object.keys(at);
    if (keys.length === 0) break;
    const key = keys[step % keys.length]!;
    const below = at[key];
    if (depth < way.length - 1 && typeof below === "object" && below !== null) at = below as Tree;
    else {
      at[key] = value;
      break;
    }
  }
  return copy;
}

it("arbitrary input is converted to a file that passes the check, or is refused with an error", () => {
  const way = fc.array(fc.nat(40), { minLength: 1, maxLength: 6 });
  const changes = fc.array(fc.tuple(way, odd), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom(...documents), changes, (document, all) => {
      let text = document;
      for (const [at, value] of all) text = changed(text, at, value);
      const { mistakes, models, config } = convertLitellm(stringify(text), "fuzzed.yaml");
      expect({ mistakes, config: mistakes.length > 0 ? config : "" }).toEqual({
        mistakes: [],
        config: "",
      });
      expect(models).toBeGreaterThanOrEqual(0);
      expect(config).not.toContain("marked-secret");
    }),
    { numRuns: shortOrLong(50, 20_000) },
  );
});

it("a secret behind a YAML tag is not quoted in a warning", () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const text =
    "model_list:\n  - model_name: a\n    litellm_params:\n      model: openai/gpt-4o\n      api_key: !env sk-tagged-secret-1234\n";
  const { config, rows } = convertLitellm(text, "config.yaml");
  expect(warn.mock.calls).toEqual([]);
  expect(config + JSON.stringify(rows)).not.toContain("tagged-secret");
  warn.mockRestore();
});

it("exploding aliases and endless nesting are refused in one line", () => {
  const doubling = Array.from({ length: 30 }, (_, at) =>
    at === 0 ? "a0: &a0 [x, x]" : `a${at}: &a${at} [*a${at - 1}, *a${at - 1}]`,
  ).join("\n");
  for (const text of [doubling, `a: ${"[".repeat(200_000)}`])
    expect(() => convertLitellm(text, "config.yaml")).toThrow(
      /^config.yaml is not valid YAML: .+$/,
    );
});

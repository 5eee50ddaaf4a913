/** Output of `tollgate vendors` and `tollgate models` before a gateway has ever run: tables for people, JSON for programs. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const environment = {
  TOLLGATE_DATA_DIR: join(directory, "unused"),
  TOLLGATE_SANDBOX: "off",
  MISTRAL_API_KEY: "key-of-mistral-0123456789",
};

describe("lists of the command line", () => {
  it.each([
    [
      "vendors --active",
      /^VENDOR +ACTIVE +VARIABLES +MODELS +NO PRICE +OTHER ADDRESS +NAME\nmistral +yes +MISTRAL_API_KEY +\d+ .*MISTRAL_BASE_URL +Mistral\n$/,
    ],
    ["vendors", /\nollama +no +OLLAMA_BASE_URL +0 +Ollama\n/],
    [
      "models mistral-large-latest",
      /^MODEL +PROVIDER +KIND +PRICE +CONTEXT +REMARKS\nmistral\/mistral-large-latest +mistral +text +[\d.]+ \/ [\d.]+ +[\d,]+.*\n/,
    ],
    ["models no-such-words", /^No id of the \d+ models has "no-such-words" in it\.\n$/],
    [
      "models --provider no-such",
      /\nNo model is of a provider "no-such": tollgate providers list shows them\.\n$/,
    ],
    ["models --unpriced --provider no-such", /^No model of these vendors is without a price\.\n$/],
    ["models --kind video", /^MODEL +PROVIDER +KIND +PRICE +CONTEXT +REMARKS\n/],
  ])("tollgate %s prints a table", async (words, printed) => {
    const { code, stdout, stderr } = await tollgateHere(words.split(" "), environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(printed);
    expect(stdout + stderr).not.toContain(environment.MISTRAL_API_KEY);
  });

  it.each(["vendors --json", "models mistral --json"])("tollgate %s prints JSON", async (words) => {
    const { stdout } = await tollgateHere(words.split(" "), environment);
    const rows = JSON.parse(stdout) as { id: string }[];
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.every(({ id }) => typeof id === "string")).toBe(true);
  });

  it("models do not show as free what has a price per call, for long calls or for cache writes", async () => {
    const config = join(directory, "tollgate.yaml");
    const prices = {
      free: 'price: { input: "0", output: "0" }',
      calls: 'price: { input: "0", output: "0", request: "0.01" }',
      both: 'price: { input: "1", output: "2", request: "0.01" }',
      long: 'price: { input: "0", output: "0" }, price_above: { input_tokens: 9, price: { input: "1", output: "2" } }',
      drawn: 'price: { input: "1", output: "2", image_output: "30" }',
      written: 'price: { input: "0", cache_write: "1", output: "0" }',
    };
    const models = Object.entries(prices).map(
      ([name, price]) =>
        `  - { id: acme/${name}, kind: text, context_length: 9000, max_output_tokens: 900, offers: [{ provider: acme, protocol: chat, upstream_model: m, ${price} }] }`,
    );
    const provider =
      "{ id: acme, dialect: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: none }";
    writeFileSync(config, `providers: [${provider}]\nmodels:\n${models.join("\n")}\n`);
    const { stdout } = await tollgateHere(["models", "acme"], {
      TOLLGATE_DATA_DIR: environment.TOLLGATE_DATA_DIR,
      TOLLGATE_SANDBOX: "off",
      TOLLGATE_CONFIG: config,
    });
    const shown = stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => row.split(/ {2,}/));
    expect(Object.fromEntries(shown.map(([id, , , price]) => [id, price]))).toEqual({
      "acme/free": "free",
      "acme/calls": "0 / 0, 0.01 a call",
      "acme/both": "1 / 2, 0.01 a call",
      "acme/long": "0 / 0 +",
      "acme/drawn": "1 / 2",
      "acme/written": "0 / 0",
    });
  });

  it("models show prices by size and by resolution, and leave out missing rates", async () => {
    const { stdout } = await tollgateHere(["models", "sandbox"], {
      ...environment,
      TOLLGATE_SANDBOX: "on",
    });
    expect(stdout).toMatch(/ output_second 480p 0\.05 720p 0\.07, input_image 0\.01\n/);
    expect(stdout).toMatch(/ output_image low 1K [\d.]+ 2K [\d.]+ medium 1K /);
    expect(stdout).not.toMatch(/\[object|undefined/);
  });
});

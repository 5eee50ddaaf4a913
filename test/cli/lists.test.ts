/** What `tollgate vendors` and `tollgate models` print, before a gateway has ever run: tables for people, JSON for programs. */
import { rmSync } from "node:fs";
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
      /^VENDOR +ACTIVE +SET +MODELS +NO PRICE +OTHER ADDRESS +NAME\nmistral +yes +MISTRAL_API_KEY +\d+ .*MISTRAL_BASE_URL +Mistral\n$/,
    ],
    ["vendors", /\nollama +no +OLLAMA_BASE_URL +0 +Ollama\n/],
    [
      "models mistral-large-latest",
      /^MODEL +PROVIDER +KIND +PRICE +CONTEXT +REMARKS\nmistral\/mistral-large-latest +mistral +text +[\d.]+ \/ [\d.]+ +[\d,]+.*\n/,
    ],
    ["models no-such-words", /^No id of the \d+ models has "no-such-words" in it\.\n$/],
    ["models --kind video", /^MODEL +PROVIDER +KIND +PRICE +CONTEXT +REMARKS\n/],
  ])("tollgate %s", async (words, printed) => {
    const { code, stdout, stderr } = await tollgateHere(words.split(" "), environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(printed);
    expect(stdout + stderr).not.toContain(environment.MISTRAL_API_KEY);
  });

  it.each(["vendors --json", "models mistral --json"])("tollgate %s", async (words) => {
    const { stdout } = await tollgateHere(words.split(" "), environment);
    const rows = JSON.parse(stdout) as { id: string }[];
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.every(({ id }) => typeof id === "string")).toBe(true);
  });

  it("prices by size and resolution name each", async () => {
    const { stdout } = await tollgateHere(["models", "sandbox"], {
      ...environment,
      TOLLGATE_SANDBOX: "on",
    });
    expect(stdout).toMatch(/ output_second 480p 0\.05 720p 0\.07, input_image 0\.01\n/);
    expect(stdout).toMatch(/ output_image low 1K [\d.]+ 2K [\d.]+ medium 1K /);
    expect(stdout).not.toContain("[object");
  });
});

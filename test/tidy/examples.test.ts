/** The examples of the pages: settings that the program accepts, commands and options that it has. */
import { globSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { checkConfig, configSchema, withOwnPrices } from "../../src/catalog/index.ts";
import { createProgram } from "../../src/cli/program.ts";
import { environmentProviders } from "../../src/cli/vendor-models.ts";

const root = new URL("../../", import.meta.url).pathname;
const pages = globSync(["*.md", "docs/*.md"], { cwd: root }).toSorted();

/** A fenced block of a page, with its place. */
interface Block {
  readonly at: string;
  readonly language: string;
  readonly text: string;
}

const blocks: Block[] = pages.flatMap((page) => {
  const markdown = readFileSync(root + page, "utf8");
  return [...markdown.matchAll(/^( *)```(\w*)\n([^]*?)^ *```$/gm)].map(
    ({ 1: indent, 2: language, 3: text, index }) => ({
      at: `${page}:${markdown.slice(0, index).split("\n").length}`,
      language: language!,
      text: text!.replaceAll(new RegExp(`^${indent!}`, "gm"), ""),
    }),
  );
});

describe("the settings in the pages", () => {
  const known = new Set(Object.keys(configSchema()["properties"] as object));
  const isOurs = (text: string): boolean => {
    const keys = [...text.matchAll(/^([\w-]+):/gm)].map(([, key]) => key!);
    return new Set(keys).size === keys.length && keys.every((key) => known.has(key));
  };
  /** Mistakes of an excerpt only: settings that the rest of the file has, and files that only the reader has. */
  const isElsewhere = /\b(?:missing;|there is no provider|does not exist; name|is not set; set it)/;
  const files = blocks.filter(({ language, text }) => language === "yaml" && isOurs(text));

  it("are found", () => {
    expect(files.length).toBeGreaterThan(15);
  });

  it.each(files)("$at is accepted by the configuration check", ({ text }) => {
    expect(parse(text)).toBeTypeOf("object");
    const result = checkConfig(text, { environment: {} });
    const mistakes = "mistakes" in result ? result.mistakes : [];
    const messages = mistakes.map(({ path, message, fix }) => `${path}: ${message}; ${fix}`);
    expect(messages.filter((line) => !isElsewhere.test(line))).toEqual([]);
  });

  it("price models that their vendors have once the variable is set, and lose nothing of the list's prices", () => {
    const variables = { OPENAI_API_KEY: "x", DASHSCOPE_API_KEY: "x", DEEPSEEK_API_KEY: "x" };
    const vendors = environmentProviders(variables);
    const findings = files.map(({ at, text }) => {
      const result = checkConfig(text, { environment: {} });
      const prices = "config" in result ? (result.config.prices ?? {}) : {};
      const { unused, flat, uncached } = withOwnPrices(vendors, prices);
      return {
        at,
        models: Object.keys(prices).length,
        doubtful: [...unused, ...flat, ...uncached],
      };
    });
    expect(findings.filter(({ models }) => models > 0).length).toBeGreaterThan(1);
    expect(findings.filter(({ doubtful }) => doubtful.length > 0)).toEqual([]);
  });
});

describe("the commands in the pages", () => {
  const program = createProgram();

  /** The unknown commands and options among the words behind `tollgate`. Empty if they name no command, such as `tollgate's`. */
  function unknownWords(words: readonly string[]): string[] {
    let command: Command = program;
    let depth = 0;
    for (; depth < words.length; depth++) {
      const below = command.commands.find((one) => one.name() === words[depth]);
      if (below === undefined) break;
      command = below;
    }
    const next = words[depth] ?? "-";
    const isUnknown = command.commands.length > 0 && /^[a-z][a-z-]+$/.test(next);
    const has = (flag: string): boolean =>
      flag === "--help" || command.options.some(({ long, short }) => [long, short].includes(flag));
    const flags = words.flatMap((word) => /^--?[a-z][\w-]*/.exec(word) ?? []);
    return [...(isUnknown ? [next] : []), ...flags.filter((flag) => !has(flag))];
  }

  it("have only commands and options of the program", () => {
    const inline = pages.flatMap((page) =>
      [...readFileSync(root + page, "utf8").matchAll(/`([^`\n]+)`/g)].map(([, text]) => ({
        at: page,
        text: text!,
      })),
    );
    const typed = [...inline, ...blocks.filter(({ language }) => /^(?:sh|text)$/.test(language))];
    const commands = typed.flatMap(({ at, text }) =>
      [
        ...text
          .replaceAll("\\\n", " ")
          .matchAll(/(?<![\w./-])tollgate (?:help )?([a-z][^\n|;#&]*)/g),
      ].map(([all, words]) => ({ at, all, words: words!.trim().split(/\s+/) })),
    );
    expect(commands.length).toBeGreaterThan(100);
    expect(commands.filter(({ words }) => unknownWords(words).length > 0)).toEqual([]);
  });
});

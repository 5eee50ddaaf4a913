/** What an accessibility checker finds on a page as it stands. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { inForm, isLong } from "../support/long.ts";

// Run as a script of the test, not of the page: its policy would stop one that is put into it.
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** In the short form what the accessibility standard asks for; in the long one good practice too. */
const asked = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };
/** What is to be hit by a finger has 24 pixels: a rule that the checker leaves off by itself. */
const rules = { "target-size": { enabled: true } };
const options = { resultTypes: ["violations"], rules, ...inForm({ runOnly: asked }, {}) };

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What of a page is looked at, where another test looks at the rest: lists of selectors. */
interface Part {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Serious and critical findings, each with the elements it is about. */
export async function seriousFindings(page: Page, part?: Part): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(source);
  const context = part === undefined ? "document" : JSON.stringify(part);
  const { violations } = await page.evaluate<{ violations: Finding[] }>(
    `axe.run(${context}, ${JSON.stringify(options)})`,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`,
    );
}

/**
 * The same of a state of a page on the way of another test, in the long form alone: the checker takes as long as the page does, and
 * in the short form every-page.test.ts and opened.test.ts have it look at each page and at each kind of what opens.
 */
export const findingsOnTheWay = async (page: Page): Promise<string[]> =>
  isLong ? seriousFindings(page) : [];

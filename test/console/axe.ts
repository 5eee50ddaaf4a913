/** Findings of an accessibility checker on the present state of a page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { shortOrLong, isLong } from "../support/long.ts";

// Runs as a script of the test, not of the page: the page's policy would block an inserted script.
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** In the short form only the accessibility standard; in the long one good practice too. */
const asked = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };
/** Touch targets need 24 pixels: a rule that the checker leaves off by default. */
const rules = { "target-size": { enabled: true } };
const options = { resultTypes: ["violations"], rules, ...shortOrLong({ runOnly: asked }, {}) };

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The part of a page to check, if another test checks the rest: lists of selectors. */
interface Part {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Serious and critical findings, each with its elements. */
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
 * The same for a page state within another test, only in the long form: the checker takes as long as the page does. In the short
 * form every-page.test.ts and overlays-accessibility.test.ts check each page and each kind of overlay.
 */
export const findingsOnTheWay = async (page: Page): Promise<string[]> =>
  isLong ? seriousFindings(page) : [];

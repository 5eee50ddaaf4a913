/** Helpers for the tests of the playground. */
import type { Page, Request } from "playwright-core";
import { shortOrLong } from "../support/long.ts";
import { seriousFindings } from "./axe.ts";
import type { Visit } from "./browser.ts";

/** A text with a sandbox script. */
export const script = (fields: object) => `Hi\n#sandbox ${JSON.stringify(fields)}`;

export function playing(page: Page) {
  /** All requests of this window to the endpoints of callers. */
  const sent: Request[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "POST" && /^\/v1(?:beta)?\//.test(pathname)) sent.push(request);
  });
  const runButton = page.getByRole("button", { name: "Run", exact: true });
  return {
    sent,
    lastBody: () => JSON.parse(sent.at(-1)!.postData()!) as Record<string, unknown>,
    answer: (model: string) => page.getByRole("region", { name: `Answer of ${model}` }).last(),
    result: (model: string) => page.getByRole("region", { name: `Made by ${model}` }).first(),
    write: (text: string) => page.getByLabel("You", { exact: true }).fill(text),
    run: () => runButton.click(),
    runButton,
    async open(query: string) {
      await page.goto(`/playground?${query}`);
      await runButton.waitFor();
    },
  };
}

const looks = [
  ["light", 390],
  ["dark", 1280],
  ["light", 1280],
] as const;

/**
 * The faults of the page as it stands: in both schemes, and at a phone's width, the only look in the short form. Restores the
 * window afterwards.
 */
export async function faultsInAllLooks({ page, settled }: Visit): Promise<string[]> {
  const faults: string[] = [];
  const beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  for (const [colorScheme, width] of shortOrLong<readonly (typeof looks)[number][]>(
    [looks[0]],
    looks,
  )) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await settled();
    faults.push(...(await seriousFindings(page)));
    const wider = await page.evaluate<number>(beyond);
    if (wider > 0) faults.push(`${wider} pixels wider than ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return faults;
}

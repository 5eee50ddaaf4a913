/** How far parts of a page move by themselves, as browsers measure it (cumulative layout shift). */
import type { Page } from "playwright-core";

/** Runs in each page before its own scripts. */
export const watchShifts = `(() => {
  const nameOf = (node) => node === null || node.nodeType !== 1 ? "text" : node.tagName.toLowerCase() + "." + node.className + " " + (node.textContent ?? "").slice(0, 40);
  const edges = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
  const found = globalThis.layoutShifts = [];
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  const take = (entries) => {
    // The browser ignores shifts after an input or a resize; no input happens here.
    for (const { value, sources } of entries)
      found.push({ value, moved: sources.map(({ node, previousRect, currentRect }) => nameOf(node) + ": " + edges(previousRect) + " -> " + edges(currentRect)) });
  };
  observer.observe({ type: "layout-shift", buffered: true });
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const moves = () => document.getAnimations().some((one) => one instanceof CSSTransition);
  globalThis.restOfShifts = async () => {
    for (let still = 0; still < 5; ) {
      await frame();
      take(observer.takeRecords());
      still = found.splice(0).length === 0 && !moves() ? still + 1 : 0;
    }
  };
  globalThis.takeShifts = async () => { await frame(); await frame(); take(observer.takeRecords()); return found.splice(0); };
})()`;

export interface Shift {
  readonly value: number;
  /** The elements that moved, from where to where. */
  readonly moved: readonly string[];
}

/** The shifts since the last call. */
export const takeShifts = (page: Page): Promise<Shift[]> => page.evaluate<Shift[]>("takeShifts()");

/** Waits until nothing moves any more, so that shifts after a resize do not count later. */
export const settleShifts = (page: Page): Promise<void> => page.evaluate<void>("restOfShifts()");

/** The most that may move while a page fills: Google's limit for "good". */
const shiftMax = 0.1;

/** The shifts, if their sum exceeds the limit. */
export const shiftsOverLimit = (shifts: readonly Shift[]): readonly Shift[] =>
  shifts.reduce((sum, { value }) => sum + value, 0) > shiftMax ? shifts : [];

/** Delays every answer, so that the page is first drawn without it. */
export async function slowAnswers(page: Page, latency: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const speed = { downloadThroughput: -1, uploadThroughput: -1 };
  await session.send("Network.emulateNetworkConditions", { offline: false, latency, ...speed });
}

/** Walks through a page with the Tab key: the stops, their order, and whether the focus is visible. */
import type { Page } from "playwright-core";

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Stop {
  readonly name: string;
  /** `header`, `nav`, `main`, `footer` or `dialog`. */
  readonly region: string;
  /** In document coordinates, independent of scrolling. */
  readonly box: Box;
  /** True if another element covers its middle, or it is outside the window. */
  readonly isCovered: boolean;
}

export interface Walk {
  readonly stops: readonly Stop[];
  /** Stops that look the same with and without the focus. */
  readonly unmarked: readonly string[];
  /** Controls where Tab should stop and does not. */
  readonly missed: readonly string[];
  /** True if the walk returned to its start. */
  readonly isClosed: boolean;
}

/** The walk's state in the page: elements, and how each looked while it had the focus. */
const begin = `globalThis.walk = (() => {
  const nameOf = (one) => (one.tagName.toLowerCase() + " " + (one.getAttribute("aria-label") || one.placeholder || one.labels?.[0]?.textContent || one.textContent || one.outerHTML)).trim().slice(0, 60);
  const regionOf = (one) => one.closest("[role=dialog]") ? "dialog" : (one.closest("header, nav, main, footer")?.tagName.toLowerCase() ?? "body");
  const look = (one) => [one, one.parentElement, one.parentElement?.parentElement, one.parentElement?.parentElement?.parentElement?.parentElement, one.nextElementSibling, one.closest("label")].filter(Boolean).map((each) => {
    const { outline, boxShadow, borderColor, backgroundColor, textDecoration } = getComputedStyle(each);
    return [outline, boxShadow, borderColor, backgroundColor, textDecoration].join();
  }).join("|");
  const boxOf = (one) => { const { left, top, right, bottom } = one.getBoundingClientRect(); return { left: left + scrollX, top: top + scrollY, right: right + scrollX, bottom: bottom + scrollY }; };
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 0;
  const isStop = (one) => one.tabIndex >= 0 && !one.disabled && isSeen(one) && one.closest("[inert]") === null && !(one.type === "radio" && !one.checked);
  // Ends transitions, so that elements have their final look.
  const settle = () => { for (const one of document.getAnimations()) if ("transitionProperty" in one) one.finish(); };
  const elements = [], looks = [];
  return {
    step() {
      const one = document.activeElement;
      if (one === null || one === document.body || one === document.documentElement) return null;
      if (elements[0] === one && elements.length > 1) return "closed";
      // A video has stops of its own within.
      if (elements.at(-1) === one) return null;
      if (elements.includes(one)) return "again";
      look(one);
      settle();
      elements.push(one); looks.push(look(one));
      const { left, top, right, bottom } = one.getBoundingClientRect();
      const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const isOwn = over !== null && (one.contains(over) || over.contains(one) || over.closest("label")?.control === one || one.parentElement.contains(over));
      return { name: nameOf(one), region: regionOf(one), box: boxOf(one), isCovered: !isOwn };
    },
    end(within) {
      document.activeElement?.blur();
      for (const one of elements) look(one);
      settle();
      const scope = document.querySelector(within) ?? document;
      return {
        unmarked: elements.filter((one, index) => one.isConnected && look(one) === looks[index]).map(nameOf),
        missed: [...scope.querySelectorAll("a[href], button, input, select, textarea, [tabindex], video[controls], summary")].filter((one) => isStop(one) && !elements.includes(one)).map(nameOf),
      };
    },
  };
})()`;

const stopsMax = 250;

/** Presses Tab until it is back at the start. `within` must be walked in full. */
export async function walkByTab(page: Page, within = "body"): Promise<Walk> {
  await page.evaluate(begin);
  const stops: Stop[] = [];
  let isClosed = false;
  for (let press = 0; press < stopsMax && !isClosed; press += 1) {
    await page.keyboard.press("Tab");
    const step = await page.evaluate<Stop | "closed" | "again" | null>("walk.step()");
    // Between the last and the first element the focus is on the window itself.
    if (step === null) continue;
    if (step === "closed") isClosed = true;
    else if (step === "again") break;
    else stops.push(step);
  }
  const end = await page.evaluate<Pick<Walk, "unmarked" | "missed">>(
    `walk.end(${JSON.stringify(within)})`,
  );
  return { stops, isClosed, ...end };
}

/** Steps within a region against the reading order: up, unless into the next column; or left in the same line. */
export function stepsBack({ stops }: Walk): string[] {
  const slack = 4;
  const back: string[] = [];
  for (const [at, to] of stops.slice(1).entries()) {
    const from = stops[at]!;
    if (from.region !== to.region) continue;
    const isAbove = to.box.bottom <= from.box.top + slack;
    const isBelow = to.box.top >= from.box.bottom - slack;
    const isInNextColumn = to.box.left >= from.box.left + slack;
    const isLeft = to.box.left < from.box.left - slack;
    if ((isAbove && !isInNextColumn) || (!isAbove && !isBelow && isLeft))
      back.push(`${from.name} -> ${to.name}`);
  }
  return back;
}

/** Checks whether a page is wider than its window. */
import type { Page } from "playwright-core";

/** The first elements that extend beyond the window, if any. */
export const overflowing = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll("main *")]
      .filter((one) => one.getBoundingClientRect().right > width + 1)
      .slice(0, 5)
      .map((one) => one.outerHTML.slice(0, 150));
  })()`);

/** People in every role with a browser each, at a gateway whose console is the built one. */
import type { Browser } from "playwright-core";
import { startWorld } from "../admin-reads/support.ts";
import { startBrowser, visit, type Visit } from "./browser.ts";

export interface ConsoleWorld extends Awaited<ReturnType<typeof startWorld>> {
  readonly browser: Browser;
  /** A window of somebody who is signed in. */
  open(who: "root" | "ann" | "mem" | "bob", more?: object): Promise<Visit>;
  close(): Promise<void>;
}

/** `root` administers everything, `ann` the workspace `home` of which `mem` is a member, `bob` another one. */
export async function startConsoleWorld(): Promise<ConsoleWorld> {
  const world = await startWorld();
  const browser = await startBrowser();
  return {
    ...world,
    browser,
    open: (who, more = {}) =>
      visit(browser, { url: world.gateway.url, cookie: world[who].cookie, ...more }),
    async close() {
      await browser.close();
      await world.gateway.close();
    },
  };
}

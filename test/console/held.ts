/** What a page meets on a slow network: answers that are held back until a test lets them go, and a stream that says what a test says. */
import type { Page } from "playwright-core";
import { eventually } from "../support/patience.ts";
import { standBetween } from "./between.ts";

/** Stands in for the browser's stream of events, before the page's own scripts run. */
const standIn = `{
  const open = new Set();
  window.EventSource = class extends EventTarget {
    static CLOSED = 2;
    readyState = 1;
    constructor(url) {
      super();
      this.url = url;
      open.add(this);
      queueMicrotask(() => this.dispatchEvent(new Event("open")));
    }
    close() {
      this.readyState = 2;
      open.delete(this);
    }
  };
  window.streamAddresses = () => [...open].map(({ url }) => url);
  window.tell = (type, data) => {
    for (const one of open) one.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) }));
  };
}`;

export interface ToldStream {
  /** Waits until the page follows a topic. Returns the address of its stream. */
  readonly following: (topic: string) => Promise<string>;
  /** Says an event, as the gateway would. */
  readonly tell: (type: string, data?: object) => Promise<unknown>;
}

/** To be called before the page is opened. */
export async function toldStream(page: Page): Promise<ToldStream> {
  await page.addInitScript(standIn);
  const addresses = () => page.evaluate<string[]>("window.streamAddresses?.() ?? []");
  return {
    async following(topic) {
      let found: string | undefined;
      await eventually(async () => {
        const topics = (url: string) => new URLSearchParams(url.split("?")[1]).get("topics") ?? "";
        found = (await addresses()).find((url) => topics(url).split(",").includes(topic));
        return found !== undefined;
      }, `the page follows ${topic}`);
      return found!;
    },
    tell: (type, data = {}) =>
      page.evaluate(`window.tell(${JSON.stringify(type)}, ${JSON.stringify(data)})`),
  };
}

export interface Held {
  /** How many were asked for so far. */
  readonly count: () => number;
  /** Waits until an answer is held. */
  readonly asked: () => Promise<void>;
  /** Lets go what is held, and holds nothing any more. */
  readonly release: () => Promise<void>;
}

/** Holds the answers to calls of an address back: the gateway answers at once, and the page hears of it when they are released. */
export async function held(page: Page, is: (url: URL) => boolean): Promise<Held> {
  let count = 0;
  const end = await standBetween(page, "Response", is, () => {
    count += 1;
  });
  return {
    count: () => count,
    async asked() {
      await eventually(() => count > 0, "it is asked for");
    },
    release: end,
  };
}

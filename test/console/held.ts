/** A slow network for a page: answers that are held until a test releases them, and an event stream that the test controls. */
import type { Page } from "playwright-core";
import { eventually } from "../support/patience.ts";
import { interceptCalls } from "./between.ts";

/** Replaces the browser's event stream, before the page's own scripts run. */
const eventSourceStub = `{
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

export interface EventStreamStub {
  /** Waits until the page follows a topic. Returns the address of its stream. */
  readonly following: (topic: string) => Promise<string>;
  /** Sends an event, as the gateway would. */
  readonly tell: (type: string, data?: object) => Promise<unknown>;
}

/** Call this before opening the page. */
export async function stubEventStream(page: Page): Promise<EventStreamStub> {
  await page.addInitScript(eventSourceStub);
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

export interface HeldAnswers {
  /** The number of requests so far. */
  readonly count: () => number;
  /** Waits until an answer is held. */
  readonly asked: () => Promise<void>;
  /** Releases the held answers, and holds no more. */
  readonly release: () => Promise<void>;
}

/** Holds the answers to calls of an address: the gateway answers at once, and the page gets the answers when the test releases them. */
export async function holdAnswers(page: Page, is: (url: URL) => boolean): Promise<HeldAnswers> {
  let count = 0;
  const end = await interceptCalls(page, "Response", is, () => {
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

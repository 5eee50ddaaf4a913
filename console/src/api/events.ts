/**
 * Live events: one stream for everything that a page follows. It closes while the page is hidden, and reconnects after a gateway
 * restart. `ready` means that no later event is missed; the page must read earlier data itself.
 */
import { client, type Schemas } from "./client.ts";

export type RowTopic = "requests" | "tasks" | "deliveries";
export type Topic = RowTopic | "providers" | "gateways" | "verification" | "usage";

/** Fields of a provider's record that every user may see. */
export type ProviderState = Pick<
  Schemas["Providers"]["data"][number],
  "id" | "health" | "paused_until"
>;

export type StreamEvent =
  /** A stream began, or lost its position: the page must read everything written so far. */
  | { readonly type: "ready" | "reset" }
  /** A row is new or changed, as its list shows it. The same row may come twice. */
  | {
      readonly type: "row";
      readonly topic: RowTopic;
      readonly row: { readonly id: string };
      /** True if the row passed this follower's filter. False if several followers share the stream, which then sends the rows of all. */
      readonly isFiltered: boolean;
    }
  /** Too many rows at once: only their number. */
  | {
      readonly type: "skipped";
      readonly topic: RowTopic;
      readonly count: number;
      readonly isFiltered: boolean;
    }
  /** The state of the providers. */
  | { readonly type: "state"; readonly data: readonly ProviderState[] }
  /** Data that is not rows changed: the page must read it again. */
  | { readonly type: "changed"; readonly topic: Topic }
  /** There are newer usage numbers. */
  | { readonly type: "usage" };

/** Values that rows must have, by API filter name. */
export type EventFilter = Readonly<Record<string, string | undefined>>;

export interface Follower {
  readonly topics: readonly Topic[];
  readonly filter: EventFilter;
  readonly on: (event: StreamEvent) => void;
}

const followers = new Set<Follower>();
const watchers = new Set<() => void>();
let source: EventSource | undefined;
let address = "";
let brokenAt: Date | undefined;
let states: readonly ProviderState[] = [];
let isPlanned = false;

/** When the stream broke, so that shown data may be old; undefined while it is open or has no followers. */
export const streamBrokenAt = (): Date | undefined => brokenAt;

/** The last provider states of the stream, which sends them at its start and on each change. Empty before. */
export const providerStates = (): readonly ProviderState[] => states;

/** Calls `watcher` whenever one of the two above changes. Returns a function that stops it. */
export function watchStream(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const tellWatchers = (): void => {
  for (const watcher of watchers) watcher();
};

function setBroken(isBroken: boolean): void {
  if (isBroken === (brokenAt !== undefined)) return;
  brokenAt = isBroken ? new Date() : undefined;
  tellWatchers();
}

function setStates(data: readonly ProviderState[]): void {
  states = data;
  tellWatchers();
}

const rowTopics: ReadonlySet<Topic> = new Set(["requests", "tasks", "deliveries"]);

const givenOf = (filter: EventFilter): [string, string][] =>
  Object.entries(filter).filter((entry): entry is [string, string] => !!entry[1]);

const followRows = (): readonly Follower[] =>
  [...followers].filter(({ topics }) => topics.some((topic) => rowTopics.has(topic)));

/** The stream URL for all followers. If they want different values, the stream is unfiltered and they filter themselves. */
function wantedAddress(): string {
  if (followers.size === 0 || document.hidden) return "";
  const topics = [...new Set([...followers].flatMap((one) => one.topics))].sort();
  const rows = followRows();
  const filter = rows.length === 1 ? rows[0]!.filter : {};
  const query = new URLSearchParams([["topics", topics.join(",")], ...givenOf(filter)]);
  return `/admin/v1/events?${query}`;
}

const typesOf = ["ready", "reset", "row", "skipped", "state", "changed", "usage"] as const;

function tell(type: (typeof typesOf)[number], text: string): void {
  const data = JSON.parse(text) as { topic?: Topic; data?: readonly ProviderState[] };
  const event = type === "state" ? { type, data: data.data } : { type, ...data };
  if (event.type === "state") setStates(data.data ?? []);
  const isAlone = followRows().length === 1;
  for (const follower of followers) {
    const topic = type === "state" ? "providers" : type === "usage" ? "usage" : data.topic;
    if (topic !== undefined && !follower.topics.includes(topic)) continue;
    const isFiltered = isAlone || givenOf(follower.filter).length === 0;
    follower.on({ ...event, isFiltered } as StreamEvent);
  }
}

const againMs = 3_000;

/** The gateway refused the stream. If the session has ended, this call triggers a new sign-in. */
async function refused(from: EventSource): Promise<void> {
  await client.GET("/admin/v1/me").catch(() => undefined);
  setTimeout(() => {
    if (source === from) open(address);
  }, againMs);
}

function open(next: string): void {
  source?.close();
  source = undefined;
  address = next;
  if (next === "") {
    setBroken(false);
    return;
  }
  const opened = new EventSource(next);
  source = opened;
  opened.addEventListener("open", () => setBroken(false));
  opened.addEventListener("error", () => {
    setBroken(true);
    if (opened.readyState === EventSource.CLOSED) void refused(opened);
  });
  for (const type of typesOf)
    opened.addEventListener(type, (message: MessageEvent<string>) => tell(type, message.data));
}

/** Opens the stream once per page change, not once for each follower. */
function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  queueMicrotask(() => {
    isPlanned = false;
    const wanted = wantedAddress();
    if (wanted !== address) open(wanted);
  });
}

document.addEventListener("visibilitychange", plan);

/** Adds a follower until the returned function is called. */
export function follow(follower: Follower): () => void {
  followers.add(follower);
  plan();
  return () => {
    followers.delete(follower);
    plan();
  };
}

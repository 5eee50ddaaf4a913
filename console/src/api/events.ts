/**
 * What is new, as it comes: one stream for all that a page follows. It is closed while the page is hidden, and comes back by itself
 * after a restart of the gateway. `ready` says that from now on nothing is missed; what was there before is to be read.
 */
import { client, type Schemas } from "./client.ts";

export type RowTopic = "requests" | "tasks" | "deliveries";
export type Topic = RowTopic | "providers" | "gateways" | "verification" | "usage";

/** Fields of a provider's record that everybody may know. */
export type ProviderState = Pick<
  Schemas["Providers"]["data"][number],
  "id" | "health" | "paused_until"
>;

export type StreamEvent =
  /** A stream begins, or lost its place: what was written until now is to be read. */
  | { readonly type: "ready" | "reset" }
  /** A row is new or changed, as its list shows it. It may come twice. */
  | {
      readonly type: "row";
      readonly topic: RowTopic;
      readonly row: { readonly id: string };
      /** It has the values that the follower wants. No: several follow rows, and each gets those of all. */
      readonly isFiltered: boolean;
    }
  /** Too many rows at once: only how many. */
  | {
      readonly type: "skipped";
      readonly topic: RowTopic;
      readonly count: number;
      readonly isFiltered: boolean;
    }
  /** How the providers are doing. */
  | { readonly type: "state"; readonly data: readonly ProviderState[] }
  /** What is no row is another now: it is to be read again. */
  | { readonly type: "changed"; readonly topic: Topic }
  /** There are newer numbers. */
  | { readonly type: "usage" };

/** Values that rows must have, by the names of the API's filters. */
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

/** Since when the stream is broken, and what is shown may be old; undefined while it stands or nobody follows anything. */
export const streamBrokenAt = (): Date | undefined => brokenAt;

/** How the providers were doing when the stream last said so; it says it as it begins, and on each change. Empty before. */
export const providerStates = (): readonly ProviderState[] => states;

/** Calls `watcher` whenever one of the two above changes. Returns how to stop it. */
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

/** What all followers follow; where they want different values, those are left to them. */
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

/** The gateway refused: where the session is over, this asks for another one. */
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

/** Once what a page follows is known, not once for each part of it. */
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

/** Follows something, until what it returns is called. */
export function follow(follower: Follower): () => void {
  followers.add(follower);
  plan();
  return () => {
    followers.delete(follower);
    plan();
  };
}

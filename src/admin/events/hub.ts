/**
 * The event streams of one process. While there are readers, one query a second reads news for all of them together. Each reader
 * gets the topics it asked for, as far as it may see them. Without readers, nothing is queried. docs/management.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError, overloaded } from "../../base/errors.ts";
import type { Queryable } from "../../storage/index.ts";
import type { Visibility } from "../../tenancy/index.ts";
import { readNews, type News, type RowTopic } from "./news.ts";
import { changedTopics, Notices, type NoticeSources, type NoticeTopic } from "./notices.ts";
import {
  ReadPosition,
  isVisible,
  rowTopicsOf,
  type NewRow,
  type RowFilter,
  type Topic,
} from "./reader.ts";
import { RowEvents, type RowEventsOptions } from "./row-events.ts";
import { timingDefault, type Timing } from "./timing.ts";

/** One event of a stream. The `id` on the wire tells where to resume. */
export interface StreamEvent {
  readonly event: "ready" | "row" | "skipped" | "state" | "changed" | "usage" | "reset" | "bye";
  readonly data: object;
}

/** The output of one reader. */
export interface Sink {
  /** Sends events, and the mark after which the reader may resume. */
  send(events: readonly StreamEvent[], mark: bigint | undefined): void;
  /** Sends a sign of life; otherwise a proxy considers the connection dead. */
  keepAlive(mark: bigint | undefined): void;
  /** True if the client no longer reads. */
  isStuck(): boolean;
  end(): void;
}

/** The visibility of a reader: rows by kind, and notices of other topics. */
export interface ReaderScope {
  readonly rows: Readonly<Record<RowTopic, Visibility>>;
  readonly notices: readonly NoticeTopic[];
  readonly providerStates: boolean;
}

export interface ReaderOptions {
  readonly userId: string;
  readonly topics: readonly Topic[];
  readonly filter: RowFilter;
  readonly sight: ReaderScope;
  /** Reloads what the reader may see. @throws GatewayError 401 or 403 if the reader may see nothing any more */
  readonly reloadScope: () => Promise<ReaderScope>;
  /** The mark from which the reader resumes; undefined: from now on. */
  readonly since: bigint | undefined;
  readonly sink: Sink;
}

export interface EventHubOptions extends RowEventsOptions {
  readonly database: Queryable;
  /** The state of the providers, as far as every member may know it. */
  readonly providers: () => object;
  readonly notices: NoticeSources;
  /** True once this process is stopping. */
  readonly leaving: () => boolean;
  readonly timing?: Partial<Timing> | undefined;
}

interface Reader extends Omit<ReaderOptions, "sight"> {
  sight: ReaderScope;
  /** Undefined until the reader's start is known. */
  position: ReadPosition | undefined;
  checkedMs: number;
  sentMs: number;
  usageMs: number;
  /** The last provider state that was sent, as JSON. */
  providers: string | undefined;
  /** The last known text of each notice topic. */
  readonly noticeTexts: Map<NoticeTopic, string>;
}

/** The notice topics that the reader follows and may see. */
const noticesOf = ({ topics, sight }: Reader): NoticeTopic[] =>
  sight.notices.filter((topic) => topics.includes(topic));

export interface EventHub {
  /** Adds a reader until the returned function is called or the stream ends. @throws GatewayError `overloaded` */
  join(options: ReaderOptions): () => void;
  /** The rights of some readers may have changed: they are checked before further rows are sent. */
  recheckRights(): void;
}

const endedSessionStatuses = new Set([401, 403]);

/** Creates the hub of this process. It looks for news only while it has readers. */
export const createEventHub = (options: EventHubOptions): EventHub => new Hub(options);

class Hub implements EventHub {
  readonly #options: EventHubOptions;
  readonly #timing: Timing;
  readonly #notices: Notices;
  readonly #rows: RowEvents;
  readonly #readers = new Set<Reader>();
  #isRunning = false;

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.#timing = { ...timingDefault, ...options.timing };
    this.#notices = new Notices(options.notices, this.#timing.noticeMs);
    this.#rows = new RowEvents(options);
  }

  join(options: ReaderOptions): () => void {
    const { streamsMax, personStreamsMax } = this.#timing;
    if (this.#readers.size >= streamsMax)
      throw overloaded("This gateway has reached its limit of event streams. Retry in a moment.");
    const own = [...this.#readers].filter(({ userId }) => userId === options.userId);
    if (own.length >= personStreamsMax)
      throw overloaded(
        "You have reached the limit of event streams of one person. Close some pages of the console.",
      );
    const nowMs = performance.now();
    const times = { checkedMs: nowMs, sentMs: nowMs, usageMs: -Infinity };
    const unknown = { position: undefined, providers: undefined, noticeTexts: new Map() };
    const reader: Reader = { ...options, ...times, ...unknown };
    this.#readers.add(reader);
    void this.#run();
    return () => this.#readers.delete(reader);
  }

  recheckRights(): void {
    for (const reader of this.#readers) reader.checkedMs = -Infinity;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#readers.size > 0) {
      try {
        await this.#poll();
      } catch (error) {
        // The database may be unavailable for a moment. No reader's mark has moved, so no reader misses anything.
        this.#options.log.warn({ err: error }, "events could not be read");
      }
      await sleep(this.#timing.pollMs);
    }
    this.#isRunning = false;
  }

  async #poll(): Promise<void> {
    if (this.#options.leaving()) {
      for (const reader of this.#readers) this.#end(reader, "stopping");
      return;
    }
    await this.#checkRights([...this.#readers]);
    for (const reader of this.#readers)
      if (reader.position === undefined) await this.#startReader(reader);
    await this.#advanceReaders([...this.#readers].filter(({ position }) => position !== undefined));
    this.#sendProviderStates();
    await this.#sendNotices();
    const nowMs = performance.now();
    for (const reader of this.#readers) {
      if (reader.sink.isStuck()) this.#end(reader);
      else if (nowMs - reader.sentMs > this.#timing.keepAliveMs) {
        reader.sentMs = nowMs;
        reader.sink.keepAlive(reader.position?.mark);
      }
    }
  }

  /** Looks up the start of one reader separately: the others are already further. */
  async #startReader(reader: Reader): Promise<void> {
    const { since, topics, sink } = reader;
    // Once told that the stream has begun, a client that loads its page misses nothing: the notices known now are the baseline.
    changedTopics(
      noticesOf(reader),
      await this.#notices.read(new Set(noticesOf(reader))),
      reader.noticeTexts,
    );
    const news = await readNews(this.#options.database, since, rowTopicsOf(topics));
    const position = new ReadPosition(since ?? news.mark);
    const isThere = since === undefined || (since <= news.top && !news.isCut);
    const rows = isThere ? await this.#rows.read(news.names) : undefined;
    const isLost = rows === undefined;
    const events: StreamEvent[] = [{ event: isLost ? "reset" : "ready", data: {} }];
    events.push(...this.#rows.eventsFor(reader, rows ?? []));
    position.add(news.mark, news.names);
    reader.position = isLost ? new ReadPosition(news.mark, news.names) : position;
    sink.send(events, reader.position.mark);
  }

  async #advanceReaders(readers: readonly Reader[]): Promise<void> {
    const topics = rowTopicsOf(readers.flatMap((reader) => reader.topics));
    if (topics.length === 0) return;
    const marks = readers.map(({ position }) => position!.since);
    const since = marks.reduce((least, mark) => (mark < least ? mark : least));
    const news = await readNews(this.#options.database, since, topics);
    const unread = news.names.filter((name) =>
      readers.some(({ position }) => !position!.has(name)),
    );
    const rows = news.isCut ? [] : await this.#rows.read(unread);
    // The rights may have changed while the rows were read.
    await this.#checkRights(readers);
    for (const reader of readers) {
      if (!this.#readers.has(reader)) continue;
      const fresh = rows?.filter(({ name }) => !reader.position!.has(name));
      const isWhole = this.#recordNews(reader.position!, news);
      if (fresh === undefined || !isWhole) this.#send(reader, [{ event: "reset", data: {} }]);
      else this.#deliver(reader, fresh);
    }
  }

  /** Records the news that was read for a reader. False if it was incomplete: the reader must read its lists again. */
  #recordNews(position: ReadPosition, news: News): boolean {
    if (position.since > news.top) {
      // Another server: a standby that lacks the last transactions, or a restored database.
      position.restart(news.mark);
      return false;
    }
    const { isHeld, mark } = position;
    position.add(news.mark, news.names);
    // A long-open write transaction, even of another database, holds the mark back: all rows behind it would be read each time.
    if (news.isCut && news.mark <= mark) position.skipTo(news.top);
    // The transactions that were open at the skip have ended, and may have written rows.
    return !news.isCut && isHeld === position.isHeld;
  }

  #deliver(reader: Reader, rows: readonly NewRow[]): void {
    const events: StreamEvent[] = this.#rows.eventsFor(reader, rows, this.#timing.rowsMax);
    if (this.#hasNumbers(reader, rows)) events.push({ event: "usage", data: {} });
    this.#send(reader, events);
  }

  /** True if the reader is due a `usage` event for newer numbers. */
  #hasNumbers(reader: Reader, rows: readonly NewRow[]): boolean {
    const nowMs = performance.now();
    if (!reader.topics.includes("usage") || nowMs - reader.usageMs < this.#timing.usageMs)
      return false;
    const counts = (row: NewRow): boolean =>
      row.name.topic === "requests" && isVisible(reader.sight.rows.requests, row);
    if (!rows.some(counts)) return false;
    reader.usageMs = nowMs;
    return true;
  }

  #sendProviderStates(): void {
    const following = [...this.#readers].filter(({ topics }) => topics.includes("providers"));
    if (following.length === 0) return;
    const data = this.#options.providers();
    const text = JSON.stringify(data);
    for (const reader of following) {
      if (!reader.sight.providerStates || reader.providers === text) continue;
      reader.providers = text;
      this.#send(reader, [{ event: "state", data }]);
    }
  }

  /** Sends `changed` for notice topics that changed, to readers who may see them. */
  async #sendNotices(): Promise<void> {
    const readers = [...this.#readers].map((reader) => ({ reader, topics: noticesOf(reader) }));
    const texts = await this.#notices.read(new Set(readers.flatMap(({ topics }) => topics)));
    for (const { reader, topics } of readers) {
      const news = changedTopics(topics, texts, reader.noticeTexts);
      const events = news.map((topic) => ({ event: "changed" as const, data: { topic } }));
      this.#send(reader, events);
    }
  }

  #send(reader: Reader, events: readonly StreamEvent[]): void {
    if (events.length === 0) return;
    reader.sentMs = performance.now();
    reader.sink.send(events, reader.position?.mark);
  }

  /** Waits for all checks, also after one has failed: a late one may end its stream, and until then the old rights hold. */
  async #checkRights(readers: readonly Reader[]): Promise<void> {
    const checks = await Promise.allSettled(readers.map((reader) => this.#checkOne(reader)));
    for (const check of checks) if (check.status === "rejected") throw check.reason;
  }

  async #checkOne(reader: Reader): Promise<void> {
    if (performance.now() - reader.checkedMs < this.#timing.checkMs) return;
    // Set before the read: a change during it causes another check.
    reader.checkedMs = performance.now();
    try {
      reader.sight = await reader.reloadScope();
    } catch (error) {
      reader.checkedMs = -Infinity;
      const isOver = error instanceof GatewayError && endedSessionStatuses.has(error.status);
      // Without the database, no rows are read either.
      if (!isOver) throw error;
      this.#end(reader, "signed_out");
    }
  }

  #end(reader: Reader, reason?: string): void {
    this.#readers.delete(reader);
    if (reason !== undefined) reader.sink.send([{ event: "bye", data: { reason } }], undefined);
    reader.sink.end();
  }
}

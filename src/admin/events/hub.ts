/**
 * The event streams of one process. While there are readers, one query a second reads news for all of them together. Each reader
 * gets the topics it asked for, as far as it may see them. Without readers, nothing is queried. docs/management.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError, overloaded } from "../../base/errors.ts";
import type { Queryable } from "../../storage/index.ts";
import type { Visibility } from "../../tenancy/index.ts";
import { readNews, type News, type RowTopic } from "./news.ts";
import { newsFor, Notices, type NoticeSources, type NoticeTopic } from "./notices.ts";
import { Had, isVisible, rowTopicsOf, type NewRow, type RowFilter, type Topic } from "./reader.ts";
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
export interface Sight {
  readonly rows: Readonly<Record<RowTopic, Visibility>>;
  readonly notices: readonly NoticeTopic[];
}

export interface Joining {
  /** The user who reads. */
  readonly userId: string;
  readonly topics: readonly Topic[];
  readonly filter: RowFilter;
  readonly sight: Sight;
  /** Reloads what the reader may see. @throws GatewayError 401 or 403 if the reader may see nothing any more */
  readonly lookAgain: () => Promise<Sight>;
  /** The mark from which the reader resumes; undefined: from now on. */
  readonly since: bigint | undefined;
  readonly sink: Sink;
}

export interface EventHubOptions extends RowEventsOptions {
  readonly database: Queryable;
  /** The state of the providers, as far as every user may know it. */
  readonly providers: () => object;
  readonly notices: NoticeSources;
  /** True once this process is stopping. */
  readonly leaving: () => boolean;
  readonly timing?: Partial<Timing> | undefined;
}

interface Reader extends Omit<Joining, "sight"> {
  sight: Sight;
  /** Undefined until the reader's start is known. */
  had: Had | undefined;
  checkedMs: number;
  sentMs: number;
  usageMs: number;
  /** The last provider state that was sent, as JSON. */
  providers: string | undefined;
  /** The last known text of each notice topic. */
  readonly noticed: Map<NoticeTopic, string>;
}

/** The notice topics that the reader follows and may see. */
const noticesOf = ({ topics, sight }: Reader): NoticeTopic[] =>
  sight.notices.filter((topic) => topics.includes(topic));

export interface EventHub {
  /** Adds a reader until the returned function is called or the stream ends. @throws GatewayError `overloaded` */
  join(joining: Joining): () => void;
}

const rightsOver = new Set([401, 403]);

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

  join(joining: Joining): () => void {
    const { streamsMax, personStreamsMax } = this.#timing;
    if (this.#readers.size >= streamsMax)
      throw overloaded("This gateway has reached its limit of event streams. Retry in a moment.");
    const own = [...this.#readers].filter(({ userId }) => userId === joining.userId);
    if (own.length >= personStreamsMax)
      throw overloaded(
        "You have reached the limit of event streams of one person. Close some pages of the console.",
      );
    const nowMs = performance.now();
    const fresh = { had: undefined, providers: undefined, usageMs: -Infinity, noticed: new Map() };
    const reader: Reader = { ...joining, ...fresh, checkedMs: nowMs, sentMs: nowMs };
    this.#readers.add(reader);
    void this.#run();
    return () => this.#readers.delete(reader);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#readers.size > 0) {
      try {
        await this.#turn();
      } catch (error) {
        // The database may be unavailable for a moment. No reader's mark has moved, so no reader misses anything.
        this.#options.log.warn({ err: error }, "events could not be read");
      }
      await sleep(this.#timing.pollMs);
    }
    this.#isRunning = false;
  }

  async #turn(): Promise<void> {
    if (this.#options.leaving()) {
      for (const reader of this.#readers) this.#end(reader, "stopping");
      return;
    }
    await Promise.all([...this.#readers].map((reader) => this.#checkRights(reader)));
    for (const reader of this.#readers) if (reader.had === undefined) await this.#begin(reader);
    await this.#goOn([...this.#readers].filter(({ had }) => had !== undefined));
    this.#tellProviders();
    await this.#tellChanged();
    const nowMs = performance.now();
    for (const reader of this.#readers) {
      if (reader.sink.isStuck()) this.#end(reader);
      else if (nowMs - reader.sentMs > this.#timing.keepAliveMs) {
        reader.sentMs = nowMs;
        reader.sink.keepAlive(reader.had?.mark);
      }
    }
  }

  /** Looks up the start of one reader separately: the others are already further. */
  async #begin(reader: Reader): Promise<void> {
    const { since, topics, sink } = reader;
    // Once told that the stream has begun, a client that loads its page misses nothing: the notices known now are the baseline.
    newsFor(
      noticesOf(reader),
      await this.#notices.read(new Set(noticesOf(reader))),
      reader.noticed,
    );
    const news = await readNews(this.#options.database, since, rowTopicsOf(topics));
    const had = new Had(since ?? news.mark);
    const isThere = since === undefined || (since <= news.top && !news.isCut);
    const rows = isThere ? await this.#rows.read(news.names) : undefined;
    const isLost = rows === undefined;
    const events: StreamEvent[] = [{ event: isLost ? "reset" : "ready", data: {} }];
    events.push(...this.#rows.eventsFor(reader, rows ?? []));
    had.add(news.mark, news.names);
    reader.had = isLost ? new Had(news.mark, news.names) : had;
    sink.send(events, reader.had.mark);
  }

  async #goOn(readers: readonly Reader[]): Promise<void> {
    const topics = rowTopicsOf(readers.flatMap((reader) => reader.topics));
    if (topics.length === 0) return;
    const marks = readers.map(({ had }) => had!.since);
    const since = marks.reduce((least, mark) => (mark < least ? mark : least));
    const news = await readNews(this.#options.database, since, topics);
    const unread = news.names.filter((name) => readers.some(({ had }) => !had!.has(name)));
    const rows = news.isCut ? [] : await this.#rows.read(unread);
    for (const reader of readers) {
      const fresh = rows?.filter(({ name }) => !reader.had!.has(name));
      const isWhole = this.#move(reader.had!, news);
      if (fresh === undefined || !isWhole) this.#send(reader, [{ event: "reset", data: {} }]);
      else this.#deliver(reader, fresh);
    }
  }

  /** Records the news that was read for a reader. False if it was incomplete: the reader must read its lists again. */
  #move(had: Had, news: News): boolean {
    if (had.since > news.top) {
      // Another server: a standby that lacks the last transactions, or a restored database.
      had.restart(news.mark);
      return false;
    }
    const { isHeld, mark } = had;
    had.add(news.mark, news.names);
    // A long-open write transaction, even of another database, holds the mark back: all rows behind it would be read each time.
    if (news.isCut && news.mark <= mark) had.leap(news.top);
    // The transactions that were open at the leap have ended, and may have written rows.
    return !news.isCut && isHeld === had.isHeld;
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

  #tellProviders(): void {
    const following = [...this.#readers].filter(({ topics }) => topics.includes("providers"));
    if (following.length === 0) return;
    const data = this.#options.providers();
    const text = JSON.stringify(data);
    for (const reader of following) {
      if (reader.providers === text) continue;
      reader.providers = text;
      this.#send(reader, [{ event: "state", data }]);
    }
  }

  /** Sends `changed` for notice topics that changed, to readers who may see them. */
  async #tellChanged(): Promise<void> {
    const readers = [...this.#readers].map((reader) => ({ reader, topics: noticesOf(reader) }));
    const texts = await this.#notices.read(new Set(readers.flatMap(({ topics }) => topics)));
    for (const { reader, topics } of readers) {
      const news = newsFor(topics, texts, reader.noticed);
      this.#send(
        reader,
        news.map((topic) => ({ event: "changed", data: { topic } })),
      );
    }
  }

  #send(reader: Reader, events: readonly StreamEvent[]): void {
    if (events.length === 0) return;
    reader.sentMs = performance.now();
    reader.sink.send(events, reader.had?.mark);
  }

  async #checkRights(reader: Reader): Promise<void> {
    if (performance.now() - reader.checkedMs < this.#timing.checkMs) return;
    try {
      reader.sight = await reader.lookAgain();
      reader.checkedMs = performance.now();
    } catch (error) {
      const isOver = error instanceof GatewayError && rightsOver.has(error.status);
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

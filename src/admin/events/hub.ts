/**
 * The streams of one process. While somebody reads, the database is asked once a second for what is new, for all of them
 * together; each gets what they may see and have asked for. Nobody there: nothing is asked. docs/management.md.
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

/** What a stream says; `id` is where its reader may go on from. */
export interface StreamEvent {
  readonly event: "ready" | "row" | "skipped" | "state" | "changed" | "usage" | "reset" | "bye";
  readonly data: object;
}

/** Where the events of one reader go. */
export interface Sink {
  /** Sends events, and where to go on from behind them. */
  send(events: readonly StreamEvent[], mark: bigint | undefined): void;
  /** Something must be sent now and then, or a proxy takes the connection for dead. */
  keepAlive(mark: bigint | undefined): void;
  /** The reader takes nothing any more. */
  isStuck(): boolean;
  end(): void;
}

/** What somebody sees, by kind of row, and what besides rows they are told of. */
export interface Sight {
  readonly rows: Readonly<Record<RowTopic, Visibility>>;
  readonly notices: readonly NoticeTopic[];
}

export interface Joining {
  /** Who reads. */
  readonly userId: string;
  readonly topics: readonly Topic[];
  readonly filter: RowFilter;
  readonly sight: Sight;
  /** What they see now. @throws GatewayError 401 or 403 where they see nothing any more */
  readonly lookAgain: () => Promise<Sight>;
  /** Where they go on from; undefined: from now. */
  readonly since: bigint | undefined;
  readonly sink: Sink;
}

export interface EventHubOptions extends RowEventsOptions {
  readonly database: Queryable;
  /** How the providers are doing, as far as everybody may know. */
  readonly providers: () => object;
  readonly notices: NoticeSources;
  /** True once this process was asked to stop. */
  readonly leaving: () => boolean;
  readonly timing?: Partial<Timing> | undefined;
}

interface Reader extends Omit<Joining, "sight"> {
  sight: Sight;
  /** Undefined until it is known where they begin. */
  had: Had | undefined;
  checkedMs: number;
  sentMs: number;
  usageMs: number;
  /** What they were sent of the providers. */
  providers: string | undefined;
  /** What they know of. */
  readonly noticed: Map<NoticeTopic, string>;
}

/** What besides rows somebody follows and may be told of. */
const noticesOf = ({ topics, sight }: Reader): NoticeTopic[] =>
  sight.notices.filter((topic) => topics.includes(topic));

export interface EventHub {
  /** Takes a reader, until what it returns is called or the stream ends. @throws GatewayError `overloaded` */
  join(joining: Joining): () => void;
}

const rightsOver = new Set([401, 403]);

/** A hub of this process: it looks for news only while somebody reads. */
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
      throw overloaded("This gateway has as many streams of events as it serves at once.");
    const own = [...this.#readers].filter(({ userId }) => userId === joining.userId);
    if (own.length >= personStreamsMax)
      throw overloaded("You have as many streams of events as one person may. Close some pages.");
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
        // The database is away for a moment, say. Nobody has moved their mark, so nobody misses anything.
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

  /** Where a reader goes on from is looked up for them alone: others are further. */
  async #begin(reader: Reader): Promise<void> {
    const { since, topics, sink } = reader;
    // Whoever reads a page once they are told that the stream has begun misses nothing: it is known by then what there was.
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

  /** Notes what was read for a reader; false where that was not all, and they must read the lists again. */
  #move(had: Had, news: News): boolean {
    if (had.since > news.top) {
      // Another server: a standby without the last transactions, or a restored database.
      had.restart(news.mark);
      return false;
    }
    const { isHeld, mark } = had;
    had.add(news.mark, news.names);
    // A write transaction that stays open, of another database too, holds the mark: what is behind it would be read each time.
    if (news.isCut && news.mark <= mark) had.leap(news.top);
    // What was open when they leapt has ended, and may have written rows.
    return !news.isCut && isHeld === had.isHeld;
  }

  #deliver(reader: Reader, rows: readonly NewRow[]): void {
    const events: StreamEvent[] = this.#rows.eventsFor(reader, rows, this.#timing.rowsMax);
    if (this.#hasNumbers(reader, rows)) events.push({ event: "usage", data: {} });
    this.#send(reader, events);
  }

  /** Whether to say that there are newer numbers. */
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

  /** What is no row and is another now, to those who may see it. */
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
      // Where the database cannot be asked nothing is read of it either.
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

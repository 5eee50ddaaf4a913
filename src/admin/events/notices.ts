/** Topics that are not rows. The stream only says that a topic changed; a client that may see it reads it again. */

/** `providers`: their numbers and credentials. An outage of a provider is a `state` event instead. */
export type NoticeTopic = "providers" | "gateways" | "verification";

/** For each topic, returns a text that differs whenever the topic's content differs. */
export type NoticeSources = Readonly<Record<NoticeTopic, () => string | Promise<string>>>;

/** Least ms between two reads, by topic. */
export type NoticePace = Readonly<Record<NoticeTopic, number>>;

interface Known {
  readonly text: string;
  readonly readMs: number;
}

/** The current text of each topic, read only on demand and shared by all readers. */
export class Notices {
  readonly #sources: NoticeSources;
  readonly #everyMs: NoticePace;
  readonly #known = new Map<NoticeTopic, Known>();

  constructor(sources: NoticeSources, everyMs: NoticePace) {
    this.#sources = sources;
    this.#everyMs = everyMs;
  }

  /** Returns the texts of some topics, each at most as old as its pace allows. */
  async read(topics: ReadonlySet<NoticeTopic>): Promise<ReadonlyMap<NoticeTopic, string>> {
    const texts = new Map<NoticeTopic, string>();
    for (const topic of topics) texts.set(topic, await this.#readOne(topic));
    return texts;
  }

  async #readOne(topic: NoticeTopic): Promise<string> {
    const known = this.#known.get(topic);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.readMs < this.#everyMs[topic]) return known.text;
    const text = await this.#sources[topic]();
    this.#known.set(topic, { text, readMs: nowMs });
    return text;
  }
}

/** Returns the topics whose text changed since this reader last saw it, and updates `known`. The first text is not a change. */
export function changedTopics(
  topics: readonly NoticeTopic[],
  texts: ReadonlyMap<NoticeTopic, string>,
  known: Map<NoticeTopic, string>,
): NoticeTopic[] {
  return topics.filter((topic) => {
    const text = texts.get(topic)!;
    const before = known.get(topic);
    known.set(topic, text);
    return before !== undefined && before !== text;
  });
}

/** What can be followed and is no row: a stream says only that it is another now, and who may see it reads it again. */

/** `providers`: their numbers and credentials; that one is out is a `state`. */
export type NoticeTopic = "providers" | "gateways" | "verification";

/** Something that is another text whenever what the topic is about is another. */
export type NoticeSources = Readonly<Record<NoticeTopic, () => string | Promise<string>>>;

/** How often a topic is looked at, at most. */
export type NoticePace = Readonly<Record<NoticeTopic, number>>;

interface Known {
  readonly text: string;
  readonly readMs: number;
}

/** The present text of each topic, read anew only while somebody asks, and for all of them together. */
export class Notices {
  readonly #sources: NoticeSources;
  readonly #everyMs: NoticePace;
  readonly #known = new Map<NoticeTopic, Known>();

  constructor(sources: NoticeSources, everyMs: NoticePace) {
    this.#sources = sources;
    this.#everyMs = everyMs;
  }

  /** The texts of some topics, each as old as its pace allows. */
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

/** What one reader knows of: the topics that are another than they were, which are kept in `known`. A first look is no news. */
export function newsFor(
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

/** Claude's prompt cache as Anthropic and Amazon document it: what a request reads and writes, in blocks. */
import { isWire, items, wire, type Wire } from "../transcripts/readers/meaning.ts";

/** The most markers in a request, and the most blocks before a marker at which an entry is found. */
const [markersMax, lookBack] = [4, 20];

export interface CachedCall {
  /** The blocks of the prompt, and how many of them were read from the cache. */
  readonly blocks: number;
  readonly read: number;
  /** The blocks up to the last marker. */
  readonly marked: number;
  /** The price of the prompt, where a character of input costs 1. */
  readonly bill: number;
  /** The last block of each marked part of the prompt, without its marker. */
  readonly ends: readonly Wire[];
}

interface Block {
  readonly place: string;
  readonly block: Wire;
  readonly isMarked: boolean;
}

const isPoint = (block: Wire): boolean => "cachePoint" in block;

/** Refuses what Bedrock refuses. @throws Error for a cache point right after a document that is no PDF, or after nothing but documents */
function checkPoints(blocks: readonly Wire[]): void {
  for (const [at, block] of blocks.entries()) {
    if (!isPoint(block)) continue;
    const { document } = blocks[at - 1]!;
    if (isWire(document) && document["format"] !== "pdf") throw new Error("type: Field required");
    const others = blocks.slice(0, at).filter((one) => !isPoint(one) && !("document" in one));
    if (others.length === 0) throw new Error("There is nothing available to cache");
  }
}

/** The blocks of a list. In Converse a marker is a block of its own, after the marked one. */
function blocksIn(list: unknown, place: string): Block[] {
  const blocks = typeof list === "string" ? [{ type: "text", text: list }] : items(list);
  checkPoints(blocks);
  return blocks.flatMap((whole, at) => {
    const { cache_control: marker, ...block } = whole;
    const next = blocks[at + 1];
    const isMarked = isWire(marker) || (next !== undefined && isPoint(next));
    return isPoint(whole) ? [] : [{ place, block, isMarked }];
  });
}

/** The blocks of a request in the order of the prompt. */
const promptOf = (body: Wire): Block[] => [
  ...blocksIn(body["tools"] ?? wire(body["toolConfig"])["tools"], "tools"),
  ...blocksIn(body["system"], "system"),
  ...items(body["messages"]).flatMap(({ role, content }, at) =>
    blocksIn(content, `${String(role)} ${at}`),
  ),
];

/** True for a block that both vendors refuse to mark. */
const isRefused = ({ type, text }: Wire): boolean =>
  type === "thinking" || type === "redacted_thinking" || (typeof text === "string" && !text.trim());

/** Claude's rates for a cache of five minutes, in rates of input. */
const rates = { read: 0.1, write: 1.25 } as const;

/** The price of these blocks, of which the first `read` were read and those up to `marked` written. */
const billOf = (prompt: readonly Block[], read: number, marked: number): number =>
  prompt
    .map(({ block }) => JSON.stringify(block).length)
    .map((size, at) => size * (at < read ? rates.read : at < marked ? rates.write : 1))
    .reduce((sum, one) => sum + one, 0);

/** An empty cache of one credential. */
export class PromptCache {
  readonly #entries = new Set<string>();

  /** Answers a request. @throws Error for one that the vendor refuses */
  call(body: Wire): CachedCall {
    const prompt = promptOf(body);
    const ends = prompt.flatMap(({ isMarked }, at) => (isMarked ? [at + 1] : []));
    if (ends.length > markersMax) throw new Error(`${ends.length} markers`);
    if (ends.some((end) => isRefused(prompt[end - 1]!.block))) throw new Error("a refused marker");
    const entry = (end: number): string =>
      JSON.stringify(prompt.slice(0, end).map(({ place, block }) => [place, block]));
    const found = ends.map((end) => {
      const tried = Array.from({ length: Math.min(lookBack, end) }, (_, back) => end - back);
      return tried.find((at) => this.#entries.has(entry(at))) ?? 0;
    });
    for (const end of ends) this.#entries.add(entry(end));
    const [read, marked] = [Math.max(0, ...found), ends.at(-1) ?? 0];
    return {
      blocks: prompt.length,
      read,
      marked,
      bill: billOf(prompt, read, marked),
      ends: ends.map((end) => prompt[end - 1]!.block),
    };
  }
}

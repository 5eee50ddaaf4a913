/**
 * Keeps the bodies of a call word for word, if its workspace has enabled that. Kept are the caller's request, the request sent
 * upstream, and the answer, each up to a bound. Headers are never kept. Texts that look like the gateway's keys, and the provider's
 * credentials, are masked. If it is off, there is no keeper and none of this runs.
 */
import type { ByteLease } from "../base/byte-budget.ts";
import { formatSse, type SseEvent } from "../base/sse.ts";
import { jsonSlices, type JsonPart } from "../base/json-write.ts";
import type { JsonSource } from "../base/json-source.ts";
import { ChunkBuffer } from "../base/chunk-buffer.ts";
import { errorCodec, type CallProtocol, type JsonObject } from "../protocols/index.ts";
import type { Caller } from "../tenancy/index.ts";
import type { Provider } from "../catalog/index.ts";
import { keptTextMax, type Bodies } from "../request-log/index.ts";
import { withoutCredentials } from "../upstream/index.ts";
import type { CallBody } from "./call-body.ts";
import { CallError } from "./end.ts";
import type { AnyRecord } from "./record.ts";
import { ForwardingReply } from "./forwarding-reply.ts";
import type { Reply } from "./reply.ts";

/** The parts of a call that a keeper reads. */
interface KeptCall {
  readonly id: string;
  readonly protocol: CallProtocol;
  readonly body: CallBody;
  readonly caller: Caller;
  readonly lease: ByteLease;
}

/**
 * Matches the gateway's secrets and prefixes of them: keys, tokens of the management API, tokens of invitation and password links,
 * signing secrets.
 */
const ourSecrets = /(gw_(?:live|temp|admin|pat|inv|pwr)_|whsec_)[\w+/=-]{4,}/g;

/** A growing text, up to the bound. */
class BoundedText {
  readonly #parts = new ChunkBuffer();
  readonly #lease: ByteLease | undefined;
  isCut = false;

  /** Kept bytes count in `lease`; bytes for which it has no room are cut. */
  constructor(lease?: ByteLease) {
    this.#lease = lease;
  }

  add(part: JsonPart): void {
    if (this.isCut) return;
    // Bytes are not copied: a request may have a hundred times as many as are kept.
    const bytes =
      typeof part === "string"
        ? Buffer.from(part)
        : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    const kept = bytes.subarray(0, keptTextMax - this.#parts.length);
    const fits = this.#lease?.tryTake(kept.length) ?? true;
    this.isCut = !fits || kept.length < bytes.length;
    if (fits) this.#parts.add(kept);
  }

  /** The kept text; null if there is none. A character that the bound cut in two is left out. */
  get text(): string | null {
    if (this.#parts.length === 0) return null;
    const text = this.#parts.join().toString("utf8");
    return this.isCut && text.endsWith("\uFFFD") ? text.slice(0, -1) : text;
  }
}

const boundedJson = (value: object): BoundedText => boundedParts(jsonSlices(value));

function boundedParts(parts: Iterable<JsonPart>): BoundedText {
  const bounded = new BoundedText();
  for (const part of parts) {
    bounded.add(part);
    if (bounded.isCut) break;
  }
  return bounded;
}

/** The reply of a call that is kept: passes everything on, and records the caller's answer. */
export class Keeper extends ForwardingReply {
  readonly #call: KeptCall;
  #source: JsonSource;
  #answer: BoundedText;
  #sent: { readonly body: JsonObject; readonly source: JsonSource | undefined } | undefined;
  #provider: Provider | undefined;

  constructor(call: KeptCall, reply: Reply) {
    super(reply);
    this.#call = call;
    this.#answer = new BoundedText(call.lease);
    this.#source = call.body.source;
  }

  override whole(body: object, headers: Readonly<Record<string, string>>): void {
    this.#answer = boundedJson(body);
    super.whole(body, headers);
  }

  /** Replaces the request by the one that hooks returned: data that they removed is not kept. */
  changed(source: JsonSource): void {
    this.#source = source;
  }

  /** Records the body sent to a provider; the last one wins. `source`: the request whose bytes are forwarded in it. */
  sending(body: JsonObject, provider: Provider, source: JsonSource | undefined): void {
    this.#sent = { body, source };
    this.#provider = provider;
  }

  /** Waits for the end of a failed call, and records the error that its caller gets. */
  async watch(end: Promise<void>): Promise<void> {
    try {
      await end;
    } catch (thrown) {
      if (thrown instanceof CallError) {
        const { protocol, id } = this.#call;
        const said = thrown.body ?? errorCodec(protocol).encodeError(thrown.error, id);
        this.#answer = boundedJson(said);
      }
      throw thrown;
    }
  }

  /** The kept bodies of an ended call; undefined if its workspace keeps only failed calls and it did not fail. */
  bodies(record: AnyRecord): Bodies | undefined {
    if (this.#call.caller.keepBodies === "errors" && record.status !== "failed") return undefined;
    const request = new BoundedText();
    request.add(this.#source.bytes);
    const texts = {
      request,
      sent: boundedParts(this.#sentParts()),
      answer: this.#answer,
    };
    const shown = ({ text }: BoundedText): string | null => {
      if (text === null) return null;
      const masked = text.replaceAll(ourSecrets, "$1[masked]");
      return this.#provider === undefined ? masked : withoutCredentials(this.#provider, masked);
    };
    return {
      request: shown(texts.request),
      sent: shown(texts.sent),
      answer: shown(texts.answer),
      truncated: Object.entries(texts).flatMap(([name, { isCut }]) => (isCut ? [name] : [])),
    };
  }

  #sentParts(): Iterable<JsonPart> {
    if (this.#sent === undefined) return [];
    const { body, source } = this.#sent;
    return source?.parts(body) ?? jsonSlices(body);
  }

  protected override onFrames(frames: readonly SseEvent[]): void {
    for (const frame of frames) this.#answer.add(formatSse(frame));
  }
}

/** The keeper of a call; undefined if nothing is kept. */
export const keeperOf = (call: KeptCall, reply: Reply): Keeper | undefined =>
  call.caller.keepBodies === "off" ? undefined : new Keeper(call, reply);

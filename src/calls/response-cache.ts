/**
 * The response cache of a key: a repeated request gets the earlier answer, and is charged as the key says. It is asked after the
 * reservation, so that a caller that may not call gets nothing from it. docs/cache.md.
 */
import { createHash } from "node:crypto";
import type { ByteLease } from "../base/byte-budget.ts";
import { exactTwinOf } from "../base/exact-numbers.ts";
import { parseJsonText } from "../base/json-text.ts";
import { jsonWithin } from "../base/json-write.ts";
import type { NanoUsd } from "../base/money.ts";
import type { Note } from "../base/notes.ts";
import { frameMin, ownEvent, type SseEvent } from "../base/sse.ts";
import { routingScope, type AnswerName, type ResponseCache } from "../tenancy/index.ts";
import { cachedBytesMax, type CacheServices } from "./cached-answers.ts";
import type { AnyCall, Answered, CallContext } from "./context.ts";
import { canonicalJson } from "./canonical-json.ts";
import { recordFirstToken, type CacheOutcome, type CallRecord } from "./record.ts";
import { ForwardingReply } from "./forwarding-reply.ts";
import type { Reply } from "./reply.ts";

/** A cached answer, in the gateway's own format. Change `version` when the format changes. */
interface CachedAnswer {
  /** The model that answered; it may be a fallback. Absent in old answers. */
  readonly model?: string;
  readonly provider: string | null;
  readonly upstreamProtocol: CallRecord["upstreamProtocol"];
  /** The charge of the first answer, in nano-USD. */
  readonly costNano: string;
  /** Changes in the request, for the answer and the log. */
  readonly notes: readonly Note[];
  /** The output text, because hooks are notified of repeats too, also by other keys. */
  readonly text: string;
  /** True if `text` is only the beginning. Absent: it is complete. */
  readonly isCut?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly frames?: readonly SseEvent[];
}

const version = 4;
/** A longer request is not looked up: its canonical form takes longer than parsing it. */
const requestBytesMax = 1024 * 1024;
const cacheHeader = "x-gw-cache";

/** The cache for a call, as far as the caller allows it; undefined if its key has none. */
export function cacheOf(
  cache: CacheServices | undefined,
  call: AnyCall,
  reply: Reply,
): CachedCall | undefined {
  const settings = call.caller.responseCache;
  return cache === undefined || settings === null
    ? undefined
    : new CachedCall(cache, settings, call, reply);
}

/** One call of a key with a cache. */
export class CachedCall {
  readonly reply: Recording;
  readonly #cache: CacheServices;
  readonly #settings: ResponseCache;
  readonly #isStored: boolean;
  readonly #mayRead: boolean;
  /** Set when the call is prepared. */
  #name: AnswerName | undefined;

  constructor(cache: CacheServices, settings: ResponseCache, call: AnyCall, reply: Reply) {
    this.#cache = cache;
    this.#settings = settings;
    const cacheControl = call.cacheControl?.toLowerCase() ?? "";
    this.#isStored =
      !cacheControl.includes("no-store") &&
      call.body.source.bytes.length <= requestBytesMax &&
      !hasVendorState(call);
    this.#mayRead = this.#isStored && !cacheControl.includes("no-cache");
    this.reply = new Recording(reply, this.#isStored, call.lease);
  }

  /** The answer from the cache; undefined if there is none. */
  async answer(context: CallContext): Promise<Answered | undefined> {
    const { call, record } = context;
    if (this.#isStored)
      this.#name = {
        workspaceId: call.caller.workspaceId,
        digest: digestOf(call, record.model),
      };
    const kept = await this.#find(context);
    const outcome = kept !== undefined ? "hit" : this.#mayRead ? "miss" : "bypass";
    this.#cache.onLookup(outcome);
    record.cache = outcome;
    this.reply.outcome = outcome;
    return kept && this.#answered(context, kept);
  }

  /** Caches the answer, once the call has succeeded. */
  keep(record: CallRecord): void {
    const { kept } = this.reply;
    const isWhole = record.cache !== "hit" && record.status === "succeeded";
    if (this.#name === undefined || kept === undefined || !isWhole) return;
    const { model, provider, upstreamProtocol, costNano, notes, answerText } = record;
    const whole: CachedAnswer = {
      model,
      provider,
      upstreamProtocol,
      costNano: String(costNano),
      notes,
      text: answerText?.text ?? "",
      ...(answerText?.isCut === true && { isCut: true }),
      ...kept,
    };
    // The limit applies to the answer without `text`, which repeats parts of it.
    const most = cachedBytesMax + Buffer.byteLength(whole.text);
    const text = jsonWithin(whole, most);
    if (text !== undefined && Buffer.byteLength(text) <= most)
      this.#cache.answers.put(this.#name, {
        callId: record.id,
        text,
        seconds: this.#settings.ttlSeconds,
      });
  }

  /** Returns the cached answer if it may still be used: answers of a removed provider are not. */
  async #find({ services }: CallContext): Promise<CachedAnswer | undefined> {
    if (this.#name === undefined || !this.#mayRead) return undefined;
    const text = await this.#cache.answers.find(this.#name, this.#settings.ttlSeconds);
    if (text === undefined) return undefined;
    const kept = exactTwinOf(parseJsonText(text) as CachedAnswer);
    const { providers } = services.catalog();
    return kept.provider !== null && providers.has(kept.provider) ? kept : undefined;
  }

  #answered({ record, reply }: CallContext, kept: CachedAnswer): Answered {
    record.model = kept.model ?? record.model;
    record.provider = kept.provider;
    record.upstreamProtocol = kept.upstreamProtocol;
    record.notes = kept.notes;
    recordFirstToken(record);
    // A client that has left gets nothing, and pays nothing, as before a provider is asked.
    const percent = reply.gone ? 0 : this.#settings.chargePercent;
    const amountNano = shareOf(BigInt(kept.costNano), percent);
    const end = (): void => {
      record.answerText = {
        text: kept.text,
        isCut: kept.isCut,
        ...(kept.body && { body: kept.body }),
      };
      if (kept.body !== undefined) return reply.whole(kept.body, kept.headers);
      reply.open(kept.headers);
      reply.end(kept.frames ?? []);
    };
    return { amountNano, end };
  }
}

/**
 * True if the answer depends on what the vendor keeps. The same words in a `conversation` mean something else the next time. An answer to
 * `background` only says that it has begun.
 */
function hasVendorState({ protocol, body: { value: body } }: AnyCall): boolean {
  return (
    protocol === "responses" &&
    (body["background"] === true || (body["conversation"] ?? null) !== null)
  );
}

/** A share of an amount, rounded up as every charge is: less than one nano-dollar above the exact share. */
const shareOf = (amountNano: NanoUsd, percent: number): NanoUsd =>
  (amountNano * BigInt(percent) + 99n) / 100n;

/**
 * The digest of everything that determines an answer, including changes by hooks. A caller whose request was not changed must not
 * get the answer to a changed one. `resolved`: the model that the requested name means now. The workspace is part of it, of the
 * row's key, and of the name that the row is sealed with.
 */
function digestOf(call: AnyCall, resolved: string): string {
  const { caller, protocol, model, stream, callerHeaders } = call;
  const { fallbackModels = null, changes = [] } = call;
  const scope = routingScope(caller);
  const about = [version, caller.workspaceId, protocol, model, resolved, stream];
  return createHash("sha256")
    .update(JSON.stringify([...about, fallbackModels, callerHeaders, scope, changes]))
    .update("\n")
    .update(canonicalJson(call.body.source.bytes))
    .digest("hex");
}

/** A reply that records the answer it forwards, up to the bound, and reports the cache outcome in a header. */
class Recording extends ForwardingReply {
  outcome: CacheOutcome = "bypass";
  #isKept: boolean;
  #headers: Readonly<Record<string, string>> = {};
  #body: object | undefined;
  #frames: SseEvent[] = [];
  readonly #lease: ByteLease;
  #bytes = 0;

  /** Recorded frames count in `lease`. */
  constructor(reply: Reply, isKept: boolean, lease: ByteLease) {
    super(reply);
    this.#isKept = isKept;
    this.#lease = lease;
  }

  /** The complete answer; undefined if it is incomplete or too long. */
  get kept(): Pick<CachedAnswer, "headers" | "body" | "frames"> | undefined {
    if (!this.#isKept || !this.ended) return undefined;
    const headers = this.#headers;
    return this.#body === undefined
      ? { headers, frames: this.#frames }
      : { headers, body: this.#body };
  }

  override whole(body: object, headers: Readonly<Record<string, string>>): void {
    this.#body = body;
    this.#headers = headers;
    super.whole(body, { ...headers, [cacheHeader]: this.outcome });
  }

  override open(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
    super.open({ ...headers, [cacheHeader]: this.outcome });
  }

  protected override onFrames(frames: readonly SseEvent[]): void {
    if (!this.#isKept) return;
    let bytes = 0;
    for (const frame of frames) {
      const length = Buffer.byteLength(frame.data) + Buffer.byteLength(frame.event ?? "");
      bytes += Math.max(frameMin, length);
      this.#frames.push(ownEvent(frame));
    }
    if (this.#bytes + bytes <= cachedBytesMax && this.#lease.tryTake(bytes)) {
      this.#bytes += bytes;
      return;
    }
    this.#isKept = false;
    this.#frames = [];
    this.#lease.give(this.#bytes);
  }
}

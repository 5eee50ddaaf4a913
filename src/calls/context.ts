/** What the steps of one text call share. */
import type { ByteLease } from "../base/byte-budget.ts";
import type { Clock } from "../base/clock.ts";
import type { LoadGuard } from "../base/load-guard.ts";
import type { Log } from "../base/log.ts";
import type { NanoUsd } from "../base/money.ts";
import type { Note } from "../base/notes.ts";
import type { Span } from "../base/tracing.ts";
import type { Tags } from "../base/tags.ts";
import type { Catalog } from "../catalog/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { CallProtocol, ProtocolName, Route, StreamTap } from "../protocols/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { Constraints, Health } from "../routing/index.ts";
import type { RateUse } from "../rates/index.ts";
import { routingScope, type Caller } from "../tenancy/index.ts";
import type { CallerHeaders, Pools } from "../upstream/index.ts";
import type { CallBody } from "./call-body.ts";
import type { Keeper } from "./keep.ts";
import type { CallRecord } from "./record.ts";
import type { CacheServices } from "./cached-answers.ts";
import type { Reply } from "./reply.ts";
import type { Stoppable } from "./stopping.ts";
import type { CallUnderWay } from "./under-way.ts";

/** A call as it came in: authenticated, its body one JSON object. */
interface Call<Protocol extends CallProtocol> {
  readonly id: string;
  readonly protocol: Protocol;
  /** The model id with its suffix, as the caller wrote it. */
  readonly model: string;
  readonly stream: boolean;
  readonly body: CallBody;
  readonly caller: Caller;
  readonly callerHeaders: CallerHeaders;
  /** Other models that may answer, as the header names them. */
  readonly fallbackModels?: string | undefined;
  /** The header of that name: whether an answer of the key's cache will do. */
  readonly cacheControl?: string | undefined;
  /** What its caller says of it. Absent: nothing. */
  readonly tags?: Tags | undefined;
  /** What of it goes no further than here: headers that are never forwarded, and what hooks changed. */
  readonly changes?: readonly Note[] | undefined;
  /** Where the caller has limits. */
  readonly rate: RateUse | undefined;
  /** The span of its request, where it is traced. */
  readonly span?: Span | undefined;
  /** What the call holds of the process's budget of bodies: its own, and whole answers. Whoever made it releases it. */
  readonly lease: ByteLease;
}

export type TextCall = Call<ProtocolName>;
export type EmbeddingCall = Call<"embeddings">;
/** Any call that is answered at once. */
export type AnyCall = TextCall | EmbeddingCall;

/** What any call that is answered at once needs from the running gateway. */
export interface CallServices<Record> {
  catalog(): Catalog;
  readonly pools: Pools;
  readonly health: Health;
  readonly clock: Clock;
  readonly log: Log;
  /** Says what is told of errors while this process is overloaded; absent: they are told as they are. */
  readonly load?: Pick<LoadGuard, "told"> | undefined;
  /** The operator's own checks; absent: there are none. */
  readonly hooks?: Hooks | undefined;
  /** Callers may name loopback and private networks: the operator's switch. */
  readonly allowPrivateAddresses: boolean;
  /** How often a silent stream is kept alive (T88). */
  readonly keepAliveMs: number;
  /** Called once for each call that begins. */
  began?(call: CallUnderWay): void;
  /** Called once for each call that ended. */
  finished(record: Record): void;
}

export interface TextServices extends CallServices<CallRecord> {
  readonly ledger: Pick<Ledger, "spend">;
  /** True sends direct calls through the canonical form too: tests show by it that nothing is lost there. */
  readonly forceConversion: boolean;
  /** For keys that have a response cache. */
  readonly cache?: CacheServices | undefined;
}

/** An answer that is complete but for its end, which nobody gets before its charge is committed. */
export interface Answered {
  readonly amountNano: NanoUsd;
  /** Gives the caller the last frames of a stream, or all of a whole answer. */
  end(): void;
}

/** What a call under way starts with. */
interface CallParts {
  readonly services: TextServices;
  readonly call: AnyCall;
  readonly reply: Reply;
  readonly record: CallRecord;
  readonly inputEstimate: number;
  readonly route: Route;
  /** Frees what was made of the request, once it is written. */
  readonly discardDerived: () => void;
  /** Frees the request, once a stream has begun on this route. False where it is held until the end. */
  readonly releaseRequest: (route: Route) => boolean;
  /** Where the workspace keeps what was said; it is the reply then. */
  readonly keeper: Keeper | undefined;
}

/** One call under way. */
export class CallContext implements Stoppable {
  readonly services: TextServices;
  readonly call: AnyCall;
  readonly reply: Reply;
  readonly record: CallRecord;
  readonly inputEstimate: number;
  readonly keeper: Keeper | undefined;
  /** The route of the running attempt; none any more once a stream has begun. */
  #route: Route | undefined;
  /** Called once the request is written for a provider. */
  readonly discardDerived: () => void;
  readonly #releaseRequest: (route: Route) => boolean;
  #tap: StreamTap | undefined;
  #whenGone: (() => void) | undefined;
  #abort: (() => void) | undefined;
  #stream: Stoppable | undefined;
  #isStopped = false;

  constructor(parts: CallParts) {
    const { services, call, reply, record, inputEstimate, route, keeper } = parts;
    this.services = services;
    this.call = call;
    this.reply = reply;
    this.record = record;
    this.inputEstimate = inputEstimate;
    this.#route = route;
    this.discardDerived = parts.discardDerived;
    this.#releaseRequest = parts.releaseRequest;
    this.keeper = keeper;
    reply.onGone(() => this.#whenGone?.());
  }

  get constraints(): Constraints {
    return routingScope(this.call.caller);
  }

  get route(): Route {
    if (this.#route === undefined) throw new Error("the route is asked for after its stream began");
    return this.#route;
  }

  set route(route: Route) {
    this.#route = route;
  }

  /** What sees the stream: the one that the caller has frames of, or one for what it gets instead. */
  get tap(): StreamTap {
    return this.#tap ?? this.route.tap();
  }

  /** The caller gets the first frames of a stream: nobody else is asked, and the request is freed. */
  began(tap: StreamTap): void {
    this.#tap = tap;
    if (this.#releaseRequest(this.route)) this.#route = undefined;
  }

  /** The gateway stops, and nothing of the answer has left: whoever waits for it is told so. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Its connection is cut next. A stream that has begun ends by itself; what is being charged goes out. */
  stop(isLast: boolean): void {
    this.#stream?.stop(isLast);
    if (!isLast || this.#tap !== undefined) return;
    this.#isStopped = true;
    this.#abort?.();
  }

  /** What ends the stream that is relayed. */
  set stream(stream: Stoppable | undefined) {
    this.#stream = stream;
  }

  /** Replaces what ends the running attempt. */
  onStop(abort: () => void): void {
    this.#abort = abort;
  }

  /** Replaces what happens to the running attempt when the client goes. */
  onGone(handler: () => void): void {
    this.#whenGone = handler;
    if (this.reply.gone) handler();
  }
}

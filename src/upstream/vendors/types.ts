/** A vendor's slot: what of it differs from its protocol's own way. Each member is data, or one small function. docs/extending.md. */
import type { JsonPieces } from "../../base/json-source.ts";
import type { Provider } from "../../catalog/index.ts";
import type { AskedProtocol, JsonObject } from "../../protocols/index.ts";
import type { Exchange } from "../exchange.ts";

/** Headers of the caller that a direct route passes on, by lower-case name; empty on converted routes. */
export type CallerHeaders = Readonly<Record<string, string | undefined>>;

/** What is asked of whom, before it is a request. */
export interface TextAsk {
  readonly provider: Provider;
  readonly protocol: AskedProtocol;
  /** The vendor's own name of the model. */
  readonly model: string;
  readonly stream: boolean;
  /** Empty where the provider takes none. */
  readonly apiKey: string;
  readonly caller: CallerHeaders;
}

/** Where one request goes, and with which headers. Shared between requests, so never changed. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A vendor without any of these is asked as its protocol says (protocols.ts). */
export interface Vendor {
  /** The header that holds the key; in `authorization` it stands behind `Bearer`. */
  readonly keyHeader?: string | ((ask: TextAsk) => string);
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | ((ask: TextAsk) => Record<string, string>);
  /** The path below the base URL, made of the protocol's own. */
  readonly path?: (own: string, ask: TextAsk) => string;
  /** Added to every path, such as `api-version=2026-10-01`. */
  readonly query?: string;
  /** The paths that count a request's tokens, by protocol. Without one a count is estimated. */
  readonly countPaths?: Partial<Readonly<Record<AskedProtocol, (model: string) => string>>>;
  /** The body as the vendor takes it. Never changes the one given. */
  readonly body?: (body: JsonObject, ask: TextAsk) => JsonObject;
  /**
   * Headers of one request that cannot be written ahead: a signature over its bytes, a token that expires. The key itself
   * is then not sent. @throws ExchangeError where the vendor cannot be reached for it; other errors are ours
   */
  readonly authorize?: (
    target: Target,
    body: JsonPieces,
    ask: TextAsk,
  ) => Promise<Readonly<Record<string, string>>>;
  /** Loads the libraries that its answers need. */
  readonly load?: () => Promise<unknown>;
  /** The answer as the protocol has it, where the vendor frames its streams otherwise. */
  readonly answer?: (exchange: Exchange, ask: TextAsk) => Exchange | Promise<Exchange>;
}

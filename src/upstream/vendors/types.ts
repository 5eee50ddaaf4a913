/** The differences of a vendor from its protocol's defaults: data, or small functions. docs/extending.md. */
import type { JsonPieces } from "../../base/json-write.ts";
import type { DialectRow, Provider } from "../../catalog/index.ts";
import type { AskedProtocol, JsonObject } from "../../protocols/index.ts";
import type { Exchange } from "../exchange.ts";

/** Headers of the caller that a direct route passes on, by lower-case name; empty on converted routes. */
export type CallerHeaders = Readonly<Record<string, string | undefined>>;

/** The parts of a text request that do not depend on the key. */
export interface Addressed {
  readonly provider: Provider;
  readonly protocol: AskedProtocol;
  /** The vendor's own name of the model. */
  readonly model: string;
  readonly stream: boolean;
  readonly caller: CallerHeaders;
}

/** The same, with the key. */
export interface TextAsk extends Addressed {
  /** Empty if the provider takes no key. */
  readonly apiKey: string;
}

/** The address and headers of a request. Shared between requests, so never changed. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A vendor: the data of its dialect's row, or code instead. Without any of these, the protocol's defaults apply (protocols.ts). */
export interface Vendor extends Omit<DialectRow, "keyHeader" | "headers"> {
  /** The header for the key; in `authorization` the key follows `Bearer`. */
  readonly keyHeader?: string | ((ask: TextAsk) => string);
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | ((ask: TextAsk) => Record<string, string>);
  /** The path below the base URL, made from the protocol's own; a template in `paths` takes precedence. */
  readonly path?: (own: string, ask: TextAsk) => string;
  /** The path for counting a request's tokens, which takes precedence over `countPaths`; undefined if there is none for this request. */
  readonly countPath?: (ask: TextAsk) => string | undefined;
  /** The body of a count, made from the protocol's own; replaces `body`. Must not change its argument. */
  readonly countBody?: (body: JsonObject, ask: TextAsk) => JsonObject;
  /** Converts the body to the vendor's form. Must not change its argument. */
  readonly body?: (body: JsonObject, ask: Addressed) => JsonObject;
  /**
   * Returns headers that cannot be cached: a signature of the body, or a token that expires. The key itself is then not sent.
   * @throws ExchangeError if the vendor cannot be reached for it; other errors are the gateway's own
   */
  readonly authorize?: (
    target: Target,
    body: JsonPieces,
    ask: TextAsk,
  ) => Promise<Readonly<Record<string, string>>>;
  /** Loads the libraries that the vendor's answers need. */
  readonly load?: () => Promise<unknown>;
  /** Converts an answer to the protocol's form, if the vendor frames its streams differently. */
  readonly answer?: (exchange: Exchange, ask: TextAsk) => Exchange | Promise<Exchange>;
}

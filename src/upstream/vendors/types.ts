/** What of a vendor differs from its protocol's own way: data, or small functions. docs/extending.md. */
import type { JsonPieces } from "../../base/json-write.ts";
import type { DialectRow, Provider } from "../../catalog/index.ts";
import type { AskedProtocol, JsonObject } from "../../protocols/index.ts";
import type { Exchange } from "../exchange.ts";

/** Headers of the caller that a direct route passes on, by lower-case name; empty on converted routes. */
export type CallerHeaders = Readonly<Record<string, string | undefined>>;

/** What is asked of whom, whatever key it is asked with. */
export interface Addressed {
  readonly provider: Provider;
  readonly protocol: AskedProtocol;
  /** The vendor's own name of the model. */
  readonly model: string;
  readonly stream: boolean;
  readonly caller: CallerHeaders;
}

/** The same, before it is a request. */
export interface TextAsk extends Addressed {
  /** Empty where the provider takes none. */
  readonly apiKey: string;
}

/** Where one request goes, and with which headers. Shared between requests, so never changed. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A vendor: the data of its dialect's row, or code in its place. One without any of these is asked as its protocol says (protocols.ts). */
export interface Vendor extends Omit<DialectRow, "keyHeader" | "headers"> {
  /** The header that holds the key; in `authorization` it stands behind `Bearer`. */
  readonly keyHeader?: string | ((ask: TextAsk) => string);
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | ((ask: TextAsk) => Record<string, string>);
  /** The path below the base URL, made of the protocol's own; before it comes the template of `paths`. */
  readonly path?: (own: string, ask: TextAsk) => string;
  /** The path that counts a request's tokens, before `countPaths`; undefined: there is none for it. */
  readonly countPath?: (ask: TextAsk) => string | undefined;
  /** The body of a count, made of the protocol's own; `body` is not asked then. Never changes the one given. */
  readonly countBody?: (body: JsonObject, ask: TextAsk) => JsonObject;
  /** The body as the vendor takes it. Never changes the one given. */
  readonly body?: (body: JsonObject, ask: Addressed) => JsonObject;
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

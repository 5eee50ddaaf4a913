/**
 * How each protocol is addressed at a vendor: path and headers, as a table. A vendor with a quirk is a delta over it.
 */
import type { Dialect, Provider } from "../catalog/index.ts";
import type { CallProtocol } from "../protocols/index.ts";
import { acceptEncoding } from "./decoding.ts";

/** What a direct route carries on from the caller's own headers, by lower-case name. */
export type CallerHeaders = Readonly<Record<string, string | undefined>>;

interface Address {
  path(model: string, stream: boolean): string;
  /** `apiKey` is empty where the provider takes none. */
  headers(apiKey: string, caller: CallerHeaders): Record<string, string>;
}

const bearer = (apiKey: string): Record<string, string> =>
  apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };

/** The newest version refuses temperature, top_p and top_k; this one takes them. */
const messagesVersionDefault = "2023-06-01";

const addresses: Record<CallProtocol, Address> = {
  chat: { path: () => "/chat/completions", headers: bearer },
  responses: { path: () => "/responses", headers: bearer },
  embeddings: {
    path: () => "/embeddings",
    // Thousands of numbers written out: less than half of it goes over the wire.
    headers: (apiKey) => ({ "accept-encoding": acceptEncoding, ...bearer(apiKey) }),
  },
  messages: {
    path: () => "/messages",
    headers(apiKey, caller) {
      const headers: Record<string, string> = {
        "anthropic-version": caller["anthropic-version"] ?? messagesVersionDefault,
      };
      if (caller["anthropic-beta"] !== undefined)
        headers["anthropic-beta"] = caller["anthropic-beta"];
      if (apiKey !== "") headers["x-api-key"] = apiKey;
      return headers;
    },
  },
  generate_content: {
    path: (model, stream) =>
      `/models/${encodeModel(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    headers: (apiKey): Record<string, string> =>
      apiKey === "" ? {} : { "x-goog-api-key": apiKey },
  },
};

/** A model name in a path: slashes stay, everything that could change the path or the query does not. */
function encodeModel(model: string): string {
  return model.split("/").map(encodeURIComponent).join("/");
}

/** The vendors that count tokens, each at its own protocol's path. */
const countPaths: Partial<
  Record<Dialect, Partial<Record<CallProtocol, (model: string) => string>>>
> = {
  anthropic: { messages: () => "/messages/count_tokens" },
  google: { generate_content: (model) => `/models/${encodeModel(model)}:countTokens` },
};

/** Where one request goes, and with which headers. Shared between requests, so never changed. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is asked of whom. */
export interface TargetRequest {
  readonly provider: Provider;
  readonly protocol: CallProtocol;
  readonly model: string;
  readonly stream: boolean;
  readonly apiKey: string;
  /** Headers of the caller that a direct route passes on; empty on converted routes. */
  readonly caller: CallerHeaders;
}

/** The origin, path and headers of a call at a provider. */
export function textTarget(request: TargetRequest): Target {
  const { protocol, model, stream, apiKey, caller } = request;
  const make = (): Target => targetAt(request, addresses[protocol].path(model, stream));
  if (Object.keys(caller).length > 0) return make();
  const { targets } = baseOf(request.provider);
  const name = `${protocol} ${stream} ${model} ${apiKey}`;
  let target = targets.get(name);
  if (!target) targets.set(name, (target = make()));
  return target;
}

/** Token-count endpoint of the vendor, if it has one. */
export function countTarget(request: TargetRequest): Target | undefined {
  const path = countPaths[request.provider.dialect]?.[request.protocol];
  return path && targetAt(request, path(request.model));
}

/** What is known of a provider's address. */
interface Base {
  readonly origin: string;
  /** Without a slash at its end. */
  readonly path: string;
  /** Of the calls that carry no headers of their caller: as many as there are models and keys. */
  readonly targets: Map<string, Target>;
}

const bases = new WeakMap<Provider, Base>();

function baseOf(provider: Provider): Base {
  let base = bases.get(provider);
  if (!base) {
    const { origin, pathname } = new URL(provider.baseUrl);
    base = { origin, path: pathname.replace(/\/$/, ""), targets: new Map() };
    bases.set(provider, base);
  }
  return base;
}

function targetAt(request: TargetRequest, path: string): Target {
  const base = baseOf(request.provider);
  return {
    origin: base.origin,
    path: base.path + path,
    headers: {
      "content-type": "application/json",
      accept: request.stream ? "text/event-stream" : "application/json",
      "user-agent": "tollgate",
      ...addresses[request.protocol].headers(request.apiKey, request.caller),
    },
  };
}

/** Where a request for text goes, and with which headers: the protocol's own way, and what the vendor's row changes of it. */
import type { Provider } from "../catalog/index.ts";
import { protocolWays } from "./vendors/protocols.ts";
import type { Target, TextAsk, Vendor } from "./vendors/types.ts";

/** The target of a call. */
export function textTarget(ask: TextAsk, vendor: Vendor): Target {
  const { protocol, model, stream, apiKey, caller } = ask;
  const make = (): Target => {
    const own = protocolWays[protocol].path(model, stream);
    return targetAt(ask, vendor, vendor.path?.(own, ask) ?? own);
  };
  if (Object.keys(caller).length > 0) return make();
  const { targets } = baseOf(ask.provider);
  const name = `${protocol} ${stream} ${model} ${apiKey}`;
  let target = targets.get(name);
  if (!target) targets.set(name, (target = make()));
  return target;
}

/** The target of a count of a request's tokens; undefined where the vendor has no endpoint for it. */
export function countTarget(ask: TextAsk, vendor: Vendor): Target | undefined {
  const path = vendor.countPaths?.[ask.protocol]?.(ask.model);
  return path === undefined ? undefined : targetAt(ask, vendor, path);
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

function targetAt(ask: TextAsk, vendor: Vendor, path: string): Target {
  const { origin, path: root } = baseOf(ask.provider);
  const query = vendor.query === undefined ? "" : (path.includes("?") ? "&" : "?") + vendor.query;
  const way = protocolWays[ask.protocol];
  return {
    origin,
    path: root + path + query,
    headers: {
      "content-type": "application/json",
      accept: ask.stream ? "text/event-stream" : "application/json",
      "user-agent": "tollgate",
      ...way.headers?.(ask.caller),
      ...vendor.headers,
      ...(vendor.authorize ? {} : keyHeader(vendor.keyHeader ?? way.keyHeader, ask.apiKey)),
    },
  };
}

function keyHeader(name: string, apiKey: string): Record<string, string> {
  if (apiKey === "") return {};
  return { [name]: name === "authorization" ? `Bearer ${apiKey}` : apiKey };
}

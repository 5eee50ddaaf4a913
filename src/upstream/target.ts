/** The target and headers of a text request: the protocol's defaults, with the changes of the vendor's row. */
import { getOrCreate, memoizeByObject } from "../base/memoize.ts";
import type { Provider } from "../catalog/index.ts";
import { noKey, ownHeaders, placeKey, queryText, withQuery } from "./access.ts";
import { encodeModel, protocolDefaults } from "./vendors/protocols.ts";
import type { Target, TextAsk, Vendor } from "./vendors/types.ts";

/** Returns the target of a call. */
export function textTarget(ask: TextAsk, vendor: Vendor): Target {
  const { protocol, model, stream, apiKey, caller } = ask;
  const make = (): Target => {
    const own = protocolDefaults[protocol].path(model, stream);
    const template = ask.provider.access?.paths[protocol] ?? vendor.paths?.[protocol];
    const path = template === undefined ? (vendor.path?.(own, ask) ?? own) : filled(template, ask);
    return targetAt(ask, vendor, path);
  };
  if (Object.keys(caller).length > 0) return make();
  const { targets } = baseOf(ask.provider);
  const name = `${protocol} ${stream} ${model} ${apiKey}`;
  return getOrCreate(targets, name, make);
}

/** Returns the target of a token count; undefined if the vendor has no endpoint for it. */
export function countTarget(ask: TextAsk, vendor: Vendor): Target | undefined {
  const own = vendor.countPath?.(ask);
  if (own !== undefined) return targetAt(ask, vendor, own);
  const template = vendor.countPaths?.[ask.protocol];
  return template === undefined ? undefined : targetAt(ask, vendor, withModel(template, ask.model));
}

/** The parsed base URL of a provider, with its cached targets. */
interface Base {
  readonly origin: string;
  /** Without a trailing slash. */
  readonly path: string;
  /** Targets of calls without caller headers, by model, key, protocol and stream. */
  readonly targets: Map<string, Target>;
}

const baseOf = memoizeByObject(({ baseUrl }: Provider): Base => {
  const { origin, pathname } = new URL(baseUrl);
  return { origin, path: pathname.replace(/\/$/, ""), targets: new Map() };
});

const keyHeaderOf = ({ keyHeader }: Vendor, ask: TextAsk): string | undefined =>
  typeof keyHeader === "function" ? keyHeader(ask) : keyHeader;

const withModel = (template: string, model: string): string =>
  template.replaceAll("{model}", () => encodeModel(model));

/** Fills the path template of the provider's file or the dialect's row. */
function filled(template: string, { protocol, model, stream }: TextAsk): string {
  const method = stream ? "streamGenerateContent" : "generateContent";
  const path = withModel(template, model).replaceAll("{method}", method);
  return protocol === "generate_content" && stream ? withQuery(path, "alt=sse") : path;
}

function targetAt(ask: TextAsk, vendor: Vendor, path: string): Target {
  const { origin, path: root } = baseOf(ask.provider);
  const { access } = ask.provider;
  const defaults = protocolDefaults[ask.protocol];
  const key = vendor.authorize
    ? noKey
    : placeKey(access?.auth, keyHeaderOf(vendor, ask) ?? defaults.keyHeader, ask.apiKey);
  return {
    origin,
    path: [vendor.query ?? "", queryText(access?.query), key.query].reduce(withQuery, root + path),
    headers: {
      "content-type": "application/json",
      accept: ask.stream ? "text/event-stream" : "application/json",
      "user-agent": "tollgate",
      ...defaults.headers?.(ask.caller),
      ...(typeof vendor.headers === "function" ? vendor.headers(ask) : vendor.headers),
      ...key.headers,
      ...ownHeaders(access),
    },
  };
}

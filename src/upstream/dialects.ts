/**
 * How each protocol is addressed at a vendor: path and headers, as a table. A vendor with a quirk is a delta over it.
 * wire notes: messages.md section 1, generate-content.md section 1.
 */
import type { Dialect, Provider } from "../catalog/index.ts";
import type { CallProtocol } from "../protocols/index.ts";

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
  embeddings: { path: () => "/embeddings", headers: bearer },
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

/** Where one request goes, and with which headers. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
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
  return targetAt(request, addresses[request.protocol].path(request.model, request.stream));
}

/** The same for a count of a request's tokens; undefined where the provider's vendor has no endpoint for it. */
export function countTarget(request: TargetRequest): Target | undefined {
  const path = countPaths[request.provider.dialect]?.[request.protocol];
  return path && targetAt(request, path(request.model));
}

function targetAt(request: TargetRequest, path: string): Target {
  const base = new URL(request.provider.baseUrl);
  return {
    origin: base.origin,
    path: base.pathname.replace(/\/$/, "") + path,
    headers: {
      "content-type": "application/json",
      accept: request.stream ? "text/event-stream" : "application/json",
      "user-agent": "tollgate",
      ...addresses[request.protocol].headers(request.apiKey, request.caller),
    },
  };
}

/** The defaults of each protocol, unless the vendor's row overrides them: path, headers, and the place of the key. */
import type { AskedProtocol } from "../../protocols/index.ts";
import { acceptEncoding } from "../decoding.ts";
import type { CallerHeaders } from "./types.ts";

interface ProtocolDefaults {
  readonly path: (model: string, stream: boolean) => string;
  readonly keyHeader: string;
  readonly headers?: (caller: CallerHeaders) => Record<string, string>;
}

/** The default version. The newest one refuses temperature, top_p and top_k; this one accepts them. */
const messagesVersionDefault = "2023-06-01";

export const protocolDefaults: Readonly<Record<AskedProtocol, ProtocolDefaults>> = {
  chat: { path: () => "/chat/completions", keyHeader: "authorization" },
  responses: { path: () => "/responses", keyHeader: "authorization" },
  embeddings: {
    path: () => "/embeddings",
    keyHeader: "authorization",
    // Thousands of numbers as text: compression more than halves them.
    headers: () => ({ "accept-encoding": acceptEncoding }),
  },
  messages: {
    path: () => "/messages",
    keyHeader: "x-api-key",
    headers(caller) {
      const beta = caller["anthropic-beta"];
      return {
        "anthropic-version": caller["anthropic-version"] ?? messagesVersionDefault,
        ...(beta === undefined ? {} : { "anthropic-beta": beta }),
      };
    },
  },
  generate_content: {
    path: (model, stream) =>
      `/models/${encodeModel(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    keyHeader: "x-goog-api-key",
  },
  converse: {
    path: (model, stream) =>
      `/model/${encodeURIComponent(model)}/${stream ? "converse-stream" : "converse"}`,
    keyHeader: "authorization",
  },
};

/** Encodes a model name for a path: slashes stay; all that could change the path or the query is escaped. */
export function encodeModel(model: string): string {
  return model.split("/").map(encodeURIComponent).join("/");
}

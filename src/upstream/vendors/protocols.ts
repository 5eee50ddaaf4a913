/** How each protocol is asked, unless the vendor's row says otherwise: path, headers, and where the key stands. */
import type { AskedProtocol } from "../../protocols/index.ts";
import { acceptEncoding } from "../decoding.ts";
import type { CallerHeaders } from "./types.ts";

interface ProtocolWay {
  readonly path: (model: string, stream: boolean) => string;
  readonly keyHeader: string;
  readonly headers?: (caller: CallerHeaders) => Record<string, string>;
}

/** The newest version refuses temperature, top_p and top_k; this one takes them. */
const messagesVersionDefault = "2023-06-01";

export const protocolWays: Readonly<Record<AskedProtocol, ProtocolWay>> = {
  chat: { path: () => "/chat/completions", keyHeader: "authorization" },
  responses: { path: () => "/responses", keyHeader: "authorization" },
  embeddings: {
    path: () => "/embeddings",
    keyHeader: "authorization",
    // Thousands of numbers written out: less than half of it goes over the wire.
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

/** A model name in a path: slashes stay, everything that could change the path or the query does not. */
export function encodeModel(model: string): string {
  return model.split("/").map(encodeURIComponent).join("/");
}

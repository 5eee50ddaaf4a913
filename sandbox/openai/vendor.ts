/** The openai-like vendor: what its endpoints share. */
import type { IncomingHttpHeaders } from "node:http";
import { newId } from "../../src/base/ids.ts";
import type { Route, Vendor } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { chat } from "./chat.ts";
import { embeddings } from "./embeddings.ts";
import { openaiError } from "./errors.ts";
import { edits, generations } from "./images.ts";
import { responses } from "./responses.ts";

function authorise(headers: IncomingHttpHeaders): void {
  const key = bearer(headers);
  if (isSandboxKey(key)) return;
  throw new Refusal(401, {
    message: key
      ? "Incorrect API key provided. The sandbox takes the key `sandbox`."
      : "You didn't provide an API key. Send `Authorization: Bearer sandbox`.",
    code: key ? "invalid_api_key" : undefined,
  });
}

const model = (id: string) => ({
  id,
  object: "model",
  created: 1_790_812_800,
  owned_by: "sandbox",
});
const models: Route = {
  kind: "json",
  answer: () => ({ object: "list", data: [model("sandbox-large"), model("sandbox-embedding")] }),
};

export const openai: Vendor = {
  name: "openai",
  authorise,
  errorBody: openaiError,
  headers: () => ({ "x-request-id": newId("req"), "openai-processing-ms": "1" }),
  route(method, path) {
    switch (`${method} ${path}`) {
      case "POST /v1/chat/completions":
        return { kind: "text", endpoint: chat };
      case "POST /v1/responses":
        return { kind: "text", endpoint: responses };
      case "POST /v1/embeddings":
        return embeddings;
      case "POST /v1/images/generations":
        return generations;
      case "POST /v1/images/edits":
        return edits;
      case "GET /v1/models":
        return models;
      default:
        return undefined;
    }
  },
};

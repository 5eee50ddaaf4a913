/**
 * The azure-like vendor: deployments in the body or in the path, an `api-key` or a token of Entra ID. Model names are deployments;
 * one that begins with `missing` is not there.
 */
import type { IncomingHttpHeaders } from "node:http";
import { newId } from "../../src/base/ids.ts";
import { anthropic } from "../anthropic/vendor.ts";
import type { Tokens } from "../clouds/tokens.ts";
import { chat } from "../openai/chat.ts";
import { embeddings } from "../openai/embeddings.ts";
import { openaiError } from "../openai/errors.ts";
import { responses } from "../openai/responses.ts";
import { Refusal } from "../refusal.ts";
import type { Check, Endpoint, Route, Vendor } from "../vendor.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { createEntra } from "./entra.ts";

const wrongKey =
  "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.";
const wrongToken =
  "Access token is missing, invalid, audience is incorrect (https://cognitiveservices.azure.com), or have expired.";

const authoriseBy =
  (tokens: Tokens) =>
  (headers: IncomingHttpHeaders): void => {
    const key = headers["api-key"]?.toString() ?? headers["x-api-key"]?.toString();
    if (key !== undefined) {
      if (isSandboxKey(key)) return;
      throw new Refusal(401, { message: wrongKey, code: "401" });
    }
    const token = bearer(headers);
    if (token !== undefined && tokens.faultOf(token) === undefined) return;
    throw new Refusal(401, { message: wrongToken, code: "Unauthorized" });
  };

const deployed: Check = ({ model }) => {
  if (!model.startsWith("missing")) return;
  throw new Refusal(404, {
    message:
      "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.",
    code: "DeploymentNotFound",
  });
};

const at = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  strict: [deployed, ...endpoint.strict],
});
const endpoints: Readonly<Record<string, Route>> = {
  "chat/completions": { kind: "text", endpoint: at(chat) },
  responses: { kind: "text", endpoint: at(responses) },
  embeddings,
};

/** The route of a path below `/openai`. */
function openaiRoute(path: string, query: URLSearchParams): Route | undefined {
  const current = /^\/v1\/(.+)$/.exec(path);
  if (current) return endpoints[current[1]!];
  // Without its version the older form is not found at all.
  if (!/^\d{4}-\d{2}-\d{2}(?:-preview)?$/.test(query.get("api-version") ?? "")) return undefined;
  if (path === "/responses") return endpoints["responses"];
  const older = /^\/deployments\/([^/]+)\/(.+)$/.exec(path);
  const route = older ? endpoints[older[2]!] : undefined;
  if (!older || route?.kind !== "text") return route;
  return { ...route, model: decodeURIComponent(older[1]!) };
}

export function createAzure(tokens: Tokens): Vendor {
  return {
    name: "azure",
    authorise: authoriseBy(tokens),
    open: createEntra(tokens),
    errorBody: (status, failure) =>
      openaiError(status, { ...failure, code: failure.code ?? String(status) }),
    headers: () => ({ "apim-request-id": newId("req"), "x-ms-region": "Sandbox" }),
    route(method, path, query) {
      if (method !== "POST") return undefined;
      if (path.startsWith("/openai/")) return openaiRoute(path.slice("/openai".length), query);
      if (path !== "/anthropic/v1/messages") return undefined;
      return anthropic.route(method, "/v1/messages", query);
    },
  };
}

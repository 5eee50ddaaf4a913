/**
 * The vertex-like vendor: Gemini and Claude under the publishers of a project in a location, and the OpenAI-compatible endpoint.
 * Locations are `us-central1`, `europe-west1` and `global`; models whose names begin with `missing` are not there.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Tokens } from "../clouds/tokens.ts";
import { hostedMessages } from "../clouds/messages.ts";
import { googleError } from "../google/errors.ts";
import { generateContent } from "../google/generate-content.ts";
import { chat } from "../openai/chat.ts";
import { Refusal } from "../refusal.ts";
import type { Route, Vendor } from "../vendor.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { createGoogleIdentity, type GoogleIdentity } from "./identity.ts";

const locations = new Set(["us-central1", "europe-west1", "global"]);
const claude = hostedMessages("vertex-2023-10-16", ["model"]);

const noCredential =
  "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.";

const authoriseBy =
  (identity: GoogleIdentity) =>
  (headers: IncomingHttpHeaders, query: URLSearchParams): void => {
    const key = headers["x-goog-api-key"]?.toString() ?? query.get("key") ?? undefined;
    if (isSandboxKey(key)) return;
    const token = bearer(headers);
    if (token !== undefined && identity.faultOf(token) === undefined) return;
    throw new Refusal(401, {
      message: noCredential,
      code:
        token === undefined && key === undefined ? "CREDENTIALS_MISSING" : "ACCESS_TOKEN_EXPIRED",
    });
  };

function checkPlace(project: string, location: string, model: string): void {
  if (locations.has(location) && !model.startsWith("missing")) return;
  throw new Refusal(404, {
    message: `Publisher Model \`projects/${project}/locations/${location}/publishers/google/models/${model}\` was not found or your project does not have access to it. Please ensure you are using a valid model version.`,
  });
}

const actions: Readonly<Record<string, (model: string, query: URLSearchParams) => Route>> = {
  "google generateContent": (model) => ({
    kind: "text",
    endpoint: generateContent,
    model,
    stream: false,
  }),
  "google streamGenerateContent": (model, query) => ({
    kind: "text",
    endpoint: generateContent,
    model,
    stream: true,
    array: query.get("alt") !== "sse",
  }),
  "anthropic rawPredict": (model) => ({ kind: "text", endpoint: claude, model, stream: false }),
  "anthropic streamRawPredict": (model) => ({
    kind: "text",
    endpoint: claude,
    model,
    stream: true,
  }),
};

function route(method: string, path: string, query: URLSearchParams): Route | undefined {
  if (method !== "POST") return undefined;
  const [, project, location, rest = ""] =
    /^\/v1(?:beta1)?\/projects\/([^/]+)\/locations\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (project === undefined || location === undefined) return undefined;
  if (rest === "endpoints/openapi/chat/completions") {
    checkPlace(project, location, "");
    return { kind: "text", endpoint: chat };
  }
  const [, publisher, name = "", action] =
    /^publishers\/(google|anthropic)\/models\/([^/:]+):(\w+)$/.exec(rest) ?? [];
  const made = actions[`${publisher} ${action}`];
  if (!made) return undefined;
  const model = decodeURIComponent(name);
  checkPlace(project, location, model);
  return made(model, query);
}

export function createVertex(tokens: Tokens): Vendor {
  const identity = createGoogleIdentity(tokens);
  return {
    name: "vertex",
    authorise: authoriseBy(identity),
    open: identity.open,
    errorBody: (status, failure) => googleError(status, failure),
    headers: () => ({}),
    route,
  };
}

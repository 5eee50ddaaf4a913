/** The google-like vendor: key, errors and paths. Errors are `{error: {code, message, status, details?}}`. */
import type { IncomingHttpHeaders } from "node:http";
import { inputTokens } from "../conversation.ts";
import type { Json } from "../json.ts";
import { asObject } from "../json.ts";
import type { Failure } from "../refusal.ts";
import type { Route, Vendor } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { generateContent, question } from "./generate-content.ts";
import { googleError } from "./errors.ts";

/** A wrong key is a 400 with a reason here, as the real vendor has it; only a missing one is a 401. */
function authorise(headers: IncomingHttpHeaders, query: URLSearchParams): void {
  const key = headers["x-goog-api-key"]?.toString() ?? query.get("key") ?? bearer(headers);
  if (isSandboxKey(key)) return;
  if (key) {
    throw new Refusal(400, {
      message: "API key not valid. Please pass a valid API key.",
      code: "API_KEY_INVALID",
    });
  }
  throw new Refusal(401, {
    message: "Request is missing required authentication credential.",
    code: "CREDENTIALS_MISSING",
  });
}

const countTokens: Route = {
  kind: "json",
  answer(call) {
    const inner = asObject(call.body["generateContentRequest"]);
    const body: Json = "contents" in inner ? inner : call.body;
    const totalTokens = inputTokens(question({ ...call, body }));
    return {
      totalTokens,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: totalTokens }],
    };
  },
};

/** `/v1beta/models/{model}:{action}`; the model may hold slashes and colons, plain or escaped. */
function route(method: string, path: string, query: URLSearchParams): Route | undefined {
  const match = /^\/v1(?:beta)?\/models\/(.+)(?::|%3A)(\w+)$/i.exec(path);
  if (!match || method !== "POST") return undefined;
  const model = decodeURIComponent(match[1]!);
  const text = { kind: "text", endpoint: generateContent, model } as const;
  switch (match[2]) {
    case "generateContent":
      return { ...text, stream: false };
    case "streamGenerateContent":
      return { ...text, stream: true, array: query.get("alt") !== "sse" };
    case "countTokens":
      return countTokens;
    default:
      return undefined;
  }
}

export const google: Vendor = {
  name: "google",
  authorise,
  errorBody: (status: number, failure: Failure) => googleError(status, failure),
  headers: () => ({}),
  route,
};

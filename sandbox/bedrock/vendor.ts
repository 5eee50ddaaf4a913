/**
 * The bedrock-like vendor: `/bedrock/runtime` and `/bedrock/mantle` stand for the two endpoints of one region, us-east-1. It takes
 * keys that begin with `sandbox`, and signatures by the access key AKIASANDBOX with the secret `sandbox-secret`, or by the
 * temporary keys that `/bedrock/credentials` gives to a container.
 */
import type { IncomingHttpHeaders } from "node:http";
import { newId } from "../../src/base/ids.ts";
import { anthropic } from "../anthropic/vendor.ts";
import { hostedMessages } from "../clouds/messages.ts";
import type { Tokens } from "../clouds/tokens.ts";
import { chat } from "../openai/chat.ts";
import { responses } from "../openai/responses.ts";
import { Refusal } from "../refusal.ts";
import type { Asking, Route, Vendor } from "../vendor.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { converse } from "./converse.ts";
import { countTokens } from "./count-tokens.ts";
import { checkSignature, signedOf, type Signed } from "./signature.ts";

const region = "us-east-1";
const secret = "sandbox-secret";

const refuse = (type: string, message: string): never => {
  throw new Refusal(403, { message, type });
};

function checkScope(signed: Signed, path: string): void {
  const service = path.startsWith("/mantle/") ? "bedrock-mantle" : "bedrock";
  if (signed.region !== region)
    refuse(
      "InvalidSignatureException",
      `Credential should be scoped to a valid region, not '${signed.region}'.`,
    );
  if (signed.service !== service)
    refuse(
      "InvalidSignatureException",
      `Credential should be scoped to correct service: '${service}'.`,
    );
}

/** Permanent keys begin with AKIA, temporary ones with ASIA and come with a session's token. */
function checkKeys(signed: Signed, headers: IncomingHttpHeaders, tokens: Tokens): void {
  const session = headers["x-amz-security-token"]?.toString();
  if (signed.accessKeyId === "AKIASANDBOX" && session === undefined) return;
  const fault = tokens.faultOf(session ?? "");
  if (signed.accessKeyId !== "ASIASANDBOX" || fault === "unknown")
    refuse("UnrecognizedClientException", "The security token included in the request is invalid.");
  if (fault === "expired")
    refuse("ExpiredTokenException", "The security token included in the request is expired");
}

const authoriseBy =
  (tokens: Tokens) =>
  (headers: IncomingHttpHeaders, _query: URLSearchParams, asking: Asking): void => {
    const key = headers["x-api-key"]?.toString() ?? bearer(headers);
    if (key !== undefined) {
      if (isSandboxKey(key)) return;
      refuse(
        "AccessDeniedException",
        "Authentication failed: Please make sure your API Key is valid.",
      );
    }
    const signed = signedOf(headers.authorization);
    if (!signed)
      return refuse("MissingAuthenticationTokenException", "Missing Authentication Token");
    checkScope(signed, asking.path);
    checkKeys(signed, headers, tokens);
    checkSignature(signed, secret, asking);
  };

const claude = hostedMessages("bedrock-2023-05-31", ["model", "stream"]);

function route(method: string, path: string, query: URLSearchParams): Route | undefined {
  if (method !== "POST") return undefined;
  const [, id, action] =
    /^\/runtime\/model\/([^/]+)\/(invoke|invoke-with-response-stream|converse|converse-stream|count-tokens)$/.exec(
      path,
    ) ?? [];
  if (id !== undefined) {
    const model = decodeURIComponent(id);
    if (model.startsWith("missing"))
      throw new Refusal(400, {
        message: "The provided model identifier is invalid.",
        type: "ValidationException",
      });
    if (action === "count-tokens") return countTokens(model, claude);
    const stream = action!.endsWith("-stream");
    return action!.startsWith("converse")
      ? { kind: "text", endpoint: converse, model, stream, packets: stream ? "events" : undefined }
      : { kind: "text", endpoint: claude, model, stream, packets: stream ? "chunks" : undefined };
  }
  if (/^\/(?:runtime\/openai|mantle|mantle\/openai)\/v1\/chat\/completions$/.test(path))
    return { kind: "text", endpoint: chat };
  if (/^\/(?:runtime\/openai|mantle|mantle\/openai)\/v1\/responses$/.test(path))
    return { kind: "text", endpoint: responses };
  if (path !== "/mantle/anthropic/v1/messages") return undefined;
  return anthropic.route(method, "/v1/messages", query);
}

export function createBedrock(tokens: Tokens): Vendor {
  return {
    name: "bedrock",
    authorise: authoriseBy(tokens),
    route,
    headers: () => ({ "x-amzn-requestid": newId("req") }),
    errorBody: (_status, { message, type }) => ({
      message,
      ...(type === undefined ? {} : { __type: type }),
    }),
    open({ method, path, headers }) {
      if (method !== "GET" || path !== "/credentials") return undefined;
      if (!isSandboxKey(headers.authorization))
        return { status: 401, body: { code: "Unauthorized", message: "The token is wrong." } };
      const { token, expiresMs } = tokens.give();
      return {
        status: 200,
        body: {
          AccessKeyId: "ASIASANDBOX",
          SecretAccessKey: secret,
          Token: token,
          Expiration: new Date(expiresMs).toISOString(),
        },
      };
    },
  };
}

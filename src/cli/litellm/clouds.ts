/** Converts LiteLLM's deployments at Azure, Amazon Bedrock and Vertex AI. docs/azure.md, docs/bedrock.md, docs/vertex.md. */
import { defined } from "../../base/defined.ts";
import { placedAddress, type OfferProtocol } from "../../catalog/index.ts";
import {
  addressOf,
  keyOf,
  placeOf,
  queryRow,
  type Parameters,
  type Refused,
  type Target,
} from "./target.ts";

const auth = "providers[].auth";

/** Converts a text field, and reports it as taken over. */
function field(
  { params, variables, report }: Parameters,
  name: string,
  becomes: string,
): string | undefined {
  const text = params.text(name);
  if (text === undefined) return undefined;
  report.takenOver(params.at(name), becomes);
  return variables.plain(text, params.at(name), name);
}

/** The same for a secret. */
function secretField(parameters: Parameters, name: string, becomes: string): string | undefined {
  const { params, variables, report } = parameters;
  const text = params.text(name);
  if (text === undefined) return undefined;
  if (variables.isLiteral(text))
    report.changed(params.at(name), "the secret is not copied: set the variable", becomes);
  else report.takenOver(params.at(name), becomes);
  return variables.secret(text, params.at(name), name);
}

/** Fields that must be set together, and the variables that LiteLLM reads if the file leaves them out. */
const azureClient = {
  tenant_id: "AZURE_TENANT_ID",
  client_id: "AZURE_CLIENT_ID",
  client_secret: "AZURE_CLIENT_SECRET",
};
const awsKeys = {
  access_key_id: "AWS_ACCESS_KEY_ID",
  secret_access_key: "AWS_SECRET_ACCESS_KEY",
};

/** Adds the fields that the given ones need, as variables. A client id or a profile needs no others. */
function withMissingFields(
  { params, variables }: Parameters,
  given: Record<string, unknown>,
  together: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const alone = new Set(["client_id", "profile"]);
  if (Object.keys(given).every((name) => alone.has(name))) return given;
  const missing = Object.entries(together).filter(([name]) => given[name] === undefined);
  const rest = missing.map(([name, variable]) => [
    name,
    variables.named(variable, params.at("model")),
  ]);
  return { ...given, ...(Object.fromEntries(rest) as Record<string, string>) };
}

/** `azure/DEPLOYMENT`: OpenAI's models through the deployments of an Azure resource. */
export function azureTarget(parameters: Parameters): Target {
  const { params, variables } = parameters;
  const address = addressOf(parameters, "AZURE");
  const url = address?.url ?? variables.named("AZURE_API_BASE", params.at("model"));
  const host = url.replace(/\/openai(\/.*)?$/, "");
  const version = azureVersion(parameters);
  const upstream = parameters.name.replace(/^(o_series|gpt5_series|responses)\//, "");
  const query = { ...address?.query, ...(version && { "api-version": version }) };
  const isOlder = isOlderVersion(query["api-version"]);
  return {
    vendor: "azure",
    place: placeOf(host),
    row: {
      dialect: "azure",
      base_url: `${host}/openai${isOlder ? "" : "/v1"}`,
      ...azureAccess(parameters),
      ...queryRow(query),
    },
    protocols: isOlder ? ["chat"] : ["chat", "responses"],
    upstream,
    known: { vendor: "openai", name: upstream },
  };
}

/** The note on a version that is left out. */
export const currentNeedsNoVersion = "the current addresses need no version";

/** True if a version needs the older addresses; the current ones take no version, or one of these words. */
const isOlderVersion = (version: string | undefined): boolean =>
  version !== undefined && !/^(preview|latest|v1)$/.test(version);

/** Returns the API version for older addresses; undefined if the current addresses are used, which need none. */
function azureVersion({ params, variables, report }: Parameters): string | undefined {
  const text = params.text("api_version");
  if (text === undefined) return undefined;
  const path = params.at("api_version");
  if (!isOlderVersion(text)) {
    report.changed(path, currentNeedsNoVersion, "providers[].base_url");
    return undefined;
  }
  report.takenOver(path, "providers[].query.api-version");
  return variables.plain(text, path, "AZURE_API_VERSION");
}

function azureAccess(parameters: Parameters): Record<string, unknown> {
  const { params, report } = parameters;
  const identity = defined({
    tenant_id: field(parameters, "tenant_id", `${auth}.tenant_id`),
    client_id: field(parameters, "client_id", `${auth}.client_id`),
    client_secret: secretField(parameters, "client_secret", `${auth}.client_secret`),
  });
  const token = params.text("azure_ad_token");
  if (token !== undefined) {
    const why = "a token ends within the hour: the gateway fetches its own with its identity";
    report.changed(params.at("azure_ad_token"), why, auth);
  }
  if (params.text("api_key") === undefined && (token ?? Object.keys(identity)[0]) !== undefined)
    return { auth: { type: "azure", ...withMissingFields(parameters, identity, azureClient) } };
  return { api_key: keyOf(parameters, "AZURE", "AZURE_API_KEY") };
}

/** `bedrock/MODEL`: Claude over `messages`, all others over Converse. */
export function bedrockTarget(parameters: Parameters): Target {
  const { params, variables } = parameters;
  const words = parameters.name.split("/");
  while (/^(converse|invoke|converse_like|llama|deepseek_r1|openai)$/.test(words[0]!) && words[1])
    words.shift();
  const inName = /^[a-z]{2,4}(-[a-z]+)+-\d$/.test(words[0]!) ? words.shift() : undefined;
  const region =
    field(parameters, "aws_region_name", `${auth}.region`) ??
    inName ??
    variables.named("AWS_REGION_NAME", params.at("model"));
  const upstream = field(parameters, "model_id", "models[].offers[].upstream_model");
  const name = words.join("/");
  const model = name.replace(/^(us|eu|apac|jp|au|global|us-gov)\./, "");
  const isClaude = model.startsWith("anthropic.");
  const endpoint = params.text("aws_bedrock_runtime_endpoint");
  if (endpoint !== undefined)
    parameters.report.takenOver(params.at("aws_bedrock_runtime_endpoint"), "providers[].base_url");
  const base_url = endpoint
    ? variables.plain(endpoint, params.at("aws_bedrock_runtime_endpoint"), "BEDROCK_RUNTIME")
    : placedAddress(`https://bedrock-runtime.${region}.amazonaws.com`);
  return {
    vendor: "bedrock",
    place: /^[a-z0-9-]+$/.test(region) ? region : undefined,
    row: { dialect: "bedrock", base_url, ...awsAccess(parameters, region) },
    protocols: [isClaude ? "messages" : "converse"],
    upstream: upstream ?? name,
    cloud: "amazon-bedrock",
    known: isClaude
      ? { vendor: "anthropic", name: model.slice(10).replace(/-v\d+(:\d+)?$/, "") }
      : undefined,
  };
}

function awsAccess(parameters: Parameters, region: string): Record<string, unknown> {
  if (parameters.params.text("api_key") !== undefined)
    return { api_key: keyOf(parameters, "BEDROCK", undefined) };
  const keys = defined({
    access_key_id: field(parameters, "aws_access_key_id", `${auth}.access_key_id`),
    secret_access_key: secretField(
      parameters,
      "aws_secret_access_key",
      `${auth}.secret_access_key`,
    ),
    session_token: secretField(parameters, "aws_session_token", `${auth}.session_token`),
    profile: field(parameters, "aws_profile_name", `${auth}.profile`),
  });
  const all = withMissingFields(parameters, keys, awsKeys);
  return { auth: { type: "aws", region, service: "bedrock", ...all } };
}

/** `vertex_ai/MODEL`: Gemini, Claude and models of other vendors in a project. */
export function vertexTarget(parameters: Parameters): Target | Refused {
  const { params, variables, name } = parameters;
  if (params.text("api_base") !== undefined)
    return {
      refused: "an address of one's own before Vertex AI: write the provider by docs/vertex.md",
    };
  const project =
    field(parameters, "vertex_project", "providers[].base_url") ??
    variables.named("VERTEXAI_PROJECT", params.at("model"));
  const location =
    field(parameters, "vertex_location", "providers[].base_url") ??
    variables.named("VERTEXAI_LOCATION", params.at("model"));
  const host = placedAddress(`https://${location}-aiplatform.googleapis.com`);
  const serviceAccount = secretOrPath(parameters);
  const [protocols, known] = vertexModel(name);
  return {
    vendor: "vertex",
    place: /^[a-z0-9-]+$/.test(location) ? location : undefined,
    row: {
      dialect: "vertex",
      base_url: `${host}/v1/projects/${project}/locations/${location}`,
      ...(serviceAccount && {
        auth: { type: "google", service_account_key: serviceAccount },
      }),
    },
    protocols,
    upstream: name,
    cloud: "google-vertex",
    known,
  };
}

/** Returns a service account's key: a path is kept, but the key itself becomes a variable. */
function secretOrPath(parameters: Parameters): string | undefined {
  const text = parameters.params.text("vertex_credentials");
  const becomes = `${auth}.service_account_key`;
  return text !== undefined && /^[\w./~-]+\.json$/.test(text) && !text.startsWith("os.environ/")
    ? field(parameters, "vertex_credentials", becomes)
    : secretField(parameters, "vertex_credentials", becomes);
}

function vertexModel(name: string): [readonly OfferProtocol[], Target["known"]] {
  if (name.startsWith("claude")) return [["messages"], { vendor: "anthropic", name }];
  if (name.startsWith("gemini")) return [["generate_content"], { vendor: "google", name }];
  return [["chat"], undefined];
}

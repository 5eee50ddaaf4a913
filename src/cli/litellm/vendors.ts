/** Determines the target of a LiteLLM deployment from the prefix of its `model`. docs/litellm.md. */
import { vendorRows, type VendorRow } from "../../catalog/index.ts";
import { azureTarget, bedrockTarget, currentNeedsNoVersion, vertexTarget } from "./clouds.ts";
import {
  addressOf,
  keyOf,
  placeOf,
  queryRow,
  type Parameters,
  type Refused,
  type Target,
} from "./target.ts";

/** LiteLLM's prefixes that differ from our vendors' ids, and the variables that LiteLLM reads, if they differ from ours. */
const prefixes: Readonly<Record<string, { readonly vendor: string; readonly variable?: string }>> =
  {
    gemini: { vendor: "google" },
    volcengine: { vendor: "ark", variable: "VOLCENGINE_API_KEY" },
    together_ai: { vendor: "togetherai", variable: "TOGETHERAI_API_KEY" },
    fireworks_ai: { vendor: "fireworks-ai", variable: "FIREWORKS_AI_API_KEY" },
    nvidia_nim: { vendor: "nvidia", variable: "NVIDIA_NIM_API_KEY" },
    perplexity: { vendor: "perplexity", variable: "PERPLEXITYAI_API_KEY" },
    huggingface: { vendor: "huggingface", variable: "HUGGINGFACE_API_KEY" },
    databricks: { vendor: "databricks", variable: "DATABRICKS_API_KEY" },
    cohere_chat: { vendor: "cohere" },
    novita: { vendor: "novita-ai" },
    moonshot: { vendor: "moonshotai" },
    friendliai: { vendor: "friendli" },
    meta_llama: { vendor: "llama" },
    vercel_ai_gateway: { vendor: "vercel", variable: "VERCEL_AI_GATEWAY_API_KEY" },
  };

/** Prefixes of self-hosted servers that speak chat completions, with the default address, or its variable, without `api_base`. */
const selfHostedServers: Readonly<Record<string, string>> = {
  ollama: "http://localhost:11434",
  ollama_chat: "http://localhost:11434",
  hosted_vllm: "HOSTED_VLLM_API_BASE",
  vllm: "VLLM_API_BASE",
  lm_studio: "LM_STUDIO_API_BASE",
  llamafile: "http://127.0.0.1:8080/v1",
  xinference: "http://127.0.0.1:9997/v1",
  openai_like: "OPENAI_LIKE_API_BASE",
  custom_openai: "OPENAI_LIKE_API_BASE",
  litellm_proxy: "LITELLM_PROXY_API_BASE",
  docker_model_runner: "http://localhost:12434/engines/llama.cpp/v1",
};

/** Splits a `model` into LiteLLM's name of the provider and the name there. Undefined if the provider cannot be determined. */
export function splitModel(
  model: string,
  named: string | undefined,
): { readonly prefix: string; readonly name: string } | undefined {
  const slash = model.indexOf("/");
  const first = model.slice(0, Math.max(slash, 0));
  if (named !== undefined)
    return { prefix: named, name: first === named ? model.slice(slash + 1) : model };
  if (slash > 0 && isPrefix(first)) return { prefix: first, name: model.slice(slash + 1) };
  const prefix = prefixesByName.find(([pattern]) => pattern.test(model))?.[1];
  return prefix === undefined ? undefined : { prefix, name: model };
}

/** Model names that LiteLLM knows without a prefix. */
const prefixesByName: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o\d|text-embedding-|ft:gpt|codex)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "vertex_ai"],
  [/^command-/, "cohere"],
];

const clouds: Readonly<Record<string, (parameters: Parameters) => Target | Refused>> = {
  azure: azureTarget,
  bedrock: bedrockTarget,
  vertex_ai: vertexTarget,
  vertex_ai_beta: vertexTarget,
};

const vendorOf = (prefix: string) => {
  const { vendor = prefix.replaceAll("_", "-"), variable } = ownValue(prefixes, prefix) ?? {};
  const row = vendorRows().find(({ id }) => id === vendor);
  return row && { row, variable: variable ?? row.variables[0] };
};

const ownValue = <Row>(table: Readonly<Record<string, Row>>, name: string): Row | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const isPrefix = (word: string): boolean =>
  ownValue(clouds, word) !== undefined ||
  ownValue(selfHostedServers, word) !== undefined ||
  word === "azure_ai" ||
  vendorOf(word) !== undefined;

/** Returns the target of a deployment. `prefix`: LiteLLM's name of the provider. */
export function targetOf(prefix: string, parameters: Parameters): Target | Refused {
  const cloud = ownValue(clouds, prefix);
  if (cloud) return cloud(parameters);
  const server = ownValue(selfHostedServers, prefix);
  if (server !== undefined) return serverTarget(prefix, server, parameters);
  if (prefix === "azure_ai") return foundryTarget(parameters);
  const vendor = vendorOf(prefix);
  if (vendor) return vendorTarget(vendor, parameters);
  const { params } = parameters;
  if (params.text("api_base") === undefined)
    return { refused: "no such vendor here; one that speaks chat completions needs its api_base" };
  return serverTarget(prefix, "", parameters);
}

const local =
  /^https?:\/\/(localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|host\.docker\.internal|[^./]+(:|\/|$)|[^/:]+\.(local|internal|svc)\b)/;

/** A server with its own address that speaks chat completions. */
function serverTarget(prefix: string, otherwise: string, parameters: Parameters): Target {
  const { params, variables, name } = parameters;
  const id = prefix.replaceAll("_", "-");
  const address = addressOf(parameters, id);
  const url =
    address?.url ??
    (otherwise.includes("/") ? otherwise : variables.named(otherwise, params.at("model")));
  const isOllama = prefix.startsWith("ollama");
  const base_url = isOllama && !url.endsWith("/v1") ? `${url}/v1` : url;
  return {
    vendor: isOllama ? "ollama" : id,
    row: {
      dialect: "openai-compatible",
      base_url,
      api_key: keyOf(parameters, id, undefined),
      ...queryRow(address?.query),
    },
    protocols: ["chat"],
    upstream: name,
    isSelfHosted: Object.hasOwn(selfHostedServers, prefix)
      ? prefix !== "litellm_proxy"
      : local.test(base_url),
  };
}

/** A vendor of the list, at its own or another address. */
function vendorTarget(
  { row: vendor, variable }: NonNullable<ReturnType<typeof vendorOf>>,
  parameters: Parameters,
): Target {
  const { name } = parameters;
  const address = addressOf(parameters, vendor.id);
  const known = { vendor: vendor.id, name };
  const key = keyOf(parameters, vendor.id, variable);
  const headers = organizationOf(vendor, parameters);
  const access = { api_key: key, ...(headers && { headers }), ...queryRow(address?.query) };
  const { dialect = "openai-compatible", protocols = ["chat"] } = vendor;
  if (address === undefined || vendor.base_url.startsWith(address.url)) {
    const tier = vendor.tier && { tier: vendor.tier };
    const row = { dialect, base_url: ownAddress(vendor, parameters), ...tier, ...access };
    return { vendor: vendor.id, row, protocols, upstream: name, known, hasList: true };
  }
  const isOpenai = vendor.id === "openai";
  const base_url = versioned(vendor.dialect, address.url);
  return {
    vendor: vendor.id,
    place: placeOf(base_url) ?? "own",
    row: {
      dialect: isOpenai ? "openai-compatible" : dialect,
      base_url,
      ...access,
    },
    protocols: isOpenai ? ["chat"] : protocols,
    upstream: name,
    known,
    isSelfHosted: local.test(base_url),
    isElsewhere: true,
  };
}

/** Returns the vendor's address, with the variables that it needs in addition to the key. */
const ownAddress = ({ base_url: url }: VendorRow, { variables, params }: Parameters): string =>
  url.replaceAll(/\$\{(\w+)\}/g, (_all, needed: string) =>
    variables.named(needed, params.at("model")),
  );

/** Returns the header for OpenAI's organization. */
function organizationOf({ id }: VendorRow, { params, variables, report }: Parameters) {
  const organization = id === "openai" ? params.text("organization") : undefined;
  if (organization === undefined) return undefined;
  const field = params.at("organization");
  report.takenOver(field, "providers[].headers.OpenAI-Organization");
  return { "OpenAI-Organization": variables.plain(organization, field, "OPENAI_ORG") };
}

/** Adds the version to the address of a vendor where LiteLLM adds it by itself. */
function versioned(dialect: string | undefined, url: string): string {
  const version = dialect === "anthropic" ? "v1" : dialect === "google" ? "v1beta" : undefined;
  if (version === undefined || url.startsWith("${")) return url;
  const bare = url.replace(/\/messages$/, "");
  return bare.endsWith(`/${version}`) ? bare : `${bare}/${version}`;
}

/** `azure_ai/MODEL`: Claude and other models of a Foundry resource. Its current addresses refuse the version of an older one. */
function foundryTarget(parameters: Parameters): Target {
  const { params, variables, report, name } = parameters;
  const address = addressOf(parameters, "AZURE_AI");
  const url = address?.url ?? variables.named("AZURE_AI_API_BASE", params.at("model"));
  const host = url.replace(/\/(anthropic|models|openai)(\/.*)?$/, "");
  const { "api-version": version, ...query } = address?.query ?? {};
  if (address !== undefined && version !== undefined)
    report.changed(address.path, currentNeedsNoVersion, "providers[].base_url");
  const isClaude = name.startsWith("claude");
  return {
    vendor: "azure-ai",
    row: {
      dialect: "azure",
      base_url: `${host}/${isClaude ? "anthropic" : "openai"}/v1`,
      api_key: keyOf(parameters, "AZURE_AI", "AZURE_AI_API_KEY"),
      ...queryRow(query),
    },
    protocols: [isClaude ? "messages" : "chat"],
    upstream: name,
    known: isClaude ? { vendor: "anthropic", name } : undefined,
  };
}

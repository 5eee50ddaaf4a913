/**
 * Model servers on the operator's own machines; a variable with the address activates each. The gateway asks the server for its
 * models (`GET /v1/models`); calls are free. docs/models.md.
 */
import { isObject } from "../base/json.ts";
import { quotedHint } from "../base/quoted.ts";
import { hasUserinfo, userinfoHint } from "../base/userinfo.ts";
import type { Environment } from "./environment.ts";
import {
  defaultTimeouts,
  embeddingEndpoint,
  textEndpoints,
  type Catalog,
  type Model,
  type Provider,
} from "./types.ts";

interface LocalRow {
  /** The provider's id, and the prefix of its model ids. */
  readonly id: string;
  readonly name: string;
  readonly variable: string;
  /** The variable for its key, if the server may be started with one. */
  readonly keyVariable?: string;
  readonly example: string;
  /** True if it refuses a tool choice that names a tool. */
  readonly refusesNamed?: true;
}

/** All known kinds of servers. */
export const localRows: readonly LocalRow[] = [
  {
    id: "ollama",
    name: "Ollama",
    variable: "OLLAMA_BASE_URL",
    example: "http://127.0.0.1:11434",
  },
  {
    id: "vllm",
    name: "vLLM",
    variable: "VLLM_BASE_URL",
    keyVariable: "VLLM_API_KEY",
    example: "http://127.0.0.1:8000",
  },
  {
    id: "lmstudio",
    name: "LM Studio",
    variable: "LMSTUDIO_BASE_URL",
    keyVariable: "LMSTUDIO_API_KEY",
    example: "http://127.0.0.1:1234",
    refusesNamed: true,
  },
  {
    id: "llamacpp",
    name: "llama.cpp",
    variable: "LLAMACPP_BASE_URL",
    keyVariable: "LLAMACPP_API_KEY",
    example: "http://127.0.0.1:8080",
  },
];

/** The local servers that the environment names. @throws RangeError for an invalid address */
export function localProviders(environment: Environment): Provider[] {
  return localRows.flatMap(({ id, variable, keyVariable, example }) => {
    const address = (environment[variable] ?? "").trim().replace(/\/+$/, "");
    if (address === "") return [];
    const isUserNamed = hasUserinfo(address);
    if (!/^https?:\/\//.test(address) || !URL.canParse(address) || isUserNamed) {
      const hint = isUserNamed ? userinfoHint : quotedHint(address);
      throw new RangeError(`${variable} is not an address such as ${example}${hint}`);
    }
    return [
      {
        id,
        dialect: "openai-compatible",
        baseUrl: new URL(address).pathname === "/" ? `${address}/v1` : address,
        tier: "community",
        credentials: [
          {
            id: "default",
            apiKey: (keyVariable !== undefined && environment[keyVariable]) || "",
            weight: 1,
          },
        ],
        onDisconnect: "abort",
        timeouts: defaultTimeouts,
      },
    ];
  });
}

/** Used if a server does not report the context length of its model. */
const contextDefault = 131_072;
const reserveDefault = 4096;
const free = { input: 0n, output: 0n };

/** A server's models from its answer to `GET /v1/models`; undefined if the answer is not a model list. */
export function localModels(provider: Provider, answer: unknown): Model[] | undefined {
  const data = isObject(answer) ? answer["data"] : undefined;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((row: unknown): Model[] => {
    if (!isObject(row) || typeof row["id"] !== "string" || !/^\S+$/.test(row["id"])) return [];
    return [localModel(provider, row["id"], row)];
  });
}

function localModel(provider: Provider, name: string, row: Record<string, unknown>): Model {
  const contextLength = contextOf(row);
  const created = row["created"];
  const common = {
    // A colon would pin a provider.
    id: `${provider.id}/${name.replaceAll(":", "-")}`,
    created:
      typeof created === "number" && Number.isSafeInteger(created) && created > 0 ? created : 0,
    contextLength,
  };
  const at = { provider: provider.id, upstreamModel: name, price: free };
  if (/embed/i.test(name))
    return {
      ...common,
      kind: "embedding",
      endpoints: [embeddingEndpoint],
      offers: [{ ...at, protocol: "embeddings" }],
    };
  return {
    ...common,
    kind: "text",
    endpoints: textEndpoints,
    maxOutputTokens: contextLength,
    reserveOutputTokens: Math.min(reserveDefault, contextLength),
    parameters: {},
    offers: [{ ...at, protocol: "chat" }],
  };
}

/** vLLM reports `max_model_len`, llama.cpp `meta.n_ctx`. */
function contextOf(row: Record<string, unknown>): number {
  const meta = isObject(row["meta"]) ? row["meta"] : {};
  const said = [row["max_model_len"], meta["n_ctx"], meta["n_ctx_train"]].find(
    (value) => typeof value === "number" && Number.isSafeInteger(value) && value > 0,
  );
  return typeof said === "number" ? said : contextDefault;
}

/** The catalogue of several servers and their models. */
export const localCatalog = (
  servers: readonly { readonly provider: Provider; readonly models: readonly Model[] }[],
): Catalog => ({
  providers: new Map(servers.map(({ provider }) => [provider.id, provider])),
  models: new Map(servers.flatMap(({ models }) => models.map((model) => [model.id, model]))),
});

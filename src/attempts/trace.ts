/**
 * The span of one attempt at a provider, by OpenTelemetry's conventions for generative AI (`gen_ai.client.inference`). What
 * was asked and answered is not in it. docs/monitoring.md.
 */
import type { Attributes, Span } from "../base/tracing.ts";
import type { Usage } from "../base/usage.ts";
import type { Dialect, Provider } from "../catalog/index.ts";

/** Names of the conventions that differ from the dialect's. */
const cloudNames: Readonly<Partial<Record<Dialect, string>>> = {
  anthropic: "anthropic",
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  xai: "x_ai",
};

/** Names of the conventions by the id that a provider has here. */
const knownNames: Readonly<Record<string, string>> = {
  openai: "openai",
  cohere: "cohere",
  deepseek: "deepseek",
  groq: "groq",
  mistral: "mistral_ai",
  moonshotai: "moonshot_ai",
  moonshot: "moonshot_ai",
  perplexity: "perplexity",
  xai: "x_ai",
};

/** What every attempt at a provider says of it. */
interface Known {
  readonly attributes: Attributes;
}

const knownOf = new WeakMap<Provider, Known>();

/** The provider's attributes: made once, because attempts are many. */
export function providerAttributes(provider: Provider): Attributes {
  let known = knownOf.get(provider);
  if (known === undefined) {
    const { hostname, port, protocol } = new URL(provider.baseUrl);
    const attributes = {
      "gen_ai.provider.name":
        cloudNames[provider.dialect] ?? knownNames[provider.id] ?? provider.id,
      "server.address": hostname,
      "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
      "tollgate.provider": provider.id,
    };
    known = { attributes };
    knownOf.set(provider, known);
  }
  return known.attributes;
}

/** The operation of an entry point, in the words of the conventions. */
function operationOf(entry: string): "chat" | "embeddings" | "generate_content" {
  if (entry === "embeddings") return "embeddings";
  return entry === "chat" || entry === "responses" || entry === "messages"
    ? "chat"
    : "generate_content";
}

/** How an attempt of a call ended. */
interface Ended {
  readonly provider: Provider;
  readonly attempt: {
    readonly credential: string;
    readonly upstream_model: string;
    readonly status: number | null;
    readonly outcome: string;
    readonly started_ms: number;
  };
  readonly record: {
    readonly protocol?: string;
    readonly stream?: boolean;
    readonly firstTokenMs?: number | null;
    readonly answeredBy?: string | undefined;
    readonly metered?: { readonly usage: Partial<Usage> } | undefined;
  };
}

/** Describes an attempt of a call that is over, and ends its span. */
export function endAttempt(span: Span, { provider, attempt, record }: Ended): void {
  if (!span.isSampled) return span.end();
  const { upstream_model: model, outcome } = attempt;
  const operation = operationOf(record.protocol ?? "");
  span.name = `${operation} ${model}`;
  span.set(providerAttributes(provider));
  span.set({
    "gen_ai.operation.name": operation,
    "gen_ai.request.model": model,
    "gen_ai.request.stream": record.stream === true ? true : undefined,
    "gen_ai.output.type": record.protocol?.startsWith("images_") === true ? "image" : undefined,
    "http.response.status_code": attempt.status ?? undefined,
    "tollgate.credential": attempt.credential,
  });
  const failed = outcome === "ok" ? undefined : outcome;
  if (failed === undefined) span.set(answerAttributes(record, attempt.started_ms));
  span.end(failed);
}

/** What only an answer says. */
function answerAttributes(
  { metered, stream, firstTokenMs = null, answeredBy }: Ended["record"],
  startedMs: number,
): Attributes {
  const usage = metered?.usage;
  const first = stream === true && firstTokenMs !== null ? firstTokenMs - startedMs : undefined;
  return {
    "gen_ai.response.model": answeredBy,
    "gen_ai.response.time_to_first_chunk": first === undefined ? undefined : first / 1000,
    "gen_ai.usage.input_tokens": usage?.inputTokens,
    "gen_ai.usage.output_tokens": usage?.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cacheReadTokens || undefined,
    "gen_ai.usage.cache_write.input_tokens": usage?.cacheWriteTokens || undefined,
    "gen_ai.usage.reasoning.output_tokens": usage?.reasoningTokens || undefined,
  };
}

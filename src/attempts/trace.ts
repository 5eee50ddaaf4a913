/**
 * The span of one attempt at a provider, by OpenTelemetry's conventions for generative AI (`gen_ai.client.inference`). It contains no
 * prompts or answers. docs/monitoring.md.
 */
import { memoizeByObject } from "../base/memoize.ts";
import { sharedParts } from "../base/shared-parts.ts";
import type { Attributes, SharedPart, Span } from "../base/tracing.ts";
import type { Usage } from "../base/usage.ts";
import type { Dialect, Provider } from "../catalog/index.ts";
import type { Attempt } from "./record.ts";

/** Provider names of the conventions that differ from the dialect's name. */
const cloudNames: Readonly<Partial<Record<Dialect, string>>> = {
  anthropic: "anthropic",
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  xai: "x_ai",
};

/** Provider names of the conventions, by provider id. */
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

/** Properties of an attempt that have few distinct values: attempts share their attributes. */
type Answered = readonly [
  model: string,
  operation: string,
  stream: boolean,
  isImage: boolean,
  credential: string,
  status: number | null,
];

/** Attributes common to all attempts at a provider. */
interface Known {
  readonly attributes: Attributes;
  readonly part: (...answered: Answered) => SharedPart;
}

/** The provider's attributes. */
export const providerAttributes = (provider: Provider): Attributes => knownTo(provider).attributes;

/** Cached per provider, because there are many attempts. */
const knownTo = memoizeByObject((provider: Provider): Known => {
  const { hostname, port, protocol } = new URL(provider.baseUrl);
  const attributes = {
    "gen_ai.provider.name": cloudNames[provider.dialect] ?? knownNames[provider.id] ?? provider.id,
    "server.address": hostname,
    "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
    "tollgate.provider": provider.id,
  };
  return { attributes, part: partsOf(attributes) };
});

const partsOf = (provider: Attributes): Known["part"] =>
  sharedParts((...[model, operation, stream, isImage, credential, status]: Answered) => ({
    name: `${operation} ${model}`,
    attributes: {
      ...provider,
      "gen_ai.operation.name": operation,
      "gen_ai.request.model": model,
      "gen_ai.request.stream": stream ? true : undefined,
      "gen_ai.output.type": isImage ? "image" : undefined,
      "http.response.status_code": status ?? undefined,
      "tollgate.credential": credential,
    },
  }));

/** The operation of an entry point, as the conventions name it. */
function operationOf(entry: string): "chat" | "embeddings" | "generate_content" {
  if (entry === "embeddings") return "embeddings";
  return entry === "chat" || entry === "responses" || entry === "messages"
    ? "chat"
    : "generate_content";
}

/** The properties of a call that the spans of its attempts carry. */
export interface TracedCall {
  readonly protocol?: string;
  readonly stream?: boolean;
  readonly firstTokenMs?: number | null;
  readonly answeredBy?: string | undefined;
  /** The usage of the call. Only text calls have token counts; image calls have none. */
  readonly metered?: { readonly usage: object } | undefined;
}

/** How an attempt of a call ended. */
interface Ended {
  readonly provider: Provider;
  readonly attempt: Pick<
    Attempt,
    "credential" | "upstream_model" | "status" | "outcome" | "started_ms"
  >;
  readonly record: TracedCall;
}

/** Adds the attributes of an attempt whose call is over, and ends its span. */
export function endAttempt(span: Span, { provider, attempt, record }: Ended): void {
  if (!span.isSampled) return span.end();
  const { upstream_model: model, credential, status, outcome } = attempt;
  const { protocol = "", stream = false } = record;
  const isImage = protocol.startsWith("images_");
  const { part } = knownTo(provider);
  span.share(part(model, operationOf(protocol), stream, isImage, credential, status));
  if (outcome !== "ok") return span.end(outcome);
  addAnswer(span, record, attempt.started_ms);
  span.end();
}

/** Adds the attributes that only an answered attempt has. */
function addAnswer(
  span: Span,
  { metered, stream, firstTokenMs = null, answeredBy }: TracedCall,
  startedMs: number,
): void {
  span.add("gen_ai.response.model", answeredBy);
  if (stream === true && firstTokenMs !== null)
    span.add("gen_ai.response.time_to_first_chunk", (firstTokenMs - startedMs) / 1000);
  if (metered === undefined) return;
  const usage: Partial<Usage> = metered.usage;
  span.add("gen_ai.usage.input_tokens", usage.inputTokens);
  span.add("gen_ai.usage.output_tokens", usage.outputTokens);
  span.add("gen_ai.usage.cache_read.input_tokens", usage.cacheReadTokens || undefined);
  span.add("gen_ai.usage.cache_write.input_tokens", usage.cacheWriteTokens || undefined);
  span.add("gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens || undefined);
}

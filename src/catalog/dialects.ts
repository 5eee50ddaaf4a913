/**
 * The dialects: what a vendor has of its own in keys, headers and paths, as data. A row changes what its protocol says
 * (upstream/vendors/protocols.ts), and a provider's file changes what its row says. What data cannot say is code in
 * `src/upstream/vendors`. docs/extending.md.
 */

/** What is absent is as the protocol has it. */
export interface DialectRow {
  /** The header that holds the key; in `authorization` it stands behind `Bearer`. */
  readonly keyHeader?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to every path, such as `api-version=2026-10-01`. */
  readonly query?: string;
  /** Paths below the base URL, by protocol, with `{model}` and `{method}`. */
  readonly paths?: Readonly<Record<string, string>>;
  /** The paths that count a request's tokens, by protocol. Without one a count is estimated. */
  readonly countPaths?: Readonly<Record<string, string>>;
  /** The field of its count that holds the number, where it is not the protocol's own. */
  readonly countField?: string;
  /** Its chat has tools of type `custom`. Elsewhere they go as functions. */
  readonly customTools?: true;
  /** Its Claude reads media as base64 only, not at addresses. */
  readonly inlineMedia?: true;
  /** It holds tools to their schema for those models of Claude only whose record says that answers are held to one. */
  readonly strictByRecord?: true;
  /** Parameters that it refuses with 400 or 422, by protocol and by chat-completions names. */
  readonly refusedFields?: Readonly<Record<string, readonly string[]>>;
  /** What its chat calls the maximum of output tokens at models that reason, of which it refuses `max_tokens`. */
  readonly maximumField?: "max_completion_tokens";
}

const rows = {
  openai: { customTools: true, maximumField: "max_completion_tokens" },
  "openai-compatible": {},
  anthropic: { countPaths: { messages: "/messages/count_tokens" } },
  google: { countPaths: { generate_content: "/models/{model}:countTokens" } },
  xai: {},
  dashscope: {},
  ark: {},
  azure: { keyHeader: "api-key", customTools: true, maximumField: "max_completion_tokens" },
  // The key is of express mode; an identity has a token instead. Of Google's two services only the other one stores answers.
  vertex: {
    keyHeader: "x-goog-api-key",
    refusedFields: { generate_content: ["store"] },
    inlineMedia: true,
  },
  bedrock: { countField: "inputTokens", inlineMedia: true, strictByRecord: true },
} as const satisfies Readonly<Record<string, DialectRow>>;

/** How a vendor is spoken to. */
export type Dialect = keyof typeof rows;

export const dialectRows: Readonly<Record<Dialect, DialectRow>> = rows;

/** In the order of the documentation. */
export const dialects = Object.keys(rows) as readonly Dialect[];

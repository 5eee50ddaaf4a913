/**
 * The dialects, as data: keys, headers and paths that a vendor does differently. A row overrides its protocol
 * (upstream/vendors/protocols.ts); a provider's configuration overrides the row. Differences that need code are in
 * `src/upstream/vendors`. docs/extending.md.
 */

/** A dialect's differences; for absent fields the protocol's own rules apply. */
export interface DialectRow {
  /** The header of the key; `authorization` gets the prefix `Bearer`. */
  readonly keyHeader?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to every path, such as `api-version=2026-10-01`. */
  readonly query?: string;
  /** Paths below the base URL, by protocol, with `{model}` and `{method}`. */
  readonly paths?: Readonly<Record<string, string>>;
  /** Paths of the vendor's token-count endpoints, by protocol. If there is none, the gateway estimates the count. */
  readonly countPaths?: Readonly<Record<string, string>>;
  /** The field of the count's answer that holds the number, if it is not the protocol's own. */
  readonly countField?: string;
  /** True if its chat has tools of type `custom`. For other dialects the gateway sends them as functions. */
  readonly customTools?: true;
  /** True if its Claude reads media only as base64, not by URL. */
  readonly inlineMedia?: true;
  /** True if it enforces tool schemas only for the Claude models whose record has structured outputs. */
  readonly strictByRecord?: true;
  /** Parameters that it refuses with 400 or 422, by protocol and by chat-completions names. */
  readonly refusedFields?: Readonly<Record<string, readonly string[]>>;
  /** The field for the maximum of output tokens in chat, for reasoning models that refuse `max_tokens`. */
  readonly maximumField?: "max_completion_tokens";
  /** True if it refuses ids of earlier calls and items that are too long or of another form, and reasoning that it cannot know. */
  readonly checksHistory?: true;
}

const rows = {
  openai: { customTools: true, maximumField: "max_completion_tokens", checksHistory: true },
  "openai-compatible": {},
  anthropic: { countPaths: { messages: "/messages/count_tokens" } },
  google: { countPaths: { generate_content: "/models/{model}:countTokens" } },
  xai: {},
  dashscope: {},
  ark: {},
  azure: {
    keyHeader: "api-key",
    customTools: true,
    maximumField: "max_completion_tokens",
    checksHistory: true,
  },
  // This key is for express mode; an identity sends a token instead. This service of Google stores no answers; only its other one does.
  vertex: {
    keyHeader: "x-goog-api-key",
    refusedFields: { generate_content: ["store"] },
    inlineMedia: true,
  },
  bedrock: { countField: "inputTokens", inlineMedia: true, strictByRecord: true },
} as const satisfies Readonly<Record<string, DialectRow>>;

/** The name of a dialect. */
export type Dialect = keyof typeof rows;

export const dialectRows: Readonly<Record<Dialect, DialectRow>> = rows;

/** All dialects, in the order of the documentation. */
export const dialects = Object.keys(rows) as readonly Dialect[];

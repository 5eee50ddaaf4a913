/**
 * Each protocol's names for the parts of its messages, for notes: dotted names as callers write them, without indexes. Requirements: TXT;
 * docs/decisions.md "Dropped parameters".
 */
import type { MediaPart, ProtocolName } from "./canonical/request.ts";

interface ContentFieldNames {
  readonly media: (part: MediaPart) => string;
  /** The name for a picture that a model made, if it has its own. */
  readonly made?: string;
  readonly detail: string;
  readonly reasoning: string;
  readonly signature: string;
  readonly call: string;
  readonly result: string;
  /** The error flag of a tool result. */
  readonly isError: string;
  /** The name of the speaker, if there are several users. */
  readonly author: string;
  readonly strict: string;
  /** A cache marker in a message, and in the system prompt. */
  readonly cache: string;
  readonly systemCache: string;
}

const chatMedia = {
  image: "image_url",
  audio: "input_audio",
  video: "video_url",
  file: "file",
} as const;

const chat: ContentFieldNames = {
  media: ({ media, inPicture }) => `messages.content.${chatMedia[inPicture ? "image" : media]}`,
  made: "messages.images",
  detail: "messages.content.image_url.detail",
  reasoning: "messages.reasoning_content",
  signature: "messages.reasoning_details",
  call: "messages.tool_calls",
  result: "messages.tool_call_id",
  isError: "messages.content",
  author: "messages.name",
  strict: "tools.function.strict",
  cache: "messages.content.cache_control",
  systemCache: "messages.content.cache_control",
};

const responses: ContentFieldNames = {
  media: ({ media, inPicture }) => `input.content.input_${inPicture ? "image" : media}`,
  made: "input.image_generation_call",
  detail: "input.content.detail",
  reasoning: "input.reasoning",
  signature: "input.encrypted_content",
  call: "input.function_call",
  result: "input.function_call_output",
  isError: "input.output",
  author: "input.name",
  strict: "tools.strict",
  cache: "input.content",
  systemCache: "input.content",
};

const messages: ContentFieldNames = {
  media: ({ media, address }) => {
    if (address !== undefined) return "messages.content.search_result";
    return `messages.content.${media === "file" ? "document" : media}`;
  },
  detail: "messages.content.image",
  reasoning: "messages.content.thinking",
  signature: "messages.content.signature",
  call: "messages.content.tool_use",
  result: "messages.content.tool_result",
  isError: "messages.content.is_error",
  author: "messages.role",
  strict: "tools.strict",
  cache: "messages.content.cache_control",
  systemCache: "system.cache_control",
};

const generateContent: ContentFieldNames = {
  media: ({ source }) => `contents.parts.${source.kind === "base64" ? "inlineData" : "fileData"}`,
  detail: "contents.parts.mediaResolution",
  reasoning: "contents.parts.thought",
  signature: "contents.parts.thoughtSignature",
  call: "contents.parts.functionCall",
  result: "contents.parts.functionResponse",
  isError: "contents.parts.functionResponse.response.error",
  author: "contents.role",
  strict: "tools.functionDeclarations",
  cache: "contents.parts",
  systemCache: "systemInstruction.parts",
};

/** The names of each protocol. For unnamed fields, the parent's name. */
export const contentFieldNames: Readonly<Record<ProtocolName, ContentFieldNames>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};

/**
 * What Mistral's models ask of a chat conversation beyond the protocol, wherever they are served: ids of calls of nine letters and
 * digits, and an answer between a tool's result and what the user says next. They refuse anything else with 400. Traps T20, T21.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { Codec, UpstreamCodec } from "../codec.ts";

const names = /(?:^|[/-])(?:mistral|mixtral|ministral|magistral|devstral|codestral|pixtral)/i;

/** Whether a model is Mistral's, by the name that its provider has for it. */
export const isMistral = (model: string): boolean => names.test(model);

/** The chat codec for Mistral's models. */
export const mistralCodec = (chat: Codec): UpstreamCodec => ({
  ...chat,
  limits: { ...chat.limits, callIdForm: /^[a-zA-Z0-9]{9}$/ },
  encodeRequest(request, model) {
    const body = chat.encodeRequest(request, model);
    return { ...body, messages: bridged(body["messages"] as Json[]) };
  },
  // Whoever reads the conversation at the vendor finds words that no caller wrote.
  addedTo: ({ messages }) => ((messages as Json[]).includes(bridge) ? bridgeNote : undefined),
});

const bridgeNote =
  "a short answer added between results of tools and the user's next words: the upstream refuses them side by side";

/** What stands between a result and the user's next words. */
const bridge: JsonObject = { role: "assistant", content: "I have the results." };

const bridged = (messages: readonly Json[]): Json[] =>
  messages.flatMap((message, index) =>
    roleOf(message) === "user" && roleOf(messages[index - 1]) === "tool"
      ? [bridge, message]
      : [message],
  );

const roleOf = (message: Json | undefined): unknown =>
  isObject(message) ? message["role"] : undefined;

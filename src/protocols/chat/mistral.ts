/**
 * Extra rules of Mistral's models for chat, at any provider. Call ids have nine letters and digits. Between a tool result and the next user
 * message stands an assistant message. System messages come first. They refuse anything else with 400. Traps T20, T21.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { Codec, UpstreamCodec } from "../codec.ts";
import { mistralCallId } from "../limits.ts";

const names = /(?:^|[/-])(?:mistral|mixtral|ministral|magistral|devstral|codestral|pixtral)/i;

/** True if a model is Mistral's, by its provider's name for it. */
export const isMistral = (model: string): boolean => names.test(model);

/** The chat codec for Mistral's models. */
export const mistralCodec = (chat: Codec): UpstreamCodec => ({
  ...chat,
  limits: { ...chat.limits, callIdForm: mistralCallId, systemOnTop: true },
  encodeRequest(request, model) {
    const body = chat.encodeRequest(request, model);
    return { ...body, messages: bridged(body["messages"] as Json[]) };
  },
  // Reported, because the conversation at the vendor then has words that the caller did not write.
  describeAddedText: ({ messages }) =>
    (messages as Json[]).includes(bridge) ? bridgeNote : undefined,
});

const bridgeNote =
  "a short answer added between results of tools and the user's next words: the upstream refuses them side by side";

/** The message between a tool result and the user's next message. */
const bridge: JsonObject = { role: "assistant", content: "I have the results." };

const bridged = (messages: readonly Json[]): Json[] =>
  messages.flatMap((message, index) =>
    roleOf(message) === "user" && roleOf(messages[index - 1]) === "tool"
      ? [bridge, message]
      : [message],
  );

const roleOf = (message: Json | undefined): unknown =>
  isObject(message) ? message["role"] : undefined;

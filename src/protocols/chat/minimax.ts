/**
 * MiniMax's own endpoint. It puts the reasoning of its models into the text of an answer, between `<think>` and `</think>`, unless the request
 * asks for it apart. Then it also reads earlier reasoning in `reasoning_details` only.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { UpstreamCodec } from "../codec.ts";
import { nonEmpty } from "../read.ts";

/** The chat codec for an endpoint that gives reasoning apart on request. */
export const splittingCodec = (chat: UpstreamCodec): UpstreamCodec => ({
  ...chat,
  encodeRequest(request, model) {
    const body = chat.encodeRequest(request, model);
    const messages = (body["messages"] as Json[]).map(withDetails);
    return { ...body, messages, reasoning_split: true };
  },
});

function withDetails(message: Json): Json {
  if (!isObject(message)) return message;
  const { reasoning_content: content, ...rest } = message;
  const text = nonEmpty(content);
  if (text === undefined) return message;
  const details: JsonObject[] = [{ type: "reasoning.text", text }];
  return { ...rest, reasoning_details: details };
}

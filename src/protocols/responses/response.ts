/** Decodes whole responses answers into the canonical form. Requirements: CONV. */
import { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { tokenCount } from "../../base/usage.ts";
import type { JsonObject, Part } from "../canonical/request.ts";
import { reasonWithCalls, type CanonicalResponse, type Finish } from "../canonical/response.ts";
import { callId } from "../call-id.ts";
import { withinOf } from "../function-tools.ts";
import { decodeAnnotations } from "../citations.ts";
import { nonEmpty, objectOf, objects } from "../read.ts";
import { decodeError } from "./errors.ts";
import { decodePicture, decodeReasoning } from "./items.ts";
import { decodeContent } from "./parts.ts";
import { readUsage } from "./usage.ts";

/**
 * Decodes an upstream's answer.
 * @throws GatewayError `upstream_error` for a response that failed, was cancelled or is still in progress.
 */
export function decodeResponse(body: JsonObject): CanonicalResponse {
  const { status } = body;
  if (isObject(body["error"]) || status === "failed") {
    throw new GatewayError("upstream_error", decodeError(200, body).message);
  }
  if (status !== undefined && status !== "completed" && status !== "incomplete") {
    throw new GatewayError("upstream_error", `The upstream's answer is ${JSON.stringify(status)}.`);
  }
  const id = nonEmpty(body["id"]) ?? "";
  const content = decodeOutput(objects(body["output"]), id);
  const usage = readUsage(body["usage"]);
  return {
    protocol: "responses",
    id,
    createdAt: tokenCount(body["created_at"]),
    content,
    finish: decodeFinish(
      body,
      content.some((part) => part.type === "tool_call"),
    ),
    ...(usage ? { usage } : {}),
  };
}

/** Decodes all items. A second message stays separate: a model first says what it is about to do, and then answers. */
function decodeOutput(items: readonly WireObject[], id: string): Part[] {
  let isLater = false;
  return items.flatMap((item, index) => {
    const parts = decodeItem(item, callId(id, index));
    const first = parts.find((part) => part.type === "text" && part.text !== "");
    if (item["type"] !== "message" || !first) return parts;
    const isNewMessage = isLater;
    isLater = true;
    return isNewMessage
      ? parts.map((part) => (part === first ? { ...first, newMessage: true } : part))
      : parts;
  });
}

/** Returns the id that pairs a call with its result; `fallback` if the vendor sends none. */
export const idOfCall = ({ call_id: own, id }: WireObject, fallback: string): string =>
  nonEmpty(own) ?? nonEmpty(id) ?? fallback;

/** True for the item types of calls that the caller answers. */
export const isCall = (type: unknown): boolean =>
  type === "function_call" || type === "custom_tool_call";

/**
 * Decodes one output item; `fallbackId` is for a call without an id. Items of hosted tools describe how the answer was made: only their
 * pictures are content.
 */
export function decodeItem(item: WireObject, fallbackId: string): Part[] {
  switch (item["type"]) {
    case "message":
      return objects(item["content"]).flatMap(decodeSpoken);
    case "reasoning": {
      const part = decodeReasoning(item);
      // A reasoning item without text and encryption is left out.
      return part.text === "" && !part.signature ? [] : [part];
    }
    case "function_call":
      return [
        {
          type: "tool_call",
          id: idOfCall(item, fallbackId),
          name: nonEmpty(item["name"]) ?? "",
          ...withinOf(item),
          arguments: nonEmpty(item["arguments"]) ?? "",
        },
      ];
    case "custom_tool_call":
      return [
        {
          type: "tool_call",
          id: idOfCall(item, fallbackId),
          name: nonEmpty(item["name"]) ?? "",
          ...withinOf(item),
          arguments: nonEmpty(item["input"]) ?? "",
          custom: true,
        },
      ];
    case "image_generation_call": {
      const picture = decodePicture(item);
      return picture ? [picture] : [];
    }
    default:
      return [];
  }
}

/** Decodes a part of a message, with its citations. */
const decodeSpoken = (wire: WireObject): Part[] =>
  decodeContent([wire], "output", []).map((part) => {
    const citations = decodeAnnotations(wire["annotations"]);
    return part.type === "text" && citations.length > 0 ? { ...part, citations } : part;
  });

/** Decodes `status` and `incomplete_details`; the protocol has no word for tool calls (CONV-717). */
export function decodeFinish(response: WireObject, hasCalls: boolean): Finish {
  if (response["status"] !== "incomplete") {
    return { reason: reasonWithCalls("stop", hasCalls), raw: "completed" };
  }
  const raw = nonEmpty(objectOf(response["incomplete_details"])["reason"]) ?? "incomplete";
  return { reason: raw === "content_filter" ? "content_filter" : "length", raw };
}

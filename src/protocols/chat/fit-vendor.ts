/** Changes on the direct route for vendors that refuse what the protocol allows. Conversions have the same rules. */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { UpstreamAddress } from "../codec.ts";

/** Changes `body`, a copy of the caller's body. Changed members are copied, the others shared. */
export function fitVendor(body: JsonObject, upstream: UpstreamAddress): Note[] {
  if (upstream.refusesNullContent) fillContent(body);
  return upstream.refusesNamed ? offerNamed(body) : [];
}

/** Gives answers without content, such as those of only calls, an empty text. Nothing is lost, so this is not noted. */
function fillContent(body: JsonObject): void {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(lacksContent)) return;
  body["messages"] = messages.map((message) =>
    lacksContent(message) ? { ...message, content: "" } : message,
  );
}

const lacksContent = (message: Json): message is JsonObject =>
  isObject(message) && (message["content"] ?? null) === null;

/** Offers only the tool that must be called, and requires a call. */
function offerNamed(body: JsonObject): Note[] {
  const { tools, tool_choice: choice } = exactTwinOf(body);
  const name = nameIn(choice);
  if (name === undefined || !Array.isArray(tools)) return [];
  const offered = tools.filter((tool) => nameIn(tool) === name);
  if (offered.length === 0) return [];
  body["tools"] = offered;
  body["tool_choice"] = "required";
  const detail = "the upstream takes no choice by name: only this tool is offered";
  return [{ param: "tool_choice", kind: "rewritten", detail }];
}

const nameIn = (value: Json | undefined): Json | undefined =>
  isObject(value) && isObject(value["function"]) ? value["function"]["name"] : undefined;

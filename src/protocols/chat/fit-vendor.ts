/** Changes on the direct route for vendors that refuse what the protocol allows. Conversions have the same rules. */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { UpstreamAddress } from "../codec.ts";
import { kimi } from "./fit-history.ts";
import { kimiSchema } from "./kimi-schema.ts";

/** Changes `body`, a copy of the caller's body. Changed members are copied, the others shared. */
export function fitVendor(body: JsonObject, upstream: UpstreamAddress): Note[] {
  if (upstream.refusesNullContent) setMember(body, lacksContent, { content: "" });
  // The older name of the role means the same.
  if (upstream.refusesDeveloper) setMember(body, isDeveloper, { role: "system" });
  const notes = kimi.test(upstream.model) ? fitSchemas(body) : [];
  return upstream.refusesNamed ? [...notes, ...offerNamed(body)] : notes;
}

/** Rewrites the schemas of tools that Kimi would refuse. */
function fitSchemas(body: JsonObject): Note[] {
  const tools = exactTwinOf(body["tools"]);
  if (!Array.isArray(tools)) return [];
  const fitted = tools.map(fitSchema);
  if (fitted.every((tool, at) => tool === tools[at])) return [];
  body["tools"] = fitted;
  const detail = "types and references moved to where the upstream takes them";
  return [{ param: "tools", kind: "rewritten", detail }];
}

function fitSchema(tool: Json): Json {
  if (!isObject(tool) || !isObject(tool["function"])) return tool;
  const { parameters } = tool["function"];
  const schema = isObject(parameters) ? kimiSchema(parameters) : parameters;
  if (schema === parameters || schema === undefined) return tool;
  return { ...tool, function: { ...tool["function"], parameters: schema } };
}

/** Gives the messages that match the new member. Nothing is lost by either, so this is not noted. */
function setMember(
  body: JsonObject,
  isMeant: (message: JsonObject) => boolean,
  member: JsonObject,
): void {
  const messages = exactTwinOf(body["messages"]);
  const isChanged = (message: Json): message is JsonObject => isObject(message) && isMeant(message);
  if (!Array.isArray(messages) || !messages.some(isChanged)) return;
  body["messages"] = messages.map((message) =>
    isChanged(message) ? { ...message, ...member } : message,
  );
}

/** True for answers without content, such as those of only calls. */
const lacksContent = ({ content }: JsonObject): boolean => (content ?? null) === null;

const isDeveloper = ({ role }: JsonObject): boolean => role === "developer";

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

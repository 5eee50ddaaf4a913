/**
 * Single items in place of lists: Google's own curl samples send `"contents": {"parts": {"text": "Hi"}}`, and its server reads them as
 * lists of one.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { spelling } from "./names.ts";

/** Returns the body with each such item in a list; the same object if nothing changed. Never changes `body`. */
export function withLists(body: JsonObject): JsonObject {
  const listed = listIn(
    listIn(listIn(body, "contents", withParts), "tools", withDeclarations),
    "safetySettings",
  );
  const name = spelling(listed, "systemInstruction");
  const system = listed[name];
  const instruction = system === undefined ? system : withParts(system);
  return instruction === undefined || instruction === system
    ? listed
    : { ...listed, [name]: instruction };
}

const withParts = (content: Json): Json =>
  isObject(content) ? listIn(content, "parts", withResult) : content;

/** A function response has parts too. */
function withResult(part: Json): Json {
  if (!isObject(part)) return part;
  const name = spelling(part, "functionResponse");
  const given = part[name];
  const listed = isObject(given) ? listIn(given, "parts") : given;
  return listed === undefined || listed === given ? part : { ...part, [name]: listed };
}

const withDeclarations = (tool: Json): Json =>
  isObject(tool) ? listIn(tool, "functionDeclarations") : tool;

/** Returns an object whose member `name` is a list with `change` applied to each item. */
function listIn(
  object: JsonObject,
  name: string,
  change: (item: Json) => Json = (item) => item,
): JsonObject {
  const key = spelling(object, name);
  const value = object[key];
  const list = isObject(value) ? [value] : value;
  if (!Array.isArray(list)) return object;
  const items = list.map(change);
  const isSame = list === value && items.every((item, index) => item === list[index]);
  return isSame ? object : { ...object, [key]: items };
}

/**
 * Regular expressions in the tools of Claude Code, on the direct route to other vendors. Z.AI and DeepSeek refuse each of its calls for
 * them; Claude reads all of them. T23.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { patternsDescribed, withPortablePatterns } from "../portable-patterns.ts";
import { isClaude } from "./call-ids.ts";

/** Rewrites the schemas in `body`, a copy of the caller's. Changed tools are copied, the rest is shared. */
export function fitPatterns(body: JsonObject, model: string): Note[] {
  const tools = exactTwinOf(body["tools"]);
  if (isClaude(model) || !Array.isArray(tools)) return [];
  const fitted = tools.map(fitTool);
  if (fitted.every((tool, at) => tool === tools[at])) return [];
  body["tools"] = fitted;
  return [{ param: "tools", kind: "rewritten", detail: patternsDescribed }];
}

function fitTool(tool: Json): Json {
  if (!isObject(tool) || !isObject(tool["input_schema"])) return tool;
  const schema = withPortablePatterns(tool["input_schema"]);
  return schema === tool["input_schema"] ? tool : { ...tool, input_schema: schema };
}

/**
 * Removes what has no effect without tools from the body of a direct request. Agents that sum up a conversation without tools send an empty
 * list. Codex sends it with the choice `auto`, which xAI refuses (openai/codex#46773). Kimi CLI and MiniMax Code send it in chat, where vLLM and
 * OpenAI refuse it. Nothing is lost, so this is not noted.
 */
import type { JsonObject } from "./canonical/request.ts";

/** Changes `body`, a copy of the caller's body. `idle`: members without an effect, and their values; undefined is any. */
export function removeEmptyTools(
  body: JsonObject,
  idle: Readonly<Record<string, readonly unknown[] | undefined>>,
): void {
  const { tools } = body;
  if (Array.isArray(tools) && tools.length > 0) return;
  if (Array.isArray(tools)) delete body["tools"];
  for (const [name, values] of Object.entries(idle))
    if (values === undefined || values.includes(body[name])) delete body[name];
}

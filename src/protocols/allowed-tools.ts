/** The tools that a choice among some tools allows. T29. */
import type { Tool, ToolChoice } from "./canonical/request.ts";

/** Returns the tools that the model may call: all, or those that the choice names. Both lists may be long: each tool costs one look-up. */
export function allowedTools(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
): readonly Tool[] {
  if (choice?.type !== "allowed") return tools;
  const names = new Set(choice.names);
  return tools.filter(({ name }) => names.has(name));
}

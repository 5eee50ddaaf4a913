/** The members of each protocol's requests that hold settings which not every model supports. */
import type { ProtocolName } from "./canonical/request.ts";

interface SettingMembers {
  /** The members with these settings, in every spelling. */
  readonly members: readonly string[];
  /** The member with the turns. */
  readonly turns: string;
  /** The other members with the prompt. */
  readonly prompt: readonly string[];
}

export const settingMembers: Readonly<Record<ProtocolName, SettingMembers>> = {
  chat: {
    members: ["reasoning_effort", "tool_choice", "function_call", "response_format"],
    turns: "messages",
    prompt: ["tools", "functions"],
  },
  responses: {
    members: ["reasoning", "tool_choice", "text"],
    turns: "input",
    prompt: ["instructions", "tools"],
  },
  messages: {
    members: ["thinking", "output_config", "tool_choice"],
    turns: "messages",
    prompt: ["system", "tools"],
  },
  generate_content: {
    members: ["generationConfig", "generation_config", "toolConfig", "tool_config"],
    turns: "contents",
    prompt: ["systemInstruction", "system_instruction", "tools"],
  },
};

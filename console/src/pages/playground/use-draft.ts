/** The reader's draft: only page state, gone with the page. */
import { useState } from "react";
import type { Protocol } from "../../base/code.ts";
import type { Message } from "./conversation.ts";
import type { ModeProps } from "./mode-props.ts";
import { fieldsOf, readFields, type Typed } from "./parameters.ts";
import type { PrefilledInput } from "./prefilled-input.ts";
import { readTools } from "./tools.ts";
import type { ChatRequest } from "./use-conversation.ts";

const emptyMessage: Message = { role: "user", text: "", pictures: [] };

interface DraftOptions extends Pick<ModeProps, "apiKey" | "models" | "chosen"> {
  readonly protocol: Protocol;
  readonly streams: boolean;
  /** The initial text. */
  readonly prefilled: PrefilledInput | undefined;
}

export function useDraft({ apiKey, models, chosen, protocol, streams, prefilled }: DraftOptions) {
  const [stream, setStream] = useState<boolean>();
  const [system, setSystem] = useState(prefilled?.system ?? "");
  const [said, setSaid] = useState({ ...emptyMessage, text: prefilled?.said ?? "" });
  const [toolsText, setToolsText] = useState("");
  const [typed, setTyped] = useState<Typed>({});
  const { tools, fault: toolsFault } = readTools(toolsText);
  const fields = fieldsOf(
    models.filter(({ id }) => chosen.includes(id)).map((one) => one.supported_parameters),
    protocol,
  );
  const { body, faults } = readFields(fields, typed, protocol);
  const chatRequest: ChatRequest = {
    keyId: apiKey.id,
    protocol,
    models: chosen,
    stream: stream ?? streams,
    system,
    said,
    tools,
    fields: body,
  };
  return {
    chatRequest,
    obstacle: obstacleOf({ chatRequest, toolsFault, faults }),
    setStream,
    setSystem,
    setSaid,
    /** Clears the message after it was sent. */
    clear: () => setSaid(emptyMessage),
    /** Restores an unanswered message, unless the reader has typed another. */
    giveBack: (sent: Message) =>
      setSaid((now) => (now.text === "" && now.pictures.length === 0 ? sent : now)),
    toolsForm: { text: toolsText, fault: toolsFault, change: setToolsText },
    parametersForm: { fields, typed, faults, change: setTyped },
  };
}

interface Obstacles {
  readonly chatRequest: ChatRequest;
  readonly toolsFault: string | undefined;
  readonly faults: Typed;
}

/** Why nothing can be sent yet. */
function obstacleOf({ chatRequest, toolsFault, faults }: Obstacles): string | undefined {
  if (chatRequest.models.length === 0) return "Choose a model.";
  if (toolsFault !== undefined) return "Fix the tools first.";
  const [field] = Object.keys(faults);
  if (field !== undefined) return `Fix ${field} first.`;
  return chatRequest.said.text.trim() === "" && chatRequest.said.pictures.length === 0
    ? "Write a message."
    : undefined;
}

/** The reader's draft: only page state, gone with the page. */
import { useState } from "react";
import type { Protocol } from "../../base/code.ts";
import type { Said } from "./conversation.ts";
import type { ModeProps } from "./mode-props.ts";
import { fieldsOf, readFields, type Typed } from "./parameters.ts";
import type { Spoken } from "./spoken.ts";
import { readTools } from "./tools.ts";
import type { Asking } from "./use-conversation.ts";

const unsaid: Said = { role: "user", text: "", pictures: [] };

interface DraftOptions extends Pick<ModeProps, "apiKey" | "models" | "chosen"> {
  readonly protocol: Protocol;
  readonly streams: boolean;
  /** The initial text. */
  readonly spoken: Spoken | undefined;
}

export function useDraft({ apiKey, models, chosen, protocol, streams, spoken }: DraftOptions) {
  const [stream, setStream] = useState<boolean>();
  const [system, setSystem] = useState(spoken?.system ?? "");
  const [said, setSaid] = useState({ ...unsaid, text: spoken?.said ?? "" });
  const [toolsText, setToolsText] = useState("");
  const [typed, setTyped] = useState<Typed>({});
  const { tools, fault: toolsFault } = readTools(toolsText);
  const fields = fieldsOf(
    models.filter(({ id }) => chosen.includes(id)).map((one) => one.supported_parameters),
    protocol,
  );
  const { body, faults } = readFields(fields, typed, protocol);
  const asking: Asking = {
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
    asking,
    obstacle: obstacleOf({ asking, toolsFault, faults }),
    setStream,
    setSystem,
    setSaid,
    /** Clears the message after it was sent. */
    clear: () => setSaid(unsaid),
    /** Restores an unanswered message, unless the reader has typed another. */
    giveBack: (sent: Said) =>
      setSaid((now) => (now.text === "" && now.pictures.length === 0 ? sent : now)),
    toolsForm: { text: toolsText, fault: toolsFault, change: setToolsText },
    parametersForm: { fields, typed, faults, change: setTyped },
  };
}

interface Obstacles {
  readonly asking: Asking;
  readonly toolsFault: string | undefined;
  readonly faults: Typed;
}

/** Why nothing can be sent yet. */
function obstacleOf({ asking, toolsFault, faults }: Obstacles): string | undefined {
  if (asking.models.length === 0) return "Choose a model.";
  if (toolsFault !== undefined) return "Mend the tools first.";
  const [field] = Object.keys(faults);
  if (field !== undefined) return `Mend ${field} first.`;
  return asking.said.text.trim() === "" && asking.said.pictures.length === 0
    ? "Write something."
    : undefined;
}

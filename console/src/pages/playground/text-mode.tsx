/** Chats with one or several models at once, in any of the four protocols. */
import { Button, Group, Select, Stack, Switch, Textarea } from "@mantine/core";
import type { ReactNode } from "react";
import {
  curlOfText,
  protocolNames,
  protocolOf,
  protocols,
  sdkCodesOf,
  type Protocol,
} from "../../base/code.ts";
import type { Place } from "../../base/sdks.ts";
import { CodePanel } from "./code-panel.tsx";
import { Composer } from "./composer.tsx";
import type { ModeProps } from "./mode-props.ts";
import { ParametersForm } from "./parameters-form.tsx";
import { useParts } from "./parts.tsx";
import { ToolsForm } from "./tools-form.tsx";
import type { PrefilledInput } from "./prefilled-input.ts";
import { TurnView } from "./turns.tsx";
import { callOf, useConversation } from "./use-conversation.ts";
import { useDraft } from "./use-draft.ts";

interface TextModeProps extends ModeProps {
  readonly protocol: Protocol;
  readonly speak: (protocol: Protocol) => void;
  /** The default of the Stream switch. */
  readonly streams: boolean;
  /** The initial text. */
  readonly prefilled: PrefilledInput | undefined;
}

type Part = "tools" | "parameters" | "code";

/** A call as curl and with the protocol's SDK. */
function codesOf(call: ReturnType<typeof callOf> & Place) {
  const { name, codes } = sdkCodesOf(call);
  const named = codes.map(({ label, text }) => ({ label: `${name}, ${label}`, text }));
  return [{ label: "curl", text: curlOfText(call) }, ...named];
}

interface ToolbarProps extends Pick<TextModeProps, "protocol" | "speak" | "picker"> {
  readonly draft: ReturnType<typeof useDraft>;
  readonly talk: ReturnType<typeof useConversation>;
  readonly toggle: (part: Part, label: string) => ReactNode;
}

function Toolbar({ protocol, speak, picker, draft, talk, toggle }: ToolbarProps) {
  const count = draft.chatRequest.tools.length;
  return (
    <Group align="end" gap="md">
      <Select
        label="Protocol"
        w={180}
        allowDeselect={false}
        value={protocol}
        data={protocols.map((value) => ({ value, label: protocolNames[value] }))}
        onChange={(value) => speak(protocolOf(value ?? undefined))}
      />
      {picker}
      <Switch
        label="Stream"
        mb="sm"
        checked={draft.chatRequest.stream}
        onChange={({ currentTarget }) => draft.setStream(currentTarget.checked)}
      />
      {toggle("tools", count === 0 ? "Tools" : `Tools (${count})`)}
      {toggle("parameters", "Parameters")}
      {toggle("code", "Code")}
      {talk.turns.length > 0 && !talk.running && (
        <Button variant="default" onClick={talk.clear}>
          New conversation
        </Button>
      )}
    </Group>
  );
}

export function TextMode(props: TextModeProps) {
  const { apiKey, chosen, protocol, speak, ended, picker } = props;
  const { open, toggle } = useParts<Part>();
  const draft = useDraft(props);
  const talk = useConversation(ended);
  const { chatRequest } = draft;
  const [first] = chosen;
  const send = async () => {
    draft.clear();
    if (!(await talk.run(chatRequest))) draft.giveBack(chatRequest.said);
  };
  return (
    <Stack gap="md">
      <Toolbar {...{ protocol, speak, picker, draft, talk, toggle }} />
      {open === "tools" && <ToolsForm {...draft.toolsForm} />}
      {open === "parameters" && <ParametersForm {...draft.parametersForm} />}
      {open === "code" && first !== undefined && (
        <CodePanel
          apiKey={apiKey}
          codes={(place) => codesOf({ ...place, ...callOf(chatRequest, talk.turns, first) })}
        />
      )}
      <Textarea
        label="System"
        value={chatRequest.system}
        autosize
        minRows={1}
        maxRows={8}
        onChange={({ currentTarget }) => draft.setSystem(currentTarget.value)}
      />
      {talk.turns.map((turn) => (
        <TurnView key={turn.id} turn={turn} />
      ))}
      <Composer
        said={chatRequest.said}
        change={draft.setSaid}
        running={talk.running}
        obstacle={draft.obstacle}
        stop={talk.stop}
        run={() => void send()}
      />
    </Stack>
  );
}

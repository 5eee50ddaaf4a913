/** Code for the chosen client, with a copy button that fills in the full key. */
import { Group, NativeSelect, SegmentedControl, Tabs } from "@mantine/core";
import { useState } from "react";
import { revealKey } from "../../api/reveal-key.ts";
import { Copy } from "../../ui/copy.tsx";
import { useNarrow } from "../../ui/narrow.ts";
import { type Key } from "./queries.ts";
import { clients, snippets } from "./snippets.ts";

interface CodeProps {
  readonly url: string;
  readonly model: string;
  /** The shown text has only its prefix and last characters. */
  readonly apiKey: Key;
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly choose: (value: string) => void;
}

/** A select for phones. */
const Choice = ({ label, value, choices, choose }: ChoiceProps) => (
  <NativeSelect
    label={label}
    value={value}
    data={[...choices]}
    onChange={(event) => choose(event.currentTarget.value)}
  />
);

/** Chooses the protocol or language of the client; empty if there is only one. */
function LanguageChoice({ value, choices, choose }: Omit<ChoiceProps, "label">) {
  const isNarrow = useNarrow();
  if (choices.length < 2) return <span />;
  if (isNarrow) return <Choice label="Protocol or language" {...{ value, choices, choose }} />;
  return (
    <SegmentedControl
      aria-label="Protocol or language"
      value={value}
      data={[...choices]}
      onChange={choose}
    />
  );
}

function Text({ url, model, apiKey, client }: CodeProps & { client: string }) {
  const [protocol, setProtocol] = useState<string>();
  const choices = snippets.filter((one) => one.client === client);
  const chosen = choices.find((one) => one.protocol === protocol) ?? choices[0]!;
  const shown = `${apiKey.key_prefix}...${apiKey.key_last4}`;
  return (
    <>
      <Group justify="space-between" align="end" mb="sm" mih={36}>
        <LanguageChoice
          value={chosen.protocol ?? ""}
          choices={choices.length > 1 ? choices.map((one) => one.protocol!) : []}
          choose={setProtocol}
        />
        <Copy
          label={`the call with ${client}`}
          text={async () => chosen.text({ url, model, key: await revealKey(apiKey.id) })}
        />
      </Group>
      <pre className="panel mono" style={{ whiteSpace: "pre-wrap", margin: 0 }}>
        {chosen.text({ url, model, key: shown })}
      </pre>
    </>
  );
}

export function Code(props: CodeProps) {
  const [client, setClient] = useState(clients[0]!);
  const isNarrow = useNarrow();
  if (isNarrow) {
    return (
      <>
        <Choice label="Client" value={client} choices={clients} choose={setClient} />
        <Text key={client} {...props} client={client} />
      </>
    );
  }
  return (
    <Tabs value={client} onChange={(value) => setClient(value ?? clients[0]!)}>
      <Tabs.List>
        {clients.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={client} pt="md">
        <Text key={client} {...props} client={client} />
      </Tabs.Panel>
    </Tabs>
  );
}

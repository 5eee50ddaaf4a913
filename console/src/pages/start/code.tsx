/** How the chosen client is called, with a copy button that fills in the key in full. */
import { Group, SegmentedControl, Tabs } from "@mantine/core";
import { useState } from "react";
import { Copy } from "../../ui/copy.tsx";
import { revealKey, type Key } from "./queries.ts";
import { clients, snippets } from "./snippets.ts";

interface CodeProps {
  readonly url: string;
  readonly model: string;
  /** Named in the text by its beginning and its end. */
  readonly apiKey: Key;
}

export function Code({ url, model, apiKey }: CodeProps) {
  const [client, setClient] = useState(clients[0]!);
  const [protocol, setProtocol] = useState<string>();
  const choices = snippets.filter((one) => one.client === client);
  const chosen = choices.find((one) => one.protocol === protocol) ?? choices[0]!;
  const shown = `${apiKey.key_prefix}...${apiKey.key_last4}`;
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
        <Group justify="space-between" mb="sm" mih={36}>
          {choices.length > 1 ? (
            <SegmentedControl
              aria-label="Called in"
              value={chosen.protocol}
              data={choices.map((one) => one.protocol!)}
              onChange={setProtocol}
            />
          ) : (
            <span />
          )}
          <Copy
            label={`the call with ${client}`}
            text={async () => chosen.text({ url, model, key: await revealKey(apiKey.id) })}
          />
        </Group>
        <pre className="panel mono" style={{ whiteSpace: "pre-wrap", margin: 0 }}>
          {chosen.text({ url, model, key: shown })}
        </pre>
      </Tabs.Panel>
    </Tabs>
  );
}

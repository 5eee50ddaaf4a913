/** How a receiver verifies a callback, in four languages. */
import { Code, SegmentedControl, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Copy } from "../../ui/copy.tsx";
import { languages } from "./snippets.ts";

export function Verify() {
  const [chosen, setChosen] = useState<string>(languages[0].value);
  const { code } = languages.find(({ value }) => value === chosen) ?? languages[0];
  return (
    <section aria-label="How to verify">
      <Title order={2} size="h4" mb="sm">
        How to verify
      </Title>
      <Text mb="sm">
        Callbacks follow Standard Webhooks. Its libraries accept the secret as it is. Verify the raw
        bytes of the body before you parse them.
      </Text>
      <SegmentedControl
        aria-label="Language"
        mb="sm"
        data={languages.map(({ value, label }) => ({ value, label }))}
        value={chosen}
        onChange={setChosen}
      />
      <Code block tabIndex={0}>
        {code}
      </Code>
      <Copy text={() => code} label="the code" />
    </section>
  );
}

/** The call as code. The shown code abbreviates the key and images; the copied code is complete. */
import { Group, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { revealKey } from "../../api/reveal-key.ts";
import { reachableUrl } from "../../base/reachable-url.ts";
import type { CodeText, Place } from "../../base/sdks.ts";
import { Copy } from "../../ui/copy.tsx";
import classes from "./playground.module.css";
import type { Key } from "./queries.ts";

/** Only images are base64 texts of this length. */
const longText = /[A-Za-z0-9+/=]{200,}/g;

interface CodePanelProps {
  readonly apiKey: Key;
  readonly codes: (place: Place) => readonly CodeText[];
}

export function CodePanel({ apiKey, codes }: CodePanelProps) {
  const { data: info } = api.useQuery("get", "/admin/v1/info");
  const [label, setLabel] = useState("curl");
  if (info === undefined) return null;
  const placed = (key: string) =>
    codes({ url: reachableUrl(info.public_url, location.origin), key });
  const shown = placed(`${apiKey.key_prefix}...${apiKey.key_last4}`);
  const chosen = shown.find((one) => one.label === label) ?? shown[0]!;
  const whole = async () =>
    placed(await revealKey(apiKey.id)).find((one) => one.label === chosen.label)!.text;
  return (
    <section className="panel" aria-label="The call as code">
      <Group justify="space-between" mb="sm">
        <SegmentedControl
          aria-label="Code in"
          value={chosen.label}
          data={shown.map((one) => one.label)}
          onChange={setLabel}
        />
        <Copy label="the code" text={whole} />
      </Group>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached by keyboard */}
      <pre className={`mono ${classes["code"]}`} tabIndex={0}>
        {chosen.text.replaceAll(longText, (text) => `${text.slice(0, 40)}...`)}
      </pre>
    </section>
  );
}

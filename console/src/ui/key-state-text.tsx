/** Whether a key's calls are admitted, in a word, never by colour alone. */
import { Text } from "@mantine/core";
import { useState } from "react";
import type { Schemas } from "../api/client.ts";
import { gatewayNow } from "../base/clock.ts";
import { keyStateOf } from "../base/key-state.ts";
import { useDisabledWorkspaces } from "./workspaces.ts";

interface KeyStateProps {
  readonly of: Schemas["KeyRecords"]["data"][number];
  /** Its workspace is disabled. */
  readonly isStopped: boolean;
}

export function KeyStateText({ of, isStopped }: KeyStateProps) {
  const [now] = useState(gatewayNow);
  const { word, more } = keyStateOf(of, now, isStopped);
  const tone = word === "active" ? "ok" : word === "disabled" ? "muted" : "bad";
  return (
    <span className={tone} title={more}>
      {word}
    </span>
  );
}

/** Says why calls of the key are refused; empty if they are admitted. */
export function KeyRefusal({ of }: Pick<KeyStateProps, "of">) {
  const [now] = useState(gatewayNow);
  const isStopped = useDisabledWorkspaces().has(of.workspace_id);
  const { word, more } = keyStateOf(of, now, isStopped);
  if (word === "active") return null;
  return (
    <Text component="output" display="block" mb="md" className="bad">
      Calls of this key are refused: {isStopped ? more : word}.
    </Text>
  );
}

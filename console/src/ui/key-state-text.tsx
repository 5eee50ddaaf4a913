/** Whether a key's calls are admitted, in a word, never by colour alone. */
import { useState } from "react";
import type { Schemas } from "../api/client.ts";
import { gatewayNow } from "../base/clock.ts";
import { keyStateOf } from "../base/key-state.ts";

export function KeyStateText({ of }: { of: Schemas["KeyRecords"]["data"][number] }) {
  const [now] = useState(gatewayNow);
  const { word, more } = keyStateOf(of, now);
  const tone = word === "active" ? "ok" : word === "disabled" ? "muted" : "bad";
  return (
    <span className={tone} title={more}>
      {word}
    </span>
  );
}

/** A button that copies a text, and says that it did. */
import { Button, VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import { putOnClipboard } from "./copy-text.ts";

type State = "ready" | "done" | "failed";
const words: Readonly<Record<State, string>> = {
  ready: "Copy",
  done: "Copied",
  failed: "Copy failed",
};
const shownMs = 2_000;

interface CopyProps {
  /** It may have to be fetched first. */
  readonly text: () => string | Promise<string>;
  readonly label: string;
  /** The button says what it copies: beside nothing that does. */
  readonly isNamed?: boolean;
}

export function Copy(props: CopyProps) {
  const [state, setState] = useState<State>("ready");
  const copy = async () => {
    try {
      await putOnClipboard(await props.text());
      setState("done");
    } catch {
      setState("failed");
    }
    setTimeout(() => setState("ready"), shownMs);
  };
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={() => void copy()}
        aria-label={state === "ready" ? `Copy ${props.label}` : words[state]}
      >
        {state === "ready" && props.isNamed === true ? `Copy ${props.label}` : words[state]}
      </Button>
      {/* Another name of a button that has the focus is not said by itself. */}
      <VisuallyHidden component="output">{state === "ready" ? "" : words[state]}</VisuallyHidden>
    </>
  );
}

/** A button that copies a text, and shows that it did. */
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
  /** A promise if the text must be fetched first. */
  readonly text: () => string | Promise<string>;
  readonly label: string;
  /** The button names what it copies, if no label beside it does. */
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
      {/* Screen readers do not announce a new name of the focused button. */}
      <VisuallyHidden component="output">{state === "ready" ? "" : words[state]}</VisuallyHidden>
    </>
  );
}

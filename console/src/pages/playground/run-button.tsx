/** Run and Stop, and why nothing can be sent yet. Ctrl Enter in a field also runs. */
import { Button, Group } from "@mantine/core";
import type { KeyboardEvent } from "react";

export interface Running {
  readonly running: boolean;
  /** Why nothing can be sent now; undefined if it can. */
  readonly obstacle: string | undefined;
  readonly run: () => void;
  readonly stop: () => void;
}

/** A key handler for the input fields. */
export const onCtrlEnter =
  ({ running, obstacle, run }: Running) =>
  (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!running && obstacle === undefined) run();
  };

export const RunButton = ({ running, obstacle, run, stop }: Running) => (
  <Group gap="sm">
    <output className="muted">{running ? "" : obstacle}</output>
    {running ? (
      <Button variant="default" onClick={stop}>
        Stop
      </Button>
    ) : (
      <Button onClick={run} disabled={obstacle !== undefined} title="Ctrl Enter">
        Run
      </Button>
    )}
  </Group>
);

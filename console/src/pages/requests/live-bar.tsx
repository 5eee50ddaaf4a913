/** Whether the log grows by itself, and how many new rows wait above it. */
import { Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { readCount } from "../../base/numbers.ts";
import classes from "./live-bar.module.css";
import type { Live } from "./live.ts";

/** It floats, so that nothing moves. */
export const LiveBar = ({ count, show }: Live) => (
  <div className={classes["bar"]} aria-live="polite">
    {count > 0 && (
      <Button size="xs" onClick={show}>
        {readCount(count)} new
      </Button>
    )}
  </div>
);

/** A period that has ended grows no more, and says so. */
export function LiveSwitch({ isLive, isPast }: { isLive: boolean; isPast: boolean }) {
  const navigate = useNavigate();
  const live = isLive ? undefined : "1";
  return (
    <Group gap="sm">
      {isPast && (
        <Text size="sm" className="muted">
          This period has ended.
        </Text>
      )}
      <Button
        variant={isLive ? "filled" : "default"}
        aria-pressed={isLive}
        disabled={isPast}
        onClick={() =>
          void navigate({ to: "/requests", search: (before) => ({ ...before, live }) })
        }
      >
        Live
      </Button>
    </Group>
  );
}

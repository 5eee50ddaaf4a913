/** Switches live updates of the log. */
import { Button, Group, Text } from "@mantine/core";

interface LiveSwitchProps {
  readonly isLive: boolean;
  /** Why live updates are not possible. */
  readonly disabledReason: string | undefined;
  readonly turn: () => void;
}

export const LiveSwitch = ({ isLive, disabledReason, turn }: LiveSwitchProps) => (
  <Group gap="sm">
    {disabledReason !== undefined && (
      <Text size="sm" className="muted">
        {disabledReason}
      </Text>
    )}
    <Button
      variant={isLive ? "filled" : "default"}
      aria-pressed={isLive}
      disabled={disabledReason !== undefined}
      onClick={turn}
    >
      Live
    </Button>
  </Group>
);

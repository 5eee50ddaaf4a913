/** Switches live updates of the log. */
import { Button, Group, Text } from "@mantine/core";

interface LiveSwitchProps {
  readonly isLive: boolean;
  /** Why live updates are not possible. */
  readonly still: string | undefined;
  readonly turn: () => void;
}

export const LiveSwitch = ({ isLive, still, turn }: LiveSwitchProps) => (
  <Group gap="sm">
    {still !== undefined && (
      <Text size="sm" className="muted">
        {still}
      </Text>
    )}
    <Button
      variant={isLive ? "filled" : "default"}
      aria-pressed={isLive}
      disabled={still !== undefined}
      onClick={turn}
    >
      Live
    </Button>
  </Group>
);

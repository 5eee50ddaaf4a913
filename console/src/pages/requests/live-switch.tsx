/** Whether the log grows by itself. */
import { Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";

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

/** Asks before the reader leaves a page with unsaved input. */
import { Button, Group, Modal, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";

interface Place {
  readonly pathname: string;
  readonly search: object;
}

/** The search parameters as text, without the time zone, in which a page only draws its times again. */
const searchOf = ({ search }: Place): string => JSON.stringify({ ...search, tz: undefined });

/** True if the form is gone there: another page, or another part of this one. */
const isElsewhere = (here: Place, there: Place): boolean =>
  here.pathname !== there.pathname || searchOf(here) !== searchOf(there);

/** Used inside a form. Closing the window asks nothing. */
export function LeaveGuard({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && isElsewhere(current, next),
    enableBeforeUnload: false,
    withResolver: true,
  });
  return (
    <Modal
      opened={status === "blocked"}
      onClose={() => reset?.()}
      title="Leave without saving?"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Text mb="lg">Your changes in this form are not saved. If you leave, they are lost.</Text>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" data-autofocus onClick={() => reset?.()}>
          Stay
        </Button>
        <Button color="var(--bad)" c="var(--on-bad)" onClick={() => proceed?.()}>
          Leave and discard
        </Button>
      </Group>
    </Modal>
  );
}

/** Notifications after a change: they close by themselves, with Undo for ten seconds if the change can be undone. */
import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { asApiError } from "../api/errors.ts";

const undoMs = 10_000;
const notificationMs = 4_000;
const closeButtonProps = { "aria-label": "Close" };

/** Shows that something is done. */
export function notify(text: string): void {
  notifications.show({ message: text, autoClose: notificationMs, closeButtonProps });
}

/** Shows that something failed; stays until it is closed. */
export function notifyError(text: string, error: unknown): void {
  const { message } = asApiError(error);
  const title = <span className="bad">{text}</span>;
  notifications.show({ title, message, autoClose: false, closeButtonProps });
}

/**
 * Shows a finished change, with Undo for ten seconds. `undo` sends the former values with the `If-Match` of the change's response. If
 * another user has changed the object since, nothing is undone, and the reader is told.
 */
export function offerUndo(success: string, undo: () => Promise<unknown>): void {
  const take = async () => {
    notifications.hide(id);
    try {
      await undo();
      notify("Undone.");
    } catch (error) {
      notifyError("Undo failed.", error);
    }
  };
  const message = (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{success}</Text>
      <Button size="xs" variant="default" onClick={() => void take()}>
        Undo
      </Button>
    </Group>
  );
  const id = notifications.show({ message, autoClose: undoMs, closeButtonProps });
}

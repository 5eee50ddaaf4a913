/** Notifications after a change: they close by themselves, with Undo for ten seconds if the change can be undone. */
import { Button, Group, Text, VisuallyHidden } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { asApiError } from "../api/errors.ts";
import { showNotice } from "./notices.ts";

const undoMs = 10_000;
const notificationMs = 4_000;

/** Shows that something is done. */
export function notify(text: string): void {
  showNotice({ message: text, autoClose: notificationMs });
}

/** Shows that something failed; stays until it is closed. */
export function notifyError(text: string, error: unknown): void {
  const { message } = asApiError(error);
  const title = <span className="bad">{text}</span>;
  showNotice({ title, message, autoClose: false });
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
      <Text size="sm">
        {success}
        <VisuallyHidden> F8 moves to Undo.</VisuallyHidden>
      </Text>
      <Button
        size="xs"
        variant="default"
        aria-keyshortcuts="F8"
        title="F8 moves here"
        onClick={() => void take()}
      >
        Undo
      </Button>
    </Group>
  );
  const id = showNotice({ message, autoClose: undoMs });
}

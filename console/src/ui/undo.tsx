/** What is said after a change: a line at the edge that goes by itself; with Undo for ten seconds where there is a way back. */
import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { asApiError } from "../api/errors.ts";

const undoMs = 10_000;
const saidMs = 4_000;
const closeButtonProps = { "aria-label": "Close" };

/** Says that something is done. */
export function say(text: string): void {
  notifications.show({ message: text, autoClose: saidMs, closeButtonProps });
}

/** Says that something could not be done; stays until it is closed. */
export function sayRefusal(text: string, error: unknown): void {
  const { message } = asApiError(error);
  const title = <span className="bad">{text}</span>;
  notifications.show({ title, message, autoClose: false, closeButtonProps });
}

/**
 * Says what was done, with a way back for ten seconds. `undo` sends the former values, with `If-Match` of what the change
 * answered: where somebody else changed it meanwhile nothing is taken back, and that is said.
 */
export function offerUndo(said: string, undo: () => Promise<unknown>): void {
  const take = async () => {
    notifications.hide(id);
    try {
      await undo();
      say("Undone.");
    } catch (error) {
      sayRefusal("It could not be undone.", error);
    }
  };
  const message = (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{said}</Text>
      <Button size="xs" variant="default" onClick={() => void take()}>
        Undo
      </Button>
    </Group>
  );
  const id = notifications.show({ message, autoClose: undoMs, closeButtonProps });
}

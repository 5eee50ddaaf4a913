/** Making something: a dialog with its form, and after it what is shown this once. */
import { Button, Modal, Stack } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import type { Change } from "./change.ts";
import { FormError } from "./form-error.tsx";

interface CreateFormProps {
  readonly change: Change<object>;
  /** The fields of the API that show their own refusals. */
  readonly shown: readonly string[];
  readonly action?: string;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

export function CreateForm(props: CreateFormProps) {
  const { change, shown, action = "Create", disabled = false, children } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run({});
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {children}
        <FormError error={change.beside(...shown)} />
        <Button type="submit" loading={change.isPending} disabled={disabled}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}

interface CreateDialogProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly title: string;
  readonly children: ReactNode;
}

export function CreateDialog(props: CreateDialogProps) {
  const { opened, close, title, children } = props;
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={title}
      // What was typed, or is shown this once, must not go by a slip.
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {children}
    </Modal>
  );
}

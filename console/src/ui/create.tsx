/** Creating an object: a dialog with its form, and then the result that is shown only once. */
import { Button, Modal, Stack } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import type { Change } from "./change.ts";
import { FormError } from "./form-error.tsx";

interface CreateFormProps {
  readonly change: Change<object>;
  /** The API fields that show their own refusals. */
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
      // A stray click must not discard typed text, or a secret that is shown once.
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {children}
    </Modal>
  );
}

/**
 * Dialogs before what cannot be undone: one that names the consequence, and one in which the object's name must be typed.
 * What was refused is said in the dialog, which stays.
 */
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { FormError } from "./form-error.tsx";

export interface Question {
  readonly title: string;
  /** What will happen. */
  readonly text: ReactNode;
  /** On the button: a verb and what it is done to. */
  readonly action: string;
  /** It is done; the dialog closes when it has succeeded. */
  readonly run: () => Promise<unknown>;
  /** This must be typed first. */
  readonly typed?: string;
  /** The button is red. */
  readonly danger?: boolean;
}

const lineBreaks = /\s+/g;
/** A name as it can be typed: what a page shows as one space is one. */
const typeable = (name: string): string => name.replaceAll(lineBreaks, " ").trim();

function Body({ question, close }: { question: Question; close: () => void }) {
  const { text, action, typed, danger = typed !== undefined } = question;
  const [written, setWritten] = useState("");
  const run = useMutation({ mutationFn: question.run, onSuccess: close });
  const isReady = typed === undefined || typeable(written) === typeable(typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // Forms of the page around a dialog hear what its own form sends.
    event.stopPropagation();
    if (isReady) run.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text component="div">{text}</Text>
        {typed !== undefined && (
          <TextInput
            label={`Type ${typeable(typed)} to confirm`}
            value={written}
            autoComplete="off"
            onChange={({ currentTarget }) => setWritten(currentTarget.value)}
          />
        )}
        <FormError error={run.error} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={run.isPending}
            disabled={!isReady}
            {...(danger && { color: "var(--bad)", c: "var(--on-bad)" })}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Asks. Cancel has the focus first. */
export function confirm(question: Question): void {
  const id = modals.open({
    title: question.title,
    children: <Body question={question} close={() => modals.close(id)} />,
  });
}

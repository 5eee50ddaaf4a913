/**
 * Confirmation dialogs before irreversible actions: one names the consequence, one also requires typing the object's name. A refusal is
 * shown in the dialog, which stays open; if the reader has closed it meanwhile, as a message.
 */
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { isolated } from "../base/isolated.ts";
import { FormError } from "./form-error.tsx";
import { notifyError } from "./undo.tsx";
import { useFocusBack } from "./use-focus-back.ts";

export interface Question {
  readonly title: string;
  /** The consequence. */
  readonly text: ReactNode;
  /** The button's label: a verb and its object. */
  readonly action: string;
  /** Does it; the dialog closes on success. */
  readonly run: () => Promise<unknown>;
  /** The text that must be typed first. */
  readonly typed?: string;
  /** Makes the button red. */
  readonly danger?: boolean;
}

/** A name with any white space as one space, as pages show it. */
const spaced = (name: string): string => name.replaceAll(/\s+/g, " ").trim();

/** A name as it can be typed: also without characters that cannot be seen, and with accents as keyboards send them. */
const typeable = (name: string): string => spaced(name.replaceAll(/\p{Cf}/gu, "").normalize());

function Body({ question, close }: { question: Question; close: () => void }) {
  const { text, action, typed, danger = typed !== undefined } = question;
  // The dialogs' own way takes Cancel for the opener if the dialog is opened by an answer instead of a press.
  useFocusBack();
  const [written, setWritten] = useState("");
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  const run = useMutation({
    mutationFn: question.run,
    onSuccess: close,
    onError(error) {
      if (!isShown.current) notifyError(`Not done: ${question.title}.`, error);
    },
  });
  const isReady = typed === undefined || typeable(written) === typeable(typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React also bubbles this event to forms of the page around the dialog.
    event.stopPropagation();
    if (isReady) run.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text component="div">{text}</Text>
        {typed !== undefined && (
          <TextInput
            label={`Type ${isolated(spaced(typed))} to confirm`}
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

/** Opens the dialog. Cancel has the initial focus. */
export function confirm(question: Question): void {
  const id = modals.open({
    title: question.title,
    children: <Body question={question} close={() => modals.close(id)} />,
  });
}

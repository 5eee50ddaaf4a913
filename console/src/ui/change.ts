/**
 * The one way to change something: `If-Match` of what was read, an `Idempotency-Key`, refusals by field, what to do where
 * somebody else was faster (412), what is read again afterwards, and Undo.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { asApiError, refusalBeside, refusalOf, type ApiError } from "../api/errors.ts";
import { ifMatch } from "../api/etag.ts";
import { refresh } from "../api/keys.ts";
import { randomId } from "../base/ids.ts";
import { openConflict } from "./conflict.tsx";
import { offerUndo, say, sayRefusal } from "./undo.tsx";

export interface Headers {
  /** Of the object that the change was decided on. */
  readonly ifMatch: { "If-Match"?: string };
  /** The same for the same input until it has succeeded, so that a second click does nothing twice. */
  readonly idempotency: { "Idempotency-Key": string };
}

export interface ChangeOptions<Input, Output, Base extends object> {
  readonly send: (input: Input, headers: Headers) => Promise<Output>;
  /** Paths to read again (`touched`). */
  readonly touches: readonly string[];
  /** The object that the input was decided on, as it was read; with `read`, a 412 shows both. */
  readonly base?: Base | undefined;
  readonly read?: () => Promise<Base>;
  /** Said when it is done. */
  readonly said?: string;
  /** Said, with the reason, when it is refused: for what has no place beside it that says so. */
  readonly refused?: string;
  /**
   * The way back, offered for ten seconds: sends the former values with `ifMatch(after)`. `before` is what the change took the
   * place of: `base`, or what somebody else had made of it.
   */
  readonly undo?: (after: Output, input: Input, before: Base) => Promise<unknown>;
  /** Whether the reader may go that way back; yes if absent. */
  readonly mayUndo?: (input: Input) => boolean;
  readonly done?: (after: Output, input: Input) => void;
  /** What was typed counts no more: it is saved, or the other's was taken. */
  readonly settled?: () => void;
}

export interface Change<Input> {
  readonly run: (input: Input) => void;
  /** The same, to be waited for. */
  readonly runNow: (input: Input) => Promise<unknown>;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** The refusal of a field, by its name in the API. */
  readonly at: (name: string) => string | undefined;
  /** The refusal that is about none of these fields. */
  readonly beside: (...names: readonly string[]) => ApiError | null;
  readonly reset: () => void;
}

/** A key for each input, until it was taken. */
function useIdempotency(): { of: (input: unknown) => Headers["idempotency"]; taken: () => void } {
  const kept = useRef<{ readonly text: string; readonly id: string }>(undefined);
  return {
    of(input) {
      const text = JSON.stringify(input) ?? "";
      if (kept.current?.text !== text) kept.current = { text, id: randomId() };
      return { "Idempotency-Key": kept.current.id };
    },
    taken: () => void (kept.current = undefined),
  };
}

/** A change that is sent when `run` is called. */
export function useChange<Input, Output, Base extends object>(
  options: ChangeOptions<Input, Output, Base>,
): Change<Input> {
  const { send, touches, base, read, said, refused, undo, mayUndo, done, settled } = options;
  const queries = useQueryClient();
  const idempotency = useIdempotency();
  const again = () => refresh(queries, touches);
  const forget = async () => {
    mutation.reset();
    await again();
    settled?.();
  };
  const mutation = useMutation({
    mutationFn: ({ input, over }: { input: Input; over?: Base }) =>
      send(input, { ifMatch: ifMatch(over ?? base), idempotency: idempotency.of(input) }),
    async onSuccess(after, { input, over }) {
      idempotency.taken();
      await again();
      settled?.();
      if (undo !== undefined && mayUndo?.(input) !== false) {
        offerUndo(said ?? "Done.", async () => {
          try {
            await undo(after, input, (over ?? base)!);
          } finally {
            await again();
          }
        });
      } else if (said !== undefined) say(said);
      done?.(after, input);
    },
    async onError(error, { input }) {
      if (refused !== undefined) {
        sayRefusal(refused, error);
        // What it was decided on may be what was wrong.
        await again();
      }
      if (asApiError(error).status !== 412 || base === undefined || read === undefined) return;
      const theirs = await read();
      openConflict({
        before: base,
        theirs,
        mine: input as object,
        save: () => mutation.mutate({ input, over: theirs }),
        take: () => void forget(),
      });
    },
  });
  return {
    run: (input) => mutation.mutate({ input }),
    runNow: (input) => mutation.mutateAsync({ input }),
    isPending: mutation.isPending,
    error: mutation.error,
    at: (name) => refusalOf(mutation.error, name),
    beside: (...names) => refusalBeside(mutation.error, names),
    reset: mutation.reset,
  };
}

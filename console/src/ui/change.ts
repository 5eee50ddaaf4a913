/**
 * The only way to change an object: sends `If-Match`, assigns refusals to fields, handles conflicts (412), reads again afterwards, and
 * offers Undo.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asApiError, errorOutsideFields, errorOfField, type ApiError } from "../api/errors.ts";
import { ifMatch } from "../api/etag.ts";
import { refetchPaths } from "../api/invalidation.ts";
import { openConflict } from "./conflict.tsx";
import { offerUndo, notify, notifyError } from "./undo.tsx";

export interface Headers {
  /** From the object on which the change is based. */
  readonly ifMatch: { "If-Match"?: string };
}

export interface ChangeOptions<Input, Output, Base extends object> {
  readonly send: (input: Input, headers: Headers) => Promise<Output>;
  /** Paths to read again (`invalidatedPaths`). */
  readonly invalidates: readonly string[];
  /** The object, as read, on which the input is based. With `read`, a 412 shows both versions. */
  readonly base?: Base | undefined;
  readonly read?: () => Promise<Base>;
  /** Shown on success. */
  readonly success?: string;
  /** Shown with the reason on refusal, if no field shows it. */
  readonly failure?: string;
  /**
   * Undoes the change, offered for ten seconds: sends the former values with `ifMatch(after)`. `before` is the replaced state: `base`,
   * or another user's version of it.
   */
  readonly undo?: (after: Output, input: Input, before: Base) => Promise<unknown>;
  /** Whether the reader may undo the change; yes if absent. */
  readonly mayUndo?: (input: Input) => boolean;
  readonly done?: (after: Output, input: Input) => void;
  /** The draft is saved: called as it was when the change was sent, because the reader may have gone on typing. */
  readonly settled?: (after: Output) => void;
  /** The draft is no longer needed: the other version was taken. */
  readonly dropped?: () => void;
}

export interface Change<Input> {
  readonly run: (input: Input) => void;
  /** The same, as a promise. */
  readonly runNow: (input: Input) => Promise<unknown>;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** The refusal of a field, by its API name. */
  readonly at: (name: string) => string | undefined;
  /** The refusal, if it concerns none of these fields. */
  readonly beside: (...names: readonly string[]) => ApiError | null;
  readonly reset: () => void;
}

/** A change as it was sent. */
interface Sent<Input, Output, Base> {
  readonly input: Input;
  /** Another user's version, which it replaces. */
  readonly over?: Base;
  readonly settle: ((after: Output) => void) | undefined;
}

/** Returns a change that is sent when `run` is called. */
export function useChange<Input, Output, Base extends object>(
  options: ChangeOptions<Input, Output, Base>,
): Change<Input> {
  const { send, invalidates, base, read, success, failure, undo, mayUndo, done } = options;
  const { settled, dropped } = options;
  const queries = useQueryClient();
  const again = () => refetchPaths(queries, invalidates);
  const forget = async () => {
    mutation.reset();
    await again();
    dropped?.();
  };
  const mutation = useMutation({
    mutationFn: ({ input, over }: Sent<Input, Output, Base>) =>
      send(input, { ifMatch: ifMatch(over ?? base) }),
    async onSuccess(after, { input, over, settle }) {
      await again();
      settle?.(after);
      if (undo !== undefined && mayUndo?.(input) !== false) {
        offerUndo(success ?? "Done.", async () => {
          try {
            await undo(after, input, (over ?? base)!);
          } finally {
            await again();
          }
        });
      } else if (success !== undefined) notify(success);
      done?.(after, input);
    },
    async onError(error, { input, settle }) {
      const { status } = asApiError(error);
      if (failure !== undefined) notifyError(failure, error);
      // The refusal may come from stale data: the object is gone, or in another state.
      if (failure !== undefined || status === 404 || status === 409) await again();
      if (status !== 412 || base === undefined || read === undefined) return;
      const theirs = await read();
      openConflict({
        before: base,
        theirs,
        mine: input as object,
        save: () => mutation.mutate({ input, over: theirs, settle }),
        take: () => void forget(),
      });
    },
  });
  return {
    run: (input) => mutation.mutate({ input, settle: settled }),
    runNow: (input) => mutation.mutateAsync({ input, settle: settled }),
    isPending: mutation.isPending,
    error: mutation.error,
    at: (name) => errorOfField(mutation.error, name),
    beside: (...names) => errorOutsideFields(mutation.error, names),
    reset: mutation.reset,
  };
}

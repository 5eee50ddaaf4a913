/** The end of a form: refusals, Save and Discard. It keeps its place while nothing is changed. */
import { Button, Group, Text } from "@mantine/core";
import type { Change } from "./change.ts";
import { FormError } from "./form-error.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface SaveBarProps {
  readonly draft: { readonly isChanged: boolean; readonly discard: () => void };
  readonly change: Pick<Change<object>, "isPending" | "beside">;
  /** The API fields that show their own refusals. */
  readonly shown: readonly string[];
}

/** Used inside a `<form>`, whose `onSubmit` saves. */
export function SaveBar({ draft, change, shown }: SaveBarProps) {
  const { isChanged, discard } = draft;
  const { isPending } = change;
  return (
    <div>
      <FormError error={change.beside(...shown)} />
      <LeaveGuard isChanged={isChanged} />
      <Group gap="sm" mt="xs">
        <Button type="submit" loading={isPending} disabled={!isChanged}>
          Save
        </Button>
        <Button variant="default" disabled={!isChanged || isPending} onClick={discard}>
          Discard
        </Button>
        {isChanged && <Text className="muted">Unsaved changes</Text>}
      </Group>
    </div>
  );
}

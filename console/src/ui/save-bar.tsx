/** The end of a form: what was refused, Save and Discard. Its place is kept while nothing is changed. */
import { Button, Group, Text } from "@mantine/core";
import { FormError } from "./form-error.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface SaveBarProps {
  readonly isChanged: boolean;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly discard: () => void;
}

/** Within a `<form>`, whose `onSubmit` saves. */
export function SaveBar({ isChanged, isPending, error, discard }: SaveBarProps) {
  return (
    <div>
      <FormError error={error} />
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

/** Clears all filters of a list. Shown if a filter is set, or typed but not sent yet. */
import { Button } from "@mantine/core";
import { useEffect, useState, type RefObject } from "react";

interface ClearFiltersProps {
  readonly isSet: boolean;
  readonly clear: () => void;
  /** The form of filters that are typed and sent together. */
  readonly form?: RefObject<HTMLFormElement | null>;
}

export function ClearFilters({ isSet, clear, form }: ClearFiltersProps) {
  const [isWritten, setIsWritten] = useState(false);
  useEffect(() => {
    const fields = form?.current;
    if (!fields) return undefined;
    const look = () => setIsWritten([...new FormData(fields).values()].some((text) => text !== ""));
    fields.addEventListener("input", look);
    return () => fields.removeEventListener("input", look);
  }, [form]);
  if (!isSet && !isWritten) return null;
  return (
    <Button
      variant="subtle"
      onClick={() => {
        form?.current?.reset();
        setIsWritten(false);
        clear();
      }}
    >
      Clear
    </Button>
  );
}

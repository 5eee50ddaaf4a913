/** Buttons that open the panels beside a call, one at a time. */
import { Button } from "@mantine/core";
import { useState } from "react";

export function useParts<Part extends string>() {
  const [open, setOpen] = useState<Part>();
  const toggle = (part: Part, label: string) => (
    <Button
      variant={open === part ? "light" : "default"}
      aria-expanded={open === part}
      onClick={() => setOpen(open === part ? undefined : part)}
    >
      {label}
    </Button>
  );
  return { open, toggle };
}

/** The filters of a list: above it, or behind a button on phones, so that the list stays visible. */
import { Button, Drawer } from "@mantine/core";
import { useRef, useState, type ReactNode } from "react";
import { useNarrow } from "./narrow.ts";

interface FiltersProps {
  /** The number of active filters. */
  readonly count: number;
  readonly children: ReactNode;
}

export function Filters({ count, children }: FiltersProps) {
  const isNarrow = useNarrow();
  const [isOpen, setIsOpen] = useState(false);
  const fields = useRef<HTMLDivElement>(null);
  // Submits typed text, which would be lost when the drawer closes.
  const show = () => {
    const form = fields.current?.querySelector("form");
    if (form?.reportValidity() === false) return;
    form?.requestSubmit();
    setIsOpen(false);
  };
  if (!isNarrow) return children;
  return (
    <>
      <Button variant="default" mb="lg" fullWidth onClick={() => setIsOpen(true)}>
        {count === 0 ? "Filters" : `Filters: ${count} set`}
      </Button>
      <Drawer
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        position="bottom"
        size="85%"
        title="Filters"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <div ref={fields}>{children}</div>
        <Button fullWidth onClick={show}>
          Show the list
        </Button>
      </Drawer>
    </>
  );
}

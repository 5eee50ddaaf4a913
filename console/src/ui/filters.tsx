/** The filters of a list: above it, or on a phone behind a button, so that the list is what one sees. */
import { Button, Drawer } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { useNarrow } from "./narrow.ts";

interface FiltersProps {
  /** How many are set. */
  readonly count: number;
  readonly children: ReactNode;
}

export function Filters({ count, children }: FiltersProps) {
  const isNarrow = useNarrow();
  const [isOpen, setIsOpen] = useState(false);
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
        {children}
        <Button fullWidth onClick={() => setIsOpen(false)}>
          Show the list
        </Button>
      </Drawer>
    </>
  );
}
